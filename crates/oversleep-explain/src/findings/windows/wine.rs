//! Wine: a result for Windows whose figures are not those of Windows.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, ResultFile};

use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::read::wine_version;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-W012",
    name: "measured-under-wine",
    summary: "Figures measured under Wine describe Wine on its host; they say nothing about Windows.",
    applies_to: "Wine, Proton and what is built on them",
    scope: Scope::Wine,
    severity: Severity::Note,
    meaning: "Wine answers the calls of Windows with those of its host. Its waits use the host's timers and Wine's own \
              rounding, and its clocks move in the host's steps. It answers a request for a timer resolution, but the \
              request changes nothing. The builds and periods that it reports are those that it emulates.",
    how_we_know: "ntdll exports wine_get_version.",
    what_to_do: "Such a result shows what a Windows program gets under this Wine, and that oversleep's calls work. To learn \
                 what Windows does, measure on Windows; under Wine, oversleep concludes nothing about it.",
    sources: &[],
    remedies: &[],
    check: Check::Rule(under_wine),
}];

fn under_wine(file: &ResultFile) -> Checked {
    let version = wine_version(file).unwrap_or("of an unknown version");
    let found = Conclusion::found(format!(
        "this was measured under Wine {version}: the figures are those of Wine on its host, not of Windows"
    ));
    Ok(found.rests_on(FactName::OsWineVersion, version))
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::Verdict;

    use crate::registry::{findings, registry};
    use crate::testing::{Explained, Sheet};

    /// A result that would have many findings on Windows.
    fn eventful() -> Sheet {
        Sheet::windows()
            .integer(FactName::OsBuild, 22_631)
            .span(FactName::TimerPeriodNow, 1_000_000)
            .steady("B5/sleep/1ms", 14_600_000)
            .steady("B5/waitable-timer-high-resolution/1ms", 520_000)
            .steady("B3/get-tick-count-64", 15_600_000)
    }

    #[test]
    fn under_wine_nothing_about_windows_is_concluded() {
        let on_windows = findings(&eventful().file);
        assert!(on_windows.iter().filter(|f| f.id.starts_with("OVS-W") && f.verdict == Verdict::Found).count() >= 4);
        assert!(!eventful().lists("OVS-W012"));
        let under_wine = eventful().text(FactName::OsWineVersion, "8.0");
        under_wine.finds(
            "OVS-W012",
            "this was measured under Wine 8.0: the figures are those of Wine on its host, not of Windows",
        );
        for entry in registry().iter().filter(|entry| entry.id.starts_with("OVS-W") && entry.id != "OVS-W012") {
            under_wine
                .lacks(entry.id, "figures taken under Wine 8.0 say nothing about Windows. Run oversleep on Windows");
        }
    }

    #[test]
    fn general_findings_name_wine_and_advise_nothing_of_windows() {
        let coarse = eventful().text(FactName::OsWineVersion, "8.0").says("OVS-G002").1;
        assert!(coarse.starts_with("under Wine 8.0: get-tick-count-64 moves in steps of 15.6 ms"), "{coarse}");
        let silent = Sheet::windows().text(FactName::OsWineVersion, "8.0").says("OVS-G002").1;
        assert!(silent.starts_with("the step of a coarse clock"), "a check without data claims nothing: {silent}");
    }
}
