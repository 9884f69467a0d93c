//! Findings as cards: severity, sentence, the remedy's gain, and the evidence on request.

use oversleep_explain::verdict::{Cause, causes};
use oversleep_record::finding::{Advice, Finding, Severity, Tried, Verdict};
use oversleep_record::{Nanos, ResultFile};

use super::markup::Markup;
use crate::view::comparison::Found;
use crate::view::findings::{self, Findings, SEVERITIES, UNCLEAR};
use crate::view::overview::{Headline, Line};
use crate::view::{headlines, verdict};
use crate::words::{capitalised, counted, sentence, units_bound};

/// The longest list within a sentence.
const LISTED_OPEN: usize = 4;

/// The longest list of the waits that a cause delayed that isn't collapsed.
const GROUPS_OPEN: usize = 4;

/// The section the page begins with.
pub(super) fn section(m: &mut Markup, file: &ResultFile) {
    let findings = Findings::of(file);
    let title = if file.observation.is_some() { "Causes" } else { "Findings" };
    m.element("section", &[("id", "findings"), ("aria-labelledby", "findings-heading")], |m| {
        m.leaf("h2", &[("id", "findings-heading")], title);
        let lines = headlines::lines(file, &findings);
        if !lines.is_empty() {
            bottom_line(m, &lines);
        }
        m.leaf("p", &[], &findings.summary());
        let mut shown = Shown { causes: causes(file), ..Shown::default() };
        for severity in SEVERITIES {
            if findings.found(severity).next().is_none() {
                continue;
            }
            m.leaf("h3", &[], &findings::title(severity));
            m.element("div", &[("class", "cards")], |m| {
                findings.found(severity).for_each(|finding| card(m, file, finding, &mut shown));
            });
        }
        if findings.are_untried() {
            m.element("p", &[("class", "quiet")], |m| m.prose(findings::UNTRIED));
        }
        rest(m, file, &findings);
    });
}

/// The figures that matter, each with what it is of, and the words that have none.
fn bottom_line(m: &mut Markup, lines: &[Line]) {
    let all = lines.iter().flat_map(|line| match line {
        Line::Basics(all) => all.iter().map(|one| (one, "")).collect(),
        Line::Cost(one, _) => vec![(one, "cost")],
        Line::Words(_) => Vec::new(),
    });
    boxes(m, all);
    for line in lines {
        if let Line::Words(words) = line {
            m.leaf("p", &[("class", "lead")], words);
        }
    }
}

/// Figures, each with what it is of, in a box of that class.
pub(super) fn boxes<'a>(m: &mut Markup, all: impl Iterator<Item = (&'a Headline, &'a str)>) {
    m.element("ul", &[("class", "headlines")], |m| {
        for (Headline { what, figure, of }, class) in all {
            m.element("li", &[("class", class)], |m| {
                m.leaf("span", &[], &capitalised(what));
                m.text(" ");
                m.leaf("strong", &[], &units_bound(figure));
                m.text(" ");
                m.element("span", &[], |m| m.prose(of));
            });
        }
    });
}

/// What was found in a fleet.
pub(super) fn of_fleet(m: &mut Markup, found: &[Found]) {
    if found.is_empty() {
        return;
    }
    m.element("div", &[("class", "cards")], |m| {
        for Found { id, name, sentence, next_step } in found {
            m.element("article", &[("class", "card cost")], |m| {
                m.element("h3", &[], |m| {
                    m.text(&title(name));
                    m.text(" ");
                    m.leaf("span", &[("class", "id")], id);
                });
                m.element("p", &[], |m| m.prose(sentence));
                m.element("div", &[("class", "remedy")], |m| m.element("p", &[], |m| m.prose(next_step)));
            });
        }
    });
}

/// `timer-slack` as a heading: `Timer slack`.
fn title(name: &str) -> String {
    capitalised(&findings::in_prose(name))
}

fn card<'a>(m: &mut Markup, file: &ResultFile, finding: &'a Finding, shown: &mut Shown<'a>) {
    let severity = finding.severity.noun();
    // An entry may have several instances.
    let id = match (finding.instance.is_some(), shown.cards) {
        (true, card) => format!("finding-{}-{card}", finding.id.to_lowercase()),
        (false, _) => format!("finding-{}", finding.id.to_lowercase()),
    };
    shown.cards += 1;
    let title_id = format!("{id}-title");
    let class = format!("card {severity}");
    m.element("article", &[("class", &class), ("id", &id), ("aria-labelledby", &title_id)], |m| {
        m.element("h4", &[("id", &title_id)], |m| {
            m.leaf("span", &[("class", "badge")], severity);
            let instance = finding.instance.as_ref().map(|instance| format!(": {instance}")).unwrap_or_default();
            m.text(&format!("{}{instance}", title(&finding.name)));
            m.text(" ");
            m.leaf("span", &[("class", "id")], &finding.id);
        });
        words(m, finding);
        delays(m, file, finding, &shown.causes);
        let (above, fresh): (Vec<&Advice>, Vec<&Advice>) =
            finding.advice.iter().partition(|advice| shown.advice.contains(&wording(advice)));
        let is_new = |advice: &&&Advice| !shown.advice.iter().any(|(remedy, _)| *remedy == advice.remedy);
        let places: Vec<&str> = fresh.iter().filter(is_new).map(|advice| advice.remedy.as_str()).collect();
        shown.advice.extend(fresh.iter().map(|advice| wording(advice)));
        // A note helps to choose a call, so its remedies are collapsed; so are those of a cost beside one that helped here.
        let is_open = |advice: &&Advice| finding.severity != Severity::Note && findings::helped(advice);
        let (mut open, mut rest): (Vec<&Advice>, Vec<&Advice>) = fresh.into_iter().partition(is_open);
        if open.is_empty() && finding.severity != Severity::Note {
            std::mem::swap(&mut open, &mut rest);
        }
        let summary = match open.is_empty() {
            true => "What to do".to_owned(),
            false => format!("Other remedies: {}", rest.len()),
        };
        open.iter().for_each(|advice| remedy(m, advice, &places));
        if !rest.is_empty() {
            m.element("details", &[("class", "others")], |m| {
                m.leaf("summary", &[], &summary);
                rest.iter().for_each(|advice| remedy(m, advice, &places));
            });
        }
        if !above.is_empty() {
            m.element("p", &[("class", "quiet")], |m| {
                m.text(if rest.is_empty() { "What to do: see " } else { "See also " });
                for (index, advice) in above.iter().enumerate() {
                    m.text(if index > 0 { ", " } else { "" });
                    m.leaf(
                        "a",
                        &[("href", &format!("#remedy-{}", advice.remedy))],
                        &findings::in_prose(&advice.remedy),
                    );
                }
                m.text(" above.");
            });
        }
        m.element("details", &[], |m| {
            m.leaf("summary", &[], "How oversleep knows");
            m.leaf("p", &[("class", "quiet")], &sentence(&finding.summary));
            if !finding.evidence.is_empty() {
                m.element("ul", &[("class", "evidence")], |m| {
                    for evidence in &finding.evidence {
                        m.element("li", &[], |m| {
                            m.leaf("code", &[], &evidence.source);
                            m.text(&format!(": {}", evidence.text));
                        });
                    }
                });
            }
        });
    });
}

/// What was found. What it holds for besides its example is a list of its own, which is collapsed.
fn words(m: &mut Markup, finding: &Finding) {
    if finding.more.len() <= LISTED_OPEN {
        return m.leaf("p", &[], &findings::in_words(finding));
    }
    m.leaf("p", &[], &findings::example_in_words(finding));
    m.element("details", &[], |m| {
        m.leaf("summary", &[], &format!("{} more like it", finding.more_count()));
        m.element("ul", &[("class", "evidence")], |m| {
            finding.more.iter().for_each(|more| m.element("li", &[], |m| m.with_names(&more.to_string())));
        });
    });
}

/// How much of the lateness of an observed program it explains, and which waits it delayed.
fn delays(m: &mut Markup, file: &ResultFile, finding: &Finding, causes: &[Cause]) {
    let Some(cause) = causes.iter().find(|cause| cause.finding == *finding) else { return };
    if let Some(share) = verdict::share(file, cause) {
        m.leaf("p", &[("class", "quiet")], &format!("It explains {share}."));
    }
    // The sentence names the waits that it delayed most.
    if cause.delayed.len() < 2 {
        return;
    }
    let groups = verdict::delays(file, cause);
    m.element("details", &[("open", "")][..usize::from(groups.len() <= GROUPS_OPEN)], |m| {
        m.leaf("summary", &[], &format!("It delayed {} of waits", counted(cause.delayed.len(), "kind")));
        m.element("ul", &[("class", "evidence")], |m| groups.iter().for_each(|group| m.leaf("li", &[], group)));
    });
}

/// What the page shows already.
#[derive(Default)]
struct Shown<'a> {
    /// Those of an observed program.
    causes: Vec<Cause>,
    cards: usize,
    advice: Vec<(&'a str, &'a str)>,
}

/// A remedy in the words of an instance.
fn wording(advice: &Advice) -> (&str, &str) {
    (&advice.remedy, &advice.sentence)
}

/// A remedy; links lead to the first of each.
fn remedy(m: &mut Markup, advice: &Advice, places: &[&str]) {
    let id = format!("remedy-{}", advice.remedy);
    let attributes = [("class", "remedy"), ("id", id.as_str())];
    let is_place = places.contains(&advice.remedy.as_str());
    m.element("div", &attributes[..1 + usize::from(is_place)], |m| {
        m.element("p", &[], |m| m.prose(&sentence(&advice.sentence)));
        if let Tried::Measured { subject, before_p50_ns, after_p50_ns, .. } = &advice.tried {
            gain(m, subject, *before_p50_ns, *after_p50_ns);
        }
        let class = match advice.tried {
            Tried::Measured { helped: true, .. } => "tried helped",
            _ => "tried",
        };
        if !findings::is_unasked(&advice.tried) {
            m.element("p", &[("class", class)], |m| m.prose(&sentence(&findings::outcome(&advice.tried))));
        }
        if let Some(example) = &advice.example {
            m.element("details", &[], |m| {
                m.leaf("summary", &[], &format!("Code for {}", advice.remedy));
                m.element("pre", &[("tabindex", "0")], |m| m.leaf("code", &[], example));
            });
        }
    });
}

/// Two bars, before and after. Early medians (below zero) have none.
fn gain(m: &mut Markup, subject: &str, before: i64, after: i64) {
    let longest = before.max(after).max(1) as f64;
    let label = format!("Median lateness of {subject}: {} before, {} after", Nanos(before), Nanos(after));
    m.element("div", &[("class", "gain"), ("role", "img"), ("aria-label", &label)], |m| {
        for (name, value, class) in [("before", before, "bar"), ("after", after, "bar after")] {
            let width = format!("width:{:.1}%", value.max(0) as f64 / longest * 100.0);
            m.leaf("span", &[], name);
            m.element("span", &[("class", "track")], |m| m.leaf("span", &[("class", class), ("style", &width)], ""));
            m.leaf("span", &[], &Nanos(value).to_string());
        }
    });
}

fn rest(m: &mut Markup, file: &ResultFile, findings: &Findings) {
    let lists: [(Vec<&Finding>, &str, bool); 5] = [
        (findings.unclear().collect(), UNCLEAR, true),
        (findings.disturbed().collect(), "Inconclusive, because the rounds disagree", true),
        (findings.too_few().collect(), findings::inconclusive(file), false),
        (findings.unmeasured().collect(), "Not measured", false),
        (findings.with(Verdict::NotFound).collect(), "Checked, not found", false),
    ];
    for (all, title, is_open) in lists {
        if all.is_empty() {
            continue;
        }
        let open: &[(&str, &str)] = if is_open { &[("open", "")] } else { &[] };
        m.element("details", open, |m| {
            m.leaf("summary", &[], &format!("{title}: {}", all.len()));
            m.element("ul", &[("class", "evidence")], |m| {
                for finding in all {
                    m.element("li", &[], |m| {
                        m.leaf("span", &[("class", "id")], &finding.id);
                        m.text(&format!(" {}: {}.", finding.name, finding.sentence.trim_end_matches('.')));
                    });
                }
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::More;
    use oversleep_record::testing::Sheet;

    use super::*;

    #[test]
    fn names_read_as_titles() {
        for (name, reads) in [
            ("early-wake-ups", "Early wake-ups"),
            ("real-time-not-permitted", "Real-time not permitted"),
            ("cpu-time-clock", "CPU-time clock"),
            ("timer-slack", "Timer slack"),
            ("unreliable-tsc", "Unreliable TSC"),
        ] {
            assert_eq!(title(name), reads);
        }
        assert_eq!(findings::in_prose("dedicated-cpus"), "dedicated CPUs", "within a sentence letters keep their case");
    }

    #[test]
    fn a_long_list_of_a_finding_is_collapsed() {
        let written = |more: &[(&str, &[&str])]| {
            let more = more.iter().map(|(runtime, waits)| More {
                runtime: (*runtime).to_owned(),
                waits: waits.iter().map(|&wait| wait.to_owned()).collect(),
            });
            let mut finding = Findings::of(&Sheet::linux().file).with(Verdict::NotEnoughData).next().cloned();
            let finding = finding.as_mut().expect("nothing was measured");
            (finding.sentence, finding.more) = ("parkNanos truncates: 1 ms".to_owned(), more.collect());
            let mut page = Vec::new();
            let mut m = Markup::to(&mut page);
            words(&mut m, finding);
            m.finish().expect("memory takes it");
            String::from_utf8(page).expect("it is text")
        };
        let long = written(&[("a", &["x", "y"]), ("b, c", &["x"]), ("d", &["x"]), ("e", &["x"]), ("f", &["z"])]);
        assert!(
            long.starts_with("<p>ParkNanos truncates: 1\u{a0}ms.</p>\n<details><summary>6 more like it</summary>"),
            "{long}"
        );
        assert!(long.contains("<li>a (x, y)</li>\n<li>b, c (x)</li>") && long.contains("<li>f (z)</li>"), "{long}");
        assert_eq!(written(&[("a", &["x"])]), "<p>ParkNanos truncates: 1\u{a0}ms; 1 more: a (x).</p>\n");
        assert_eq!(written(&[]), "<p>ParkNanos truncates: 1\u{a0}ms.</p>\n");
    }
}
