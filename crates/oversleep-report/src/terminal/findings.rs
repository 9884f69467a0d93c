//! Findings on the terminal: in a few lines, or in full with evidence, every remedy and code.

use oversleep_explain::is_sampled;
use oversleep_explain::verdict::{Cause, causes};
use oversleep_record::finding::{Finding, Severity, Tried, Verdict};
use oversleep_record::{CommandName, ResultFile};

use super::page::Page;
use super::style::{alarm, paint};
use super::{Detail, text};
use crate::view::findings::{self, Findings, SEVERITIES, UNCLEAR, cure, helped};
use crate::view::overview::{clauses_within, first_clause};
use crate::view::select::distinct;
use crate::view::table::Tone;
use crate::view::verdict;
use crate::words::{capitalised, sentence};

/// Most notes shown with a sentence of their own by default.
const NOTES_MAX: usize = 12;
/// The most figures of evidence shown for a finding; the result and the HTML report have all.
const EVIDENCE_MAX: usize = 3;
/// What to do about findings that lack data.
const MORE_DATA: &str = " --thorough takes more values; the HTML report gives the reason for each.";
const MORE_TIME: &str = " A longer watch takes more values; the HTML report gives the reason for each.";
const REASONS: &str = " The HTML report gives the reason for each.";

/// Everything that was found, and the names of the rest.
pub(super) fn show(page: &mut Page, file: &ResultFile, findings: &Findings, detail: Detail) {
    let mut shown = Vec::new();
    let causes = causes(file);
    page.heading(file, "Findings", &findings.summary());
    let by_severity = SEVERITIES.map(|severity| (severity, findings.found(severity).collect::<Vec<_>>()));
    for (index, (severity, found)) in by_severity.into_iter().filter(|(_, found)| !found.is_empty()).enumerate() {
        if index > 0 {
            page.gap();
        }
        page.prose(&findings::title(severity), 0, Tone::Strong);
        match (detail, severity) {
            (Detail::Full, _) => found.into_iter().for_each(|finding| {
                full(page, finding, &mut shown, |page| {
                    delays(page, file, causes.iter().find(|of| of.finding == *finding))
                });
            }),
            (Detail::Brief, Severity::Note) => notes(page, &found),
            (Detail::Brief, _) => by_cure(page, &found),
        }
    }
    if findings.are_untried() {
        page.gap();
        page.prose(findings::UNTRIED, 0, Tone::Soft);
    }
    match detail {
        Detail::Brief => disturbed(page, file, findings),
        Detail::Full => rest(page, file, findings),
    }
}

fn mark(severity: Severity) -> String {
    match severity {
        Severity::Fault => alarm("■"),
        Severity::Cost => paint(Tone::Warn, "■"),
        Severity::Note => paint(Tone::Soft, "·"),
    }
}

/// A finding in a line, with what is said of it.
pub(super) fn line(page: &mut Page, finding: &Finding, said: &str) {
    let (name, said) = (text::clean(&finding.name), text::clean(said));
    let room = page.prose_width(4 + text::columns(&name));
    let said = clauses_within(&said, room);
    let mark = mark(finding.severity);
    for (index, line) in text::wrapped(&format!("{name}: {said}"), page.prose_width(2)).iter().enumerate() {
        match line.strip_prefix(name.as_str()).filter(|_| index == 0) {
            Some(rest) => page.line(&format!("{mark} {}{rest}", paint(Tone::Strong, &name))),
            None => page.line(&format!("{} {line}", if index == 0 { &*mark } else { " " })),
        }
    }
}

/// Notes in a line each, the last of many by name only.
fn notes(page: &mut Page, found: &[&Finding]) {
    let (whole, named) = if found.len() > NOTES_MAX + 1 { found.split_at(NOTES_MAX) } else { (found, &[][..]) };
    whole.iter().for_each(|finding| line(page, finding, &finding.whole_sentence()));
    if !named.is_empty() {
        let names: Vec<&str> = named.iter().map(|finding| finding.name.as_str()).collect();
        page.prose(&format!("Also: {}", names.join(", ")), 2, Tone::Soft);
    }
}

/// Findings in a line each, grouped under their common remedy.
fn by_cure(page: &mut Page, found: &[&Finding]) {
    let cure_of = |finding: &Finding| cure(finding).map(|advice| (advice.remedy.clone(), advice.sentence.clone()));
    for remedy in distinct(found.iter().map(|finding| cure_of(finding))) {
        let group: Vec<&Finding> = found.iter().copied().filter(|finding| cure_of(finding) == remedy).collect();
        group.iter().for_each(|finding| line(page, finding, &finding.whole_sentence()));
        let Some(advice) = group.first().and_then(|finding| cure(finding)) else { continue };
        let what = capitalised(first_clause(&advice.sentence));
        match findings::gain(&advice.tried).filter(|_| helped(advice)) {
            Some(gain) => page.prose(&format!("→ {what}. Tried here: {gain}."), 2, Tone::Good),
            None => page.prose(&format!("→ {what}."), 2, Tone::Plain),
        }
    }
}

/// How much of the lateness of an observed program a cause explains, and which waits it delayed.
fn delays(page: &mut Page, file: &ResultFile, cause: Option<&Cause>) {
    let Some(cause) = cause else { return };
    verdict::share(file, cause).iter().for_each(|share| page.prose(&format!("It explains {share}."), 2, Tone::Soft));
    // The sentence names the waits that it delayed most.
    if cause.delayed.len() > 1 {
        page.prose(&format!("It delayed {}.", verdict::delays(file, cause).join("; ")), 2, Tone::Soft);
    }
}

/// The mark, the identifier and the name of a finding.
pub(super) fn name(page: &mut Page, finding: &Finding) {
    let instance = finding.instance.as_ref().map(|instance| format!(": {instance}")).unwrap_or_default();
    let name = text::clean(&format!("{} {}{instance}", finding.id, finding.name));
    for (index, line) in text::wrapped(&name, page.width - 2).iter().enumerate() {
        let mark = if index == 0 { mark(finding.severity) } else { " ".to_owned() };
        page.line(&format!("{mark} {}", paint(Tone::Strong, line)));
    }
}

fn full<'a>(page: &mut Page, finding: &'a Finding, shown: &mut Vec<(&'a str, &'a str)>, more: impl FnOnce(&mut Page)) {
    name(page, finding);
    page.prose(&findings::in_words(finding), 2, Tone::Plain);
    more(page);
    let evidence: Vec<String> =
        finding.evidence.iter().map(|evidence| format!("{}: {}", evidence.source, evidence.text)).collect();
    if !evidence.is_empty() {
        let rest = evidence.len().saturating_sub(EVIDENCE_MAX);
        let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
        page.prose(&format!("{}{more}", evidence[..evidence.len() - rest].join("; ")), 2, Tone::Soft);
    }
    let is_note = finding.severity == Severity::Note;
    let mut above = Vec::new();
    for (index, advice) in finding.advice.iter().enumerate() {
        let said = (advice.remedy.as_str(), advice.sentence.as_str());
        if shown.contains(&said) {
            above.push(advice.remedy.as_str());
            continue;
        }
        shown.push(said);
        let tone = match advice.tried {
            Tried::Measured { helped: true, .. } => Tone::Good,
            Tried::Measured { .. } | Tried::Refused { .. } => Tone::Plain,
            Tried::NotTried { .. } => Tone::Soft,
        };
        page.prose(&format!("→ {}", sentence(&advice.sentence)), 2, Tone::Plain);
        // The code of the best remedy of a cost is shown; the HTML report has the others.
        if index == 0 && !is_note {
            code(page, advice.example.as_deref().unwrap_or_default());
        }
        let is_told = !is_note || !matches!(advice.tried, Tried::NotTried { .. });
        if is_told && !findings::is_unasked(&advice.tried) {
            page.prose(&sentence(&findings::outcome(&advice.tried)), 4, tone);
        }
    }
    if !above.is_empty() {
        page.prose(&format!("→ {}, as above.", above.join(", ")), 2, Tone::Soft);
    }
}

impl Page {
    /// One command.
    pub fn code_line(&mut self, command: &str) {
        code(self, command);
    }
}

/// Code as it is, long lines broken between words and indented further.
fn code(page: &mut Page, example: &str) {
    for line in example.lines() {
        let line = text::clean(&line.replace('\t', "    "));
        let indent = line.len() - line.trim_start().len();
        for (index, piece) in text::wrapped(&line, page.width.saturating_sub(8 + indent)).iter().enumerate() {
            let blanks = 6 + indent + if index > 0 { 2 } else { 0 };
            page.line(&format!("{:blanks$}{}", "", paint(Tone::Strong, piece)));
        }
    }
}

/// The checks for which the machine was too busy, with the next step.
fn disturbed(page: &mut Page, file: &ResultFile, findings: &Findings) {
    let names: Vec<&str> = findings.disturbed().map(|finding| finding.name.as_str()).collect();
    let unclear: Vec<&str> = findings.unclear().map(|finding| finding.name.as_str()).collect();
    if !unclear.is_empty() {
        page.gap();
        page.prose(&format!("{UNCLEAR}: {}. --full has the reasons.", unclear.join(", ")), 0, Tone::Warn);
    }
    if !names.is_empty() {
        page.gap();
        let names = names.join(", ");
        let longer = if is_sampled(file) { "watch for longer" } else { "measure for longer with --thorough" };
        let next = format!("Close other programs, or {longer}");
        page.prose(&format!("Inconclusive, because the rounds disagree: {names}. {next}."), 0, Tone::Warn);
    }
}

/// What was not found: disturbed checks in sentences, the rest by name.
fn rest<'a>(page: &mut Page, file: &ResultFile, findings: &'a Findings) {
    let disturbed: Vec<&Finding> = findings.disturbed().collect();
    let unclear: Vec<&Finding> = findings.unclear().collect();
    for (title, list) in [(UNCLEAR, unclear), ("Inconclusive, because the rounds disagree", disturbed)] {
        if list.is_empty() {
            continue;
        }
        page.gap();
        page.prose(title, 0, Tone::Strong);
        for finding in list {
            page.prose(
                &format!("{} {}: {}.", finding.id, finding.name, finding.sentence.trim_end_matches('.')),
                2,
                Tone::Warn,
            );
        }
    }
    page.gap();
    // A command that measures one part lacks data for the other findings by design.
    let measures_all = file.is_from(CommandName::Check) || file.observation.is_some();
    let more_data = match file.observation.is_some() {
        true => REASONS,
        false if is_sampled(file) => MORE_TIME,
        false => MORE_DATA,
    };
    let names = |all: &mut dyn Iterator<Item = &'a Finding>| -> Vec<&'a str> {
        all.map(|finding| finding.name.as_str()).collect()
    };
    let lists = [
        (measures_all, names(&mut findings.too_few()), findings::inconclusive(file), more_data),
        (measures_all, names(&mut findings.unmeasured()), "Not measured", REASONS),
        (true, names(&mut findings.with(Verdict::NotFound)), "Checked, not found", ""),
    ];
    for (is_listed, names, title, next) in lists {
        if is_listed && !names.is_empty() {
            page.prose(&format!("{title}: {}.{next}", names.join(", ")), 0, Tone::Soft);
        }
    }
}
