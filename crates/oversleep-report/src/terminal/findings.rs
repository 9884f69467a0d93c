//! The findings at the end of a report: sentences, what they rest on, what to do and what that gained.

use oversleep_record::ResultFile;
use oversleep_record::finding::{Advice, Finding, Severity, Tried, Verdict};

use super::style::{alarm, paint};
use super::{Detail, Page, text};
use crate::view::findings::{self, Findings, SEVERITIES};
use crate::view::table::Tone;
use crate::view::words::sentence;

/// Most figures a finding is shown to rest on; all of them stand in the result and in the browser's report.
const EVIDENCE_MAX: usize = 3;

/// Tells everything that was found, and names what was not.
pub(super) fn tell(page: &mut Page, file: &ResultFile, detail: Detail) {
    let findings = Findings::of(file);
    let mut told = Vec::new();
    page.heading(file, "Findings", "");
    page.prose(&findings.summary(), 0, Tone::Plain);
    for severity in SEVERITIES {
        if findings.found(severity).next().is_none() {
            continue;
        }
        page.gap();
        page.prose(findings::title(severity), 0, Tone::Strong);
        for finding in findings.found(severity) {
            match detail {
                Detail::Brief => brief(page, finding, &mut told),
                Detail::Full => found(page, finding, &mut told),
            }
        }
    }
    if detail == Detail::Brief && !told.is_empty() {
        page.gap();
        page.prose(
            "`oversleep explain ID` tells the cause, how it is known, and the code of each cure.",
            0,
            Tone::Soft,
        );
    }
    rest(page, file, &findings);
}

fn title(page: &mut Page, finding: &Finding) {
    let mark = match finding.severity {
        Severity::Fault => alarm("■"),
        Severity::Cost => paint(Tone::Warn, "■"),
        Severity::Note => paint(Tone::Soft, "·"),
    };
    let name = text::clean(&format!("{} {}", finding.id, finding.name));
    page.line(&format!("{mark} {}", paint(Tone::Strong, &text::fitted(&name, page.width - 2))));
    page.prose(&format!("{}.", sentence(finding.sentence.trim_end_matches('.'))), 2, Tone::Plain);
}

/// The sentence, and of what costs something the first remedy that helped when it was tried: findings name their own
/// remedy first.
fn brief<'a>(page: &mut Page, finding: &'a Finding, told: &mut Vec<&'a str>) {
    title(page, finding);
    if finding.severity == Severity::Note {
        return;
    }
    let helped = |advice: &&Advice| matches!(advice.tried, Tried::Measured { helped: true, .. });
    let Some(advice) = finding.advice.iter().find(helped).or(finding.advice.first()) else { return };
    if told.contains(&advice.remedy.as_str()) {
        return page.prose(&format!("→ As above: {}.", advice.remedy), 2, Tone::Soft);
    }
    told.push(&advice.remedy);
    page.prose(&format!("→ {}.", sentence(advice.sentence.trim_end_matches('.'))), 2, Tone::Plain);
    let tone = if helped(&advice) { Tone::Good } else { Tone::Soft };
    page.prose(&format!("{}.", sentence(findings::outcome(&advice.tried).trim_end_matches('.'))), 4, tone);
}

fn found<'a>(page: &mut Page, finding: &'a Finding, told: &mut Vec<&'a str>) {
    title(page, finding);
    let evidence: Vec<String> =
        finding.evidence.iter().map(|evidence| format!("{}: {}", evidence.source, evidence.text)).collect();
    if !evidence.is_empty() {
        let rest = evidence.len().saturating_sub(EVIDENCE_MAX);
        let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
        page.prose(&format!("{}{more}", evidence[..evidence.len() - rest].join("; ")), 2, Tone::Soft);
    }
    let mut above = Vec::new();
    for (index, advice) in finding.advice.iter().enumerate() {
        if told.contains(&advice.remedy.as_str()) {
            above.push(advice.remedy.as_str());
            continue;
        }
        told.push(&advice.remedy);
        let tone = match advice.tried {
            Tried::Measured { helped: true, .. } => Tone::Good,
            Tried::Measured { .. } | Tried::Refused { .. } => Tone::Plain,
            Tried::NotTried { .. } => Tone::Soft,
        };
        page.prose(&format!("→ {}.", sentence(advice.sentence.trim_end_matches('.'))), 2, Tone::Plain);
        // The best remedy of what costs something is shown whole; the others' code stands in the browser's report.
        if index == 0 && finding.severity != Severity::Note {
            code(page, advice.example.as_deref().unwrap_or_default());
        }
        // Of a note it is enough to know what could be done.
        if finding.severity != Severity::Note || !matches!(advice.tried, Tried::NotTried { .. }) {
            page.prose(&format!("{}.", sentence(findings::outcome(&advice.tried).trim_end_matches('.'))), 4, tone);
        }
    }
    if !above.is_empty() {
        page.prose(&format!("→ As above: {}.", above.join(", ")), 2, Tone::Soft);
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

/// What was not found, shortly: too disturbed in sentences, the rest by name.
fn rest(page: &mut Page, file: &ResultFile, findings: &Findings) {
    let disturbed: Vec<&Finding> = findings.with(Verdict::TooDisturbed).collect();
    if !disturbed.is_empty() {
        page.gap();
        page.line(&paint(Tone::Strong, "Too disturbed to conclude"));
        for finding in disturbed {
            page.prose(
                &format!("{} {}: {}.", finding.id, finding.name, finding.sentence.trim_end_matches('.')),
                2,
                Tone::Warn,
            );
        }
    }
    let lists = [(Verdict::NotEnoughData, "Not enough data"), (Verdict::NotFound, "Looked for and not so here")];
    let mut first = true;
    // A command that measures one part lacks data for all the others by intention.
    let looks_at_everything = file.command == "check";
    for (verdict, title) in lists.into_iter().filter(|list| looks_at_everything || list.0 != Verdict::NotEnoughData) {
        let names: Vec<&str> = findings.with(verdict).map(|finding| finding.name.as_str()).collect();
        if names.is_empty() {
            continue;
        }
        if std::mem::take(&mut first) {
            page.gap();
        }
        page.prose(&format!("{title}: {}.", names.join(", ")), 0, Tone::Soft);
    }
}
