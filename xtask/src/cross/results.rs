//! What a result must hold that was taken under something that carries another system here: all that it can, and no
//! conclusion about the system that isn't there.

use std::path::Path;

use oversleep_record::finding::Verdict;
use oversleep_record::series::Status;
use oversleep_record::{ResultFile, Unavailable};

/// What a carrier is known to lack, and what it mustn't be taken for.
pub struct Allowed {
    /// What it lacks: the beginnings of the keys of series that can't be measured under it, each with why.
    pub lacks: &'static [(&'static str, &'static str)],
    /// The finding that says what it is, where there is one.
    pub told_by: Option<&'static str>,
    /// Findings whose ids begin so are about the system it stands for, and conclude nothing.
    pub silent: Option<&'static str>,
}

/// Reads that result and holds it against what is allowed.
pub fn check(file: &Path, allowed: &Allowed) -> Result<(), String> {
    let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let result = ResultFile::read(&bytes).map_err(|error| format!("{}: {error}", file.display()))?;
    judge(&result, allowed)
}

fn judge(result: &ResultFile, allowed: &Allowed) -> Result<(), String> {
    let mut faults = Vec::new();
    for series in &result.series {
        let Status::Unavailable { reason } = &series.status else { continue };
        let is_known = allowed.lacks.iter().any(|(key, _)| series.key.as_str().starts_with(key));
        // What this machine refuses, or another processor has, says nothing of the carrier.
        let is_elsewhere = matches!(reason, Unavailable::NotOnThisPlatform | Unavailable::NotPermitted { .. });
        if !is_known && !is_elsewhere {
            faults.push(format!("{} can't be had: {reason}", series.key));
        }
    }
    if !result.series.iter().any(|series| series.has_values()) {
        faults.push("no series has values".to_owned());
    }
    let concluded = |id: &str| result.findings.iter().any(|f| f.id == id && f.verdict == Verdict::Found);
    if let Some(id) = allowed.told_by.filter(|id| !concluded(id)) {
        faults.push(format!("{id} doesn't say what carried it"));
    }
    let told = result.findings.iter().filter(|finding| finding.verdict == Verdict::Found);
    let silent = allowed.silent.unwrap_or("-");
    faults.extend(
        told.filter(|finding| finding.id.starts_with(silent) && Some(finding.id.as_str()) != allowed.told_by)
            .map(|finding| format!("{} concludes: {}", finding.id, finding.sentence)),
    );
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::{Finding, Severity};
    use oversleep_record::testing::Sheet;

    use super::*;

    const WINE: Allowed = Allowed { lacks: &[("C6/", "no count")], told_by: Some("OVS-W012"), silent: Some("OVS-W") };

    fn found(id: &str) -> Finding {
        Finding {
            id: id.into(),
            name: "name".into(),
            summary: "summary".into(),
            severity: Severity::Note,
            verdict: Verdict::Found,
            sentence: "so it is".into(),
            evidence: Vec::new(),
            advice: Vec::new(),
        }
    }

    #[test]
    fn what_is_missing_and_what_is_concluded_is_told() {
        let missing = || Unavailable::missing("a call");
        let mut result = Sheet::windows()
            .steady("B5/sleep/1ms", 2_000_000)
            .unavailable("C6/sleep/interrupts", missing())
            .unavailable("B5/other/1ms", Unavailable::NotOnThisPlatform)
            .file;
        result.findings = vec![found("OVS-W012"), found("OVS-G001")];
        assert_eq!(judge(&result, &WINE), Ok(()));
        result = Sheet { file: result }.unavailable("B5/waitable-timer/1ms", missing()).file;
        result.findings = vec![found("OVS-W001")];
        let faults = judge(&result, &WINE).unwrap_err();
        let lines: Vec<&str> = faults.lines().collect();
        assert_eq!(lines.len(), 3, "{faults}");
        assert!(lines[0].starts_with("B5/waitable-timer/1ms can't be had"), "{faults}");
        assert_eq!(lines[1..], ["OVS-W012 doesn't say what carried it", "OVS-W001 concludes: so it is"]);
        assert!(judge(&Sheet::windows().file, &WINE).unwrap_err().starts_with("no series has values"));
    }
}
