//! Requirements for a result taken under Wine or an emulator: every value that can be measured there, and no conclusion
//! about the real system.

use std::path::Path;

use oversleep_record::finding::Verdict;
use oversleep_record::series::Status;
use oversleep_record::{ResultFile, Unavailable};

/// The known limits of a carrier, and the forbidden conclusions of its results.
pub struct Allowed {
    /// The prefixes of the keys of series that can't be measured under it, each with the reason.
    pub lacks: &'static [(&'static str, &'static str)],
    /// The finding that names the carrier, if there is one.
    pub named_by: Option<&'static str>,
    /// The prefix of the ids of findings that must not conclude, because they are about the real system.
    pub silent: Option<&'static str>,
}

/// Reads a result and compares it with what is allowed.
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
        // A refusal by this machine, or a call of another processor, is not due to the carrier.
        let is_elsewhere = matches!(reason, Unavailable::NotOnThisPlatform | Unavailable::NotPermitted { .. });
        if !is_known && !is_elsewhere {
            faults.push(format!("{} is not available: {reason}", series.key));
        }
    }
    if !result.series.iter().any(|series| series.has_values()) {
        faults.push("no series has values".to_owned());
    }
    let concluded = |id: &str| result.findings.iter().any(|f| f.id == id && f.verdict == Verdict::Found);
    if let Some(id) = allowed.named_by.filter(|id| !concluded(id)) {
        faults.push(format!("{id} doesn't name the carrier"));
    }
    let found = result.findings.iter().filter(|finding| finding.verdict == Verdict::Found);
    let silent = allowed.silent.unwrap_or("-");
    faults.extend(
        found
            .filter(|finding| finding.id.starts_with(silent) && Some(finding.id.as_str()) != allowed.named_by)
            .map(|finding| format!("{} concludes: {}", finding.id, finding.sentence)),
    );
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::{Finding, Severity};
    use oversleep_record::testing::Sheet;

    use super::*;

    const WINE: Allowed = Allowed { lacks: &[("C6/", "no count")], named_by: Some("OVS-W012"), silent: Some("OVS-W") };

    fn found(id: &str) -> Finding {
        Finding {
            id: id.into(),
            name: "name".into(),
            instance: None,
            summary: "summary".into(),
            severity: Severity::Note,
            verdict: Verdict::Found,
            sentence: "so it is".into(),
            more: Vec::new(),
            explained_ns: None,
            evidence: Vec::new(),
            advice: Vec::new(),
        }
    }

    #[test]
    fn missing_values_and_wrong_conclusions_are_faults() {
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
        assert!(lines[0].starts_with("B5/waitable-timer/1ms is not available"), "{faults}");
        assert_eq!(lines[1..], ["OVS-W012 doesn't name the carrier", "OVS-W001 concludes: so it is"]);
        assert!(judge(&Sheet::windows().file, &WINE).unwrap_err().starts_with("no series has values"));
    }
}
