//! Wine: a result for Windows whose figures are not Windows'.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, ResultFile};

use super::super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::super::read::wine_version;

pub(in super::super) const UNDER_WINE: FindingEntry = FindingEntry {
    id: "OVS-W012",
    name: "measured-under-wine",
    summary: "Figures taken under Wine are Wine's on its host; they say nothing about Windows.",
    applies_to: "Wine, Proton and what is built on them",
    scope: Scope::Os("windows"),
    severity: Severity::Note,
    explanation: "\
Wine answers the calls of Windows with those of its host. Its waits have the host's timers and Wine's own rounding, its \
clocks the host's steps, and a request for a timer resolution is answered but changes nothing. Builds and periods that \
it reports are the ones it plays.\n\n\
How we know: ntdll exports wine_get_version.\n\n\
What to make of it: such a result shows what a Windows program gets under this Wine, and that this tool's calls work. \
What Windows does has to be measured on Windows; no finding about Windows is concluded here.",
    remedies: &[],
    check: under_wine,
};

fn under_wine(file: &ResultFile) -> Conclusion {
    match wine_version(file) {
        None => Conclusion::NotApplicable,
        Some(version) => Conclusion::Found(
            Statement::new(format!(
                "measured under Wine {version}: these are Wine's figures on its host, not Windows'"
            ))
            .rests_on(FactName::OsWineVersion, version),
        ),
    }
}

/// What is said of every other finding about Windows.
pub(in super::super) fn not_asked(version: &str) -> Conclusion {
    Conclusion::NotEnoughData(
        Statement::new(format!("not concluded: figures taken under Wine {version} say nothing about Windows"))
            .rests_on(FactName::OsWineVersion, version),
    )
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::Verdict;

    use super::super::super::super::testing::{Explained, Sheet};
    use super::super::super::super::{Scope, findings, registry};

    /// A result that would find much on Windows.
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
        let listed = findings(&under_wine.file);
        for entry in registry().iter().filter(|entry| entry.scope == Scope::Os("windows")) {
            let finding = listed.iter().find(|finding| finding.id == entry.id).expect(entry.id);
            if entry.id == "OVS-W012" {
                assert_eq!(
                    (finding.verdict, finding.sentence.as_str()),
                    (Verdict::Found, "measured under Wine 8.0: these are Wine's figures on its host, not Windows'")
                );
            } else {
                assert_eq!(
                    (finding.verdict, finding.sentence.as_str()),
                    (Verdict::NotEnoughData, "not concluded: figures taken under Wine 8.0 say nothing about Windows"),
                    "{}",
                    entry.id
                );
            }
        }
    }

    #[test]
    fn general_findings_name_wine_and_advise_nothing_of_windows() {
        let under_wine = eventful().text(FactName::OsWineVersion, "8.0");
        let coarse = under_wine.finding("OVS-G002");
        assert_eq!(
            coarse.sentence,
            "under Wine 8.0: get-tick-count-64 moves in steps of 15.6 ms: anything shorter reads as 0 or as a whole step \
             on it"
        );
        let none = findings(&Sheet::windows().text(FactName::OsWineVersion, "8.0").file);
        let silent = none.iter().find(|finding| finding.id == "OVS-G002").unwrap();
        assert!(silent.sentence.starts_with("the step of a coarse clock"), "what lacks data claims nothing");
    }
}
