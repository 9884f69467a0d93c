//! Requests that are dropped while nobody can see the process.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, ResultFile};

use super::super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::super::read::{COMMON_REQUEST, Look, judge, settle, summary};
use super::{BUILD_11, build, default_period, in_effect, is_as_asked, is_default_tick, sleeps_with_request, took};

pub(in super::super) const HIDDEN_WINDOW: FindingEntry = FindingEntry {
    id: "OVS-W004",
    name: "hidden-window-request",
    summary: "Windows 11 may drop a process's timer resolution request while its windows can't be seen and it is silent.",
    applies_to: "Windows 11 (build 22000) and later, processes with windows; not Windows Server",
    scope: Scope::Os("windows"),
    severity: Severity::Note,
    explanation: "\
On Windows 11 a process that owns windows is not guaranteed a finer period than the default while all its windows are \
fully covered, minimised or otherwise invisible and it plays no sound. The request stands and is honoured again later; \
meanwhile its waits end on the default tick. A program that is punctual on the developer's screen is late when it is \
minimised. Setting GlobalTimerResolutionRequests, by which requests count for every process, does not keep them: on a \
Windows 11 with it set, minimising the window of the program that had asked ended its period.\n\n\
How we know: by the rule as Microsoft documents it for timeBeginPeriod and SetProcessInformation, and by the build that \
runs here. It shows where this process was granted a period and its sleep ended on the default tick all the same; where \
it did not, that says nothing about a process with windows.\n\n\
Cure: opt out with PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION, or wait on a high-resolution timer.",
    remedies: &["keep-resolution-while-hidden", "use-high-resolution-timer"],
    check: |file| settle(hidden_window(file)),
};

/// A request that was granted and changed nothing: the finest, which leaves the tick no excuse.
fn request_without_effect(file: &ResultFile, build: i64) -> Option<Conclusion> {
    let (held, series) = sleeps_with_request(file)
        .filter(|(held, series)| *held <= COMMON_REQUEST && judge(series).is_ok())
        .min_by_key(|(held, _)| *held)
        .filter(|(_, series)| is_default_tick(file, took(series)))
        // What was not granted can't have been dropped.
        .filter(|(_, series)| in_effect(series).is_none_or(|is| is <= COMMON_REQUEST * 2))?;
    let (wait, requested) = (&series.subject, series.requested_ns.unwrap_or_default());
    let because = match file.environment.flag(FactName::TimerWindowHidden) {
        Some(true) => "its window can't be seen",
        _ => "no window of it can be seen, it seems",
    };
    let request = match in_effect(series) {
        Some(is) if !is_as_asked(held, is) => format!("{held} asked for and {is} in effect"),
        _ => format!("{held} granted"),
    };
    let statement = Statement::new(format!(
        "with {request} {wait} of {requested} took {} all the same: on build {build} this process's request does not count while \
         {because}",
        took(series)
    ));
    Some(Conclusion::Found(
        statement.rests_on(FactName::OsBuild, build.to_string()).rests_on(&series.key, summary(series)),
    ))
}

fn hidden_window(file: &ResultFile) -> Look<Conclusion> {
    let build = build(file)?;
    if file.environment.flag(FactName::OsIsServer) == Some(true) {
        return Ok(Conclusion::NotApplicable);
    }
    let statement = |sentence: String| Statement::new(sentence).rests_on(FactName::OsBuild, build.to_string());
    if let Some(found) = request_without_effect(file, build).filter(|_| build >= BUILD_11) {
        return Ok(found);
    }
    if build < BUILD_11 {
        return Ok(Conclusion::Absent(statement(format!(
            "build {build} keeps a request whether windows can be seen or not (until build {BUILD_11}, Windows 11)"
        ))));
    }
    let mut found = statement(format!(
        "on build {build} a program with windows may lose the timer period it asked for while they are all hidden and it \
         is silent: its waits then end on the default tick of {} (documented, not measured here)",
        default_period(file)
    ));
    if file.environment.flag(FactName::TimerGlobalRequests) == Some(true) {
        found.sentence.push_str("; GlobalTimerResolutionRequests, which is set here, does not change that");
        found = found.rests_on(FactName::TimerGlobalRequests, "set");
    }
    Ok(Conclusion::Found(found))
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::{Outcome, Setting};
    use oversleep_record::finding::{Tried, Verdict};
    use oversleep_record::{FactName, Nanos};

    use super::super::super::super::testing::{Explained, Sheet};

    fn on(build: i64) -> Sheet {
        Sheet::windows().integer(FactName::OsBuild, build)
    }

    #[test]
    fn that_requests_are_global_keeps_none_of_a_hidden_window() {
        let finding = on(22_631).flag(FactName::TimerGlobalRequests, true).finding("OVS-W004");
        assert_eq!(finding.verdict, Verdict::Found);
        let end = "GlobalTimerResolutionRequests, which is set here, does not change that";
        assert!(finding.sentence.ends_with(end), "{}", finding.sentence);
        assert!(!on(22_631).finding("OVS-W004").sentence.contains("Global"));
    }

    #[test]
    fn the_rule_holds_from_windows_11_on() {
        let found = on(22_631).finding("OVS-W004");
        assert_eq!(
            (found.verdict, found.sentence.as_str()),
            (
                Verdict::Found,
                "on build 22631 a program with windows may lose the timer period it asked for while they are all hidden \
                 and it is silent: its waits then end on the default tick of 15.6 ms (documented, not measured here)"
            )
        );
        assert!(matches!(found.advice[0].tried, Tried::NotTried { .. }));
        let older = on(19_045).finding("OVS-W004");
        assert_eq!(
            (older.verdict, older.sentence.as_str()),
            (
                Verdict::Absent,
                "build 19045 keeps a request whether windows can be seen or not (until build 22000, Windows 11)"
            )
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
        assert_eq!(
            ignored.finding("OVS-W004").sentence,
            "with 500 µs granted sleep of 1 ms took 15.6 ms all the same: on build 22631 this process's request does not \
             count while no window of it can be seen, it seems"
        );
        let known = ignored.flag(FactName::TimerWindowHidden, true).finding("OVS-W004").sentence;
        assert!(known.ends_with("does not count while its window can't be seen"), "{known}");
        let counts = swept(500_000, 950_000).finding("OVS-W004").sentence;
        assert!(counts.ends_with("(documented, not measured here)"), "{counts}");
    }

    #[test]
    fn what_was_asked_is_not_told_as_granted() {
        let in_effect = |ms| {
            let mut sheet = on(22_631).steady("C2/sleep/1ms/resolution=500us", 14_600_000);
            let series = sheet.file.series.last_mut().expect("just added");
            let is = Setting::Nanos(Nanos::from_millis(ms));
            series.conditions.outcomes.insert("resolution".into(), Outcome::AlreadySo { is });
            sheet.finding("OVS-W004").sentence
        };
        let coarser = in_effect(1);
        assert!(
            coarser.starts_with("with 500 µs asked for and 1 ms in effect sleep of 1 ms took 15.6 ms"),
            "{coarser}"
        );
        assert!(in_effect(15).ends_with("(documented, not measured here)"), "it never was in effect");
    }

    #[test]
    fn servers_are_not_asked_and_unknown_builds_not_guessed() {
        assert!(!on(26_100).flag(FactName::OsIsServer, true).lists("OVS-W004"));
        assert_eq!(Sheet::windows().finding("OVS-W004").verdict, Verdict::NotEnoughData);
    }
}
