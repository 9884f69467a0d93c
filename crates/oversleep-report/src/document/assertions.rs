//! Assertions with their verdicts, as documents; and what only they are written as: JUnit's XML, and the annotations of
//! GitHub's workflows.

use std::io::{self, Write};

use oversleep_record::assertion::{Assertions, Judged, Verdict};
use oversleep_record::words::counted;

use super::{Entry, Layout, Subject};
use crate::terminal::{self, Detail, is_obeyed};
use crate::view::comparison::View;
use crate::view::sheet::{Sheet, optional, word};
use crate::view::table::{Cell, Columns, Section, ToCell, Tone};

impl Subject for Assertions {
    fn text(&self, layout: &Layout) -> String {
        terminal::comparison(&self.view(layout.detail), layout.width)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }

    fn assertions(&self) -> Option<&Assertions> {
        Some(self)
    }

    fn sheet(&self) -> Sheet<'_> {
        let end = |judged: &&Judged, at: usize| optional(judged.interval.map(|interval| interval[at]));
        let rows = self.assertions.iter().map(move |judged| {
            vec![
                judged.assertion.clone(),
                optional(judged.place.as_ref()),
                judged.about.clone(),
                judged.verdict.to_string(),
                optional(judged.figure),
                end(&judged, 0),
                end(&judged, 1),
                optional(judged.limit),
                judged.unit.as_ref().map_or_else(String::new, word),
                judged.message.clone(),
            ]
        });
        let heads = vec!["assertion", "place", "about", "verdict", "figure", "low", "high", "limit", "unit", "message"];
        Sheet { heads: heads.into_iter().map(Into::into).collect(), rows: Box::new(rows) }
    }

    fn view(&self, _: Detail) -> View {
        let tone = |verdict: Verdict| match verdict {
            Verdict::Pass => Tone::Good,
            Verdict::Undecided => Tone::Soft,
            Verdict::Fail => Tone::Warn,
        };
        let columns = Columns::new()
            .words("verdict", move |judged: &&Judged| -> Cell {
                judged.verdict.word().to_owned().toned(tone(judged.verdict))
            })
            .words("assertion", |judged| judged.assertion.clone())
            .words("about", |judged| judged.about.clone());
        View {
            title: format!("oversleep assert: {}", self.verdict),
            results: vec![(String::new(), tally(self))],
            sections: vec![
                Section::new("assertions", "Assertions").tables(columns.table("Assertions", &self.assertions)),
            ],
            summary: summary(&self.assertions),
            ..View::default()
        }
    }
}

/// So many verdicts that lack the same have a sentence each; more have one.
const LACKING_MAX: usize = 3;

/// What the figure of an assertion lacks, so that it can't be judged: the first clause of what is said.
fn lacks(judged: &Judged) -> Option<&str> {
    let is_open = judged.verdict == Verdict::Undecided && judged.figure.is_none();
    is_open.then(|| judged.message.split("; ").next()).flatten()
}

/// A sentence for each verdict; one for all that lack the same, where these are many.
fn summary(all: &[Judged]) -> Vec<String> {
    let of = |judged: &Judged| (judged.assertion.clone(), judged.place.clone());
    let mut sentences = Vec::new();
    for (at, judged) in all.iter().enumerate() {
        let place = judged.place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
        let about = all.iter().filter(|other| of(other) == of(judged));
        let is_alike =
            |other: &&Judged| lacks(other).is_some() && lacks(other) == lacks(judged) && of(other) == of(judged);
        let alike: Vec<&str> = all.iter().filter(is_alike).map(|other| other.about.as_str()).collect();
        match lacks(judged).filter(|_| alike.len() > LACKING_MAX) {
            Some(_) if all[..at].iter().any(|other| is_alike(&other)) => {}
            Some(what) => sentences.push(format!(
                "{place}{}: undecided for {} of {}: {what} ({} and {} more, below)",
                judged.assertion,
                alike.len(),
                about.count(),
                alike[..2].join(", "),
                alike.len() - 2
            )),
            None => sentences.push(format!(
                "{place}{} ({}): {}: {}",
                judged.assertion, judged.about, judged.verdict, judged.message
            )),
        }
    }
    sentences
}

/// `3 pass, 1 fails`.
fn tally(all: &Assertions) -> String {
    if all.assertions.is_empty() {
        return "nothing was judged".to_owned();
    }
    let of = |verdict: Verdict| (all.count(verdict) > 0).then(|| format!("{} {verdict}", all.count(verdict)));
    let parts: Vec<String> = [Verdict::Pass, Verdict::Fail, Verdict::Undecided].into_iter().filter_map(of).collect();
    format!("{}: {}", counted(all.assertions.len() as u64, "assertion"), parts.join(", "))
}

fn of(subject: &dyn Subject) -> io::Result<&Assertions> {
    let missing =
        || io::Error::new(io::ErrorKind::InvalidInput, "only assertions have verdicts to write in that format");
    subject.assertions().ok_or_else(missing)
}

/// JUnit's XML, which GitLab, Jenkins and Azure read: an undecided assertion is skipped.
/// <https://llg.cubic.org/docs/junit/>
pub const JUNIT: Entry = Entry {
    name: "junit",
    extension: "xml",
    media_type: "application/xml",
    option: Some("Write the verdicts as JUnit's XML, which GitLab, Jenkins and Azure show"),
    is_for_pipes: false,
    write: |subject, _, out| {
        let all = of(subject)?;
        let (tests, failures, skipped) =
            (all.assertions.len(), all.count(Verdict::Fail), all.count(Verdict::Undecided));
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            out,
            "<testsuite name=\"oversleep\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"0\">"
        )?;
        for judged in &all.assertions {
            let place = judged.place.as_ref().map_or_else(|| "oversleep".to_owned(), |place| place.file.clone());
            let name = format!("{} ({})", judged.assertion, judged.about);
            write!(out, "  <testcase classname=\"{}\" name=\"{}\" time=\"0\"", xml(&place), xml(&name))?;
            let message = xml(&judged.message);
            match judged.verdict {
                Verdict::Pass => writeln!(out, "/>")?,
                Verdict::Fail => {
                    writeln!(out, ">\n    <failure message=\"{message}\" type=\"assertion\"/>\n  </testcase>")?;
                }
                Verdict::Undecided => {
                    writeln!(out, ">\n    <skipped message=\"undecided: {message}\"/>\n  </testcase>")?;
                }
            }
        }
        writeln!(out, "</testsuite>")
    },
};

/// Annotations of GitHub's workflows: an error for each that fails, a warning for each that is undecided.
/// <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>
pub const GITHUB: Entry = Entry {
    name: "github",
    extension: "txt",
    media_type: "text/plain",
    option: None,
    is_for_pipes: true,
    write: |subject, _, out| {
        let all = of(subject)?;
        for judged in &all.assertions {
            let kind = match judged.verdict {
                Verdict::Pass => continue,
                Verdict::Fail => "error",
                Verdict::Undecided => "warning",
            };
            let place = judged
                .place
                .as_ref()
                .map_or_else(String::new, |place| format!("file={},line={},", property(&place.file), place.line));
            let title = property(&format!("{} {}", judged.assertion, judged.verdict));
            let message = data(&format!("{}: {}", judged.about, judged.message));
            writeln!(out, "::{kind} {place}title={title}::{message}")?;
        }
        writeln!(out, "{}", data(&tally(all)))
    },
};

/// Text in an attribute; XML 1.0 has no control characters.
fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter if is_obeyed(letter) || matches!(letter, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

/// The text of a workflow command: no line of it begins another command.
fn data(text: &str) -> String {
    let text: String = text.chars().map(|c| if is_obeyed(c) && c != '\n' { '\u{fffd}' } else { c }).collect();
    text.replace('%', "%25").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use oversleep_record::assertion::Place;

    use super::*;

    fn judged(verdict: Verdict) -> Judged {
        Judged {
            assertion: "sleep(1ms).p50 < 1ms".to_owned(),
            place: Some(Place { file: "a,b:c.assert".to_owned(), line: 3 }),
            about: "B5/<x>&\"y\"".to_owned(),
            verdict,
            figure: Some(1.0),
            interval: None,
            limit: None,
            unit: None,
            message: "50 %\n::error::no\u{1b}[2J".to_owned(),
        }
    }

    fn written(format: &Entry) -> String {
        let all = Assertions::of([Verdict::Pass, Verdict::Fail, Verdict::Undecided].map(judged).into());
        String::from_utf8(super::super::bytes(&all, format, &Layout::default())).expect("text")
    }

    #[test]
    fn junit_has_a_case_for_each_assertion() {
        let text = written(&JUNIT);
        assert!(text.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{text}");
        assert!(text.contains("name=\"sleep(1ms).p50 &lt; 1ms (B5/&lt;x&gt;&amp;&quot;y&quot;)\""), "{text}");
        assert!(text.matches("<testcase").count() == 3 && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn what_many_lack_is_said_once() {
        let lacking = |about: &str, what: &str| Judged {
            about: about.to_owned(),
            figure: None,
            message: what.to_owned(),
            place: None,
            ..judged(Verdict::Undecided)
        };
        let few = |count: u64| format!("it takes about 530 values for that percentile; it has {count}");
        let of = |count: u64| (0..count).map(|n| lacking(&format!("app {n}"), &few(n))).collect::<Vec<_>>();
        let said = |mut all: Vec<Judged>| {
            all.push(Judged {
                place: None,
                about: "other".to_owned(),
                message: "5 ms".to_owned(),
                ..judged(Verdict::Fail)
            });
            summary(&all)
        };
        assert_eq!(
            said(of(130)),
            [
                "sleep(1ms).p50 < 1ms: undecided for 130 of 131: it takes about 530 values for that percentile (app 0, app 1 \
                 and 128 more, below)",
                "sleep(1ms).p50 < 1ms (other): fail: 5 ms"
            ]
        );
        assert_eq!(said(of(3)).len(), 4);
        assert_eq!(said(of(3))[0], format!("sleep(1ms).p50 < 1ms (app 0): undecided: {}", few(0)));
    }

    #[test]
    fn annotations_name_the_line_and_no_text_is_a_command() {
        let text = written(&GITHUB);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(
            lines[0],
            "::error file=a%2Cb%3Ac.assert,line=3,title=sleep(1ms).p50 < 1ms fail::B5/<x>&\"y\": 50 %25%0A::error::no\u{fffd}[2J"
        );
        assert!(lines[1].starts_with("::warning file=") && lines[2].starts_with("3 assertions"), "{text}");
    }
}
