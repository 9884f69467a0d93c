//! Requests that are dropped while the process has no visible window.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, Os, ResultFile};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::duration;
use crate::finding::{Check, FindingEntry};
use crate::read::windows::{
    BUILD_11, build, default_period, in_effect, is_default_tick, other_in_effect, sleeps_with_request, took,
};
use crate::read::{COMMON_REQUEST, is_sound};
use crate::remedies::windows::{KEEP_RESOLUTION_WHILE_HIDDEN, USE_HIGH_RESOLUTION_TIMER};

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-W004",
    name: "hidden-window-request",
    summary: "Windows 11 may drop a process's timer resolution request while its windows are hidden and it is silent.",
    applies_to: "Windows 11 (build 22000) and later, processes with windows; not Windows Server",
    scope: Scope::OsWhere(Os::Windows, |file| file.environment.flag(FactName::OsIsServer) != Some(true)),
    severity: Severity::Note,
    meaning: "On Windows 11 a process that owns windows is not guaranteed a finer timer resolution than the default \
              while all its windows are fully covered, minimised or otherwise invisible and it plays no sound. Its \
              request remains and is honoured again later; meanwhile its waits end on the default tick. A program that \
              is on time on the developer's screen is late when it is minimised. The registry value \
              GlobalTimerResolutionRequests, which makes requests count for every process, does not prevent this: on a \
              Windows 11 machine with it set, minimising the window of the program that made the request ended its \
              period.",
    how_we_know: "Microsoft documents the rule for timeBeginPeriod and SetProcessInformation, and oversleep reads the \
                  build. The rule is at work if this process was granted a resolution and its sleep still ended on the \
                  default tick. If the sleep did not, that says nothing about a process with windows.",
    what_to_do: "Opt out with PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION, or wait on a high-resolution timer.",
    sources: &[
        "https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod",
        "https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-setprocessinformation",
    ],
    remedies: &[&KEEP_RESOLUTION_WHILE_HIDDEN, &USE_HIGH_RESOLUTION_TIMER],
    check: Check::Rule(hidden_window),
}];

/// A request that was granted without effect: the finest one, for which the tick can't be the reason.
fn request_without_effect(file: &ResultFile, build: i64) -> Option<Conclusion> {
    let (held, series) = sleeps_with_request(file)
        .filter(|(held, series)| *held <= COMMON_REQUEST && is_sound(series))
        .min_by_key(|(held, _)| *held)
        .filter(|(_, series)| is_default_tick(file, duration(series)))
        // Only granted requests can be dropped.
        .filter(|(_, series)| in_effect(series).is_none_or(|is| is <= COMMON_REQUEST * 2))?;
    let because = match file.environment.flag(FactName::TimerWindowHidden) {
        Some(true) => "its window is hidden",
        _ => "none of its windows is visible, it seems",
    };
    let request = match other_in_effect(held, series) {
        Some(is) => format!("{held} requested and {is} in effect"),
        None => format!("{held} granted"),
    };
    let found = Conclusion::found(format!(
        "with {request}, {} all the same: on build {build} this process's request does not count while {because}",
        took(series)
    ));
    Some(found.rests_on(FactName::OsBuild, build.to_string()).rests_on_series([series]))
}

fn hidden_window(file: &ResultFile) -> Checked {
    let build = build(file)?;
    if build < BUILD_11 {
        let absent = Conclusion::absent(format!(
            "build {build} keeps a request whether or not windows are visible (until build {BUILD_11}, Windows 11)"
        ));
        return Ok(absent.rests_on(FactName::OsBuild, build.to_string()));
    }
    if let Some(found) = request_without_effect(file, build) {
        return Ok(found);
    }
    let found = Conclusion::found(format!(
        "a hidden program may lose its timer resolution (build {build}): while all its windows are hidden and it \
         is silent, its waits end on the default tick of {} (documented, not measured here)",
        default_period(file)
    ))
    .rests_on(FactName::OsBuild, build.to_string());
    Ok(match file.environment.flag(FactName::TimerGlobalRequests) {
        Some(true) => found
            .and("; GlobalTimerResolutionRequests, which is set here, does not change that")
            .rests_on(FactName::TimerGlobalRequests, "set"),
        _ => found,
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::{Outcome, Setting};
    use oversleep_record::finding::{Tried, Verdict};
    use oversleep_record::{FactName, Nanos};

    use crate::testing::{Explained, Sheet};

    fn on(build: i64) -> Sheet {
        Sheet::windows().integer(FactName::OsBuild, build)
    }

    #[test]
    fn global_requests_don_t_protect_a_hidden_window() {
        let finding = on(22_631).flag(FactName::TimerGlobalRequests, true).finding("OVS-W004");
        assert_eq!(finding.verdict, Verdict::Found);
        let end = "GlobalTimerResolutionRequests, which is set here, does not change that";
        assert!(finding.sentence.ends_with(end), "{}", finding.sentence);
        assert!(!on(22_631).finding("OVS-W004").sentence.contains("Global"));
    }

    #[test]
    fn the_rule_holds_from_windows_11_on() {
        on(22_631).finds(
            "OVS-W004",
            "a hidden program may lose its timer resolution (build 22631): while all its windows are hidden and \
             it is silent, its waits end on the default tick of 15.6 ms (documented, not measured here)",
        );
        assert!(matches!(on(22_631).finding("OVS-W004").advice[0].tried, Tried::NotTried { .. }));
        on(19_045).finds_no(
            "OVS-W004",
            "build 19045 keeps a request whether or not windows are visible (until build 22000, Windows 11)",
        );
    }

    #[test]
    fn a_request_that_was_granted_and_changed_nothing_is_the_finding_measured() {
        let swept = |half, whole| {
            on(22_631)
                .steady("C2/sleep/1ms/resolution=as-found", 14_600_000)
                .steady("C2/sleep/1ms/resolution=500us", half)
                .steady("C2/sleep/1ms/resolution=1ms", whole)
        };
        let ignored = swept(14_600_000, 14_600_000);
        ignored.finds(
            "OVS-W004",
            "with 500 µs granted, a 1 ms sleep took 15.6 ms all the same: on build 22631 this process's request does not \
             count while none of its windows is visible, it seems",
        );
        let known = ignored.flag(FactName::TimerWindowHidden, true).says("OVS-W004").1;
        assert!(known.ends_with("does not count while its window is hidden"), "{known}");
        let counts = swept(500_000, 950_000).says("OVS-W004").1;
        assert!(counts.ends_with("(documented, not measured here)"), "{counts}");
    }

    #[test]
    fn what_was_requested_is_not_called_granted() {
        let in_effect = |ms| {
            let mut sheet = on(22_631).steady("C2/sleep/1ms/resolution=500us", 14_600_000);
            let series = sheet.file.series.last_mut().expect("just added");
            let is = Setting::Nanos(Nanos::from_millis(ms));
            series.conditions.outcomes.insert("resolution".into(), Outcome::AlreadySo { is });
            sheet.says("OVS-W004").1
        };
        let coarser = in_effect(1);
        assert!(coarser.starts_with("with 500 µs requested and 1 ms in effect, a 1 ms sleep took"), "{coarser}");
        assert!(in_effect(15).ends_with("(documented, not measured here)"), "it never was in effect");
    }

    #[test]
    fn servers_are_out_of_scope_and_unknown_builds_not_guessed() {
        assert!(!on(26_100).flag(FactName::OsIsServer, true).lists("OVS-W004"));
        Sheet::windows().lacks_data("OVS-W004");
    }
}
