//! Other processes' requests for a timer resolution: that one is in force, and whether it serves this process.

use oversleep_record::finding::Severity;
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series, label};

use super::super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::super::read::{COMMON_REQUEST, Look, judge, not_measured, settle, summary};
use super::{
    BUILD_2004, beside_neighbour, build, default_period, is_default_tick, is_plain_millisecond, sleep_as_found,
    sleep_with_a_millisecond, took,
};

pub(in super::super) const NEIGHBOUR_RAISED: FindingEntry = FindingEntry {
    id: "OVS-W002",
    name: "neighbour-raised-tick",
    summary: "Another process holds a finer timer period than the default; figures taken meanwhile depend on it.",
    applies_to: "Windows, every version; browsers, players, chat programs and games are frequent neighbours",
    scope: Scope::Os("windows"),
    severity: Severity::Note,
    explanation: "\
The clock interrupt runs at the finest period any process asked for, and for as long as that process lives or holds the \
request. Before Windows 10 2004 every wait of every process then ends on that finer tick, so that a program behaves \
differently while a browser is open. Since then only the coarse clocks (timeGetTime, GetSystemTimeAsFileTime) follow the \
neighbour everywhere; the waits of a process follow its own request.\n\n\
How we know: a second process of ours holds one period after the other while this one, which asked for nothing, measures \
its plain sleep. And the period in force is read with NtQueryTimerResolution before this process asked for anything. \
Which process asked is not told; powercfg /energy lists them.\n\n\
What to make of it: a result that seems good here may be a neighbour's doing. Ask for what the program needs itself, or \
wait on a high-resolution timer.",
    remedies: &["request-timer-resolution", "use-high-resolution-timer"],
    check: |file| settle(neighbour_raised(file)),
};

pub(in super::super) const OWN_REQUEST: FindingEntry = FindingEntry {
    id: "OVS-W003",
    name: "own-request-needed",
    summary: "Since Windows 10 2004 a finer timer period serves only the process that asks for it itself.",
    applies_to: "Windows 10 2004 (build 19041) and later, without GlobalTimerResolutionRequests",
    scope: Scope::Os("windows"),
    severity: Severity::Cost,
    explanation: "\
Until Windows 10 1909 one process's request shortened everybody's waits, and many programs relied on it without knowing. \
Since 2004 the waits of a process that asked for nothing keep to the default period, or to some multiple of the finer \
tick that is near it, even while the interrupt runs at 1 ms. Windows Server 2022, and Windows 11 with the registry value \
GlobalTimerResolutionRequests, share requests as before.\n\n\
How we know: a second process holds 1 ms while this one, which asked for nothing, measures its plain sleep; then this \
process asks itself.\n\n\
Cure: call timeBeginPeriod in the process whose threads wait, or wait on a high-resolution timer.",
    remedies: &["request-timer-resolution", "use-high-resolution-timer"],
    check: |file| settle(own_request(file)),
};

/// What a neighbour of our own did to the plain sleep of this process, where both were measured: the finest one that
/// shortened it. `None` where it did nothing or none was there.
///
/// # Errors
/// It was measured, but so that nothing follows from it.
fn raised_by_ours(file: &ResultFile) -> Look<Option<Statement>> {
    let mut sleeps = file.experiment(ExperimentId::C3).filter(|series| is_plain_millisecond(file, series));
    let Some(alone) = sleeps.find(|series| series.label(label::NEIGHBOUR).is_some_and(|held| held.0.is_empty())) else {
        return Ok(None);
    };
    let by_finest = |(held, _): &(Nanos, &Series)| *held;
    let beside = || beside_neighbour(file).filter(|(_, series)| is_plain_millisecond(file, series));
    let judged = beside().filter(|(_, series)| judge(series).is_ok()).min_by_key(by_finest);
    let Some((held, beside)) = judged.or_else(|| beside().min_by_key(by_finest)) else { return Ok(None) };
    judge(alone)?;
    judge(beside)?;
    let (was, is) = (took(alone), took(beside));
    if !is_default_tick(file, was) || is_default_tick(file, is) {
        return Ok(None);
    }
    let (wait, requested) = (&beside.subject, beside.requested_ns.unwrap_or_default());
    let sentence = format!(
        "beside a process that holds {held} {wait} of {requested} took {is} instead of {was}: here a request of any process \
         serves all of them"
    );
    Ok(Some(Statement::new(sentence).rests_on(&beside.key, summary(beside)).rests_on(&alone.key, summary(alone))))
}

fn neighbour_raised(file: &ResultFile) -> Look<Conclusion> {
    let by_ours = raised_by_ours(file);
    if let Ok(Some(found)) = by_ours {
        return Ok(Conclusion::Found(found));
    }
    let now = file
        .environment
        .nanos(FactName::TimerPeriodNow)
        .ok_or_else(|| Conclusion::lacks("the timer period in force is not known (timer.period_now_ns)"))?;
    let default = default_period(file);
    let statement = |sentence: String| Statement::new(sentence).rests_on(FactName::TimerPeriodNow, now.to_string());
    if now.0.saturating_mul(100) >= default.0.saturating_mul(99) {
        // That nobody asks says nothing of what a request would do, which was to be seen.
        by_ours?;
        return Ok(Conclusion::Absent(statement(format!(
            "the timer period is the default, {default}: no process asks for a finer one"
        ))));
    }
    let found = statement(format!(
        "the timer period is {now} although this process asked for nothing: another process holds it"
    ));
    let Some(sleep) = sleep_as_found(file).ok().filter(|series| judge(series).is_ok()) else {
        return Ok(Conclusion::Found(found));
    };
    let (wait, requested, whole) = (&sleep.subject, sleep.requested_ns.unwrap_or_default(), took(sleep));
    let mut found = found.rests_on(&sleep.key, summary(sleep));
    found.sentence.push_str(&if is_default_tick(file, whole) {
        format!("; this process's waits do not follow it: {wait} of {requested} took {whole}")
    } else {
        format!(
            "; this process's waits gain by it: {wait} of {requested} took {whole}, and may take {default} once the other \
             process ends"
        )
    });
    Ok(Conclusion::Found(found))
}

fn own_request(file: &ResultFile) -> Look<Conclusion> {
    let build = build(file)?;
    let of_build = |sentence: String| Statement::new(sentence).rests_on(FactName::OsBuild, build.to_string());
    if build < BUILD_2004 {
        return Ok(Conclusion::Absent(of_build(format!(
            "on build {build} a request of any process serves all of them (until build {BUILD_2004}, Windows 10 2004)"
        ))));
    }
    let beside = beside_neighbour(file)
        .filter(|(held, series)| *held <= COMMON_REQUEST * 2 && is_plain_millisecond(file, series))
        .min_by_key(|(held, _)| (*held - COMMON_REQUEST).0.saturating_abs());
    // A neighbour that happened to be there says the same.
    let by_chance = file
        .environment
        .nanos(FactName::TimerPeriodNow)
        .filter(|&now| now <= COMMON_REQUEST * 2)
        .and_then(|now| Some((now, sleep_as_found(file).ok()?)));
    let beside = beside.or(by_chance).filter(|(_, sleep)| judge(sleep).is_ok() || !requests_are_shared(file));
    if beside.is_none() && requests_are_shared(file) {
        let sentence = format!("on this build {build} a request of any process serves all of them, as it is set up");
        return Ok(Conclusion::Absent(of_build(sentence).rests_on(FactName::TimerRequestsPerProcess, "no")));
    }
    let (held, sleep) = beside.ok_or_else(|| not_measured(file, "a sleep beside a process that holds 1 ms (C3)"))?;
    judge(sleep)?;
    let (wait, whole) = (&sleep.subject, took(sleep));
    let requested = sleep.requested_ns.unwrap_or_default();
    let mut statement = of_build(format!("beside a process that holds {held} {wait} of {requested} took {whole}"))
        .rests_on(&sleep.key, summary(sleep));
    if !is_default_tick(file, whole) {
        statement.sentence.push_str(": its request serves this process too");
        if file.environment.flag(FactName::TimerGlobalRequests) == Some(true) {
            statement.sentence.push_str(" (GlobalTimerResolutionRequests is set)");
        }
        return Ok(Conclusion::Absent(statement));
    }
    if let Some(own) = sleep_with_a_millisecond(file) {
        statement.sentence.push_str(&format!(", with 1 ms requested by this process itself {}", took(own)));
        statement = statement.rests_on(&own.key, summary(own));
        if is_default_tick(file, took(own)) {
            statement.sentence.push_str(": what this process asks for itself changes nothing here either");
            return Ok(Conclusion::Absent(statement));
        }
    }
    statement.sentence.push_str(&format!(": on build {build} each process must ask for itself"));
    Ok(Conclusion::Found(statement))
}

/// Whether the system itself says that requests count for every process: Windows Server 2022, and the registry value.
fn requests_are_shared(file: &ResultFile) -> bool {
    file.environment.flag(FactName::TimerRequestsPerProcess) == Some(false)
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::Verdict;

    use super::super::super::super::testing::{Explained, Sheet};

    fn says(sheet: &Sheet, id: &str) -> (Verdict, String) {
        let finding = sheet.finding(id);
        (finding.verdict, finding.sentence)
    }

    fn raised(now: i64) -> Sheet {
        Sheet::windows().span(FactName::TimerPeriodDefault, 15_625_000).span(FactName::TimerPeriodNow, now)
    }

    #[test]
    fn a_neighbour_holds_a_finer_period() {
        assert_eq!(
            says(&raised(1_000_000), "OVS-W002"),
            (
                Verdict::Found,
                "the timer period is 1 ms although this process asked for nothing: another process holds it".into()
            )
        );
        assert_eq!(
            says(&raised(1_000_000).steady("B5/sleep/1ms", 950_000), "OVS-W002").1,
            "the timer period is 1 ms although this process asked for nothing: another process holds it; this process's \
             waits gain by it: sleep of 1 ms took 1.95 ms, and may take 15.6 ms once the other process ends"
        );
        assert_eq!(
            says(&raised(1_000_000).steady("B5/sleep/1ms", 14_990_000), "OVS-W002").1,
            "the timer period is 1 ms although this process asked for nothing: another process holds it; this process's \
             waits do not follow it: sleep of 1 ms took 16 ms"
        );
    }

    #[test]
    fn a_neighbour_of_our_own_shows_whom_a_request_serves() {
        let beside = |late| {
            raised(15_625_000)
                .steady("C3/sleep/1ms/neighbour=2ms", late)
                .steady("C3/sleep/1ms/neighbour=none", 14_600_000)
        };
        assert_eq!(
            says(&beside(1_000_000), "OVS-W002"),
            (
                Verdict::Found,
                "beside a process that holds 2 ms sleep of 1 ms took 2 ms instead of 15.6 ms: here a request of any process \
                 serves all of them"
                    .into()
            )
        );
        assert_eq!(says(&beside(14_990_000), "OVS-W002").0, Verdict::Absent, "since 2004 it follows its own request");
    }

    #[test]
    fn sleeps_that_cannot_be_judged_leave_it_open() {
        let few = raised(15_625_000)
            .steady("C3/sleep/1ms/neighbour=1ms", 950_000)
            .scarce("C3/sleep/1ms/neighbour=none", 14_600_000);
        assert_eq!(
            says(&few, "OVS-W002"),
            (Verdict::NotEnoughData, "C3/sleep/1ms/neighbour=none holds 3 values; a conclusion needs 30".into())
        );
        let wild = raised(15_625_000)
            .wild("C3/sleep/1ms/neighbour=1ms", 950_000)
            .steady("C3/sleep/1ms/neighbour=none", 14_600_000);
        assert_eq!(says(&wild, "OVS-W002").0, Verdict::TooDisturbed);
        assert_eq!(says(&wild.steady("C3/sleep/1ms/neighbour=2ms", 950_000), "OVS-W002").0, Verdict::Found);
        // What the system states needs no sleeps.
        let stated = raised(1_000_000)
            .steady("C3/sleep/1ms/neighbour=2ms", 950_000)
            .scarce("C3/sleep/1ms/neighbour=none", 950_000);
        assert_eq!(says(&stated, "OVS-W002").0, Verdict::Found);
    }

    #[test]
    fn no_neighbour_or_none_known() {
        assert_eq!(
            says(&raised(15_625_000), "OVS-W002"),
            (Verdict::Absent, "the timer period is the default, 15.6 ms: no process asks for a finer one".into())
        );
        assert_eq!(
            says(&Sheet::windows(), "OVS-W002"),
            (Verdict::NotEnoughData, "the timer period in force is not known (timer.period_now_ns)".into())
        );
    }

    #[test]
    fn each_process_asks_for_itself() {
        let beside = |late| {
            Sheet::windows()
                .integer(FactName::OsBuild, 19_045)
                .steady("C3/sleep/1ms/neighbour=1ms", late)
                .steady("C3/sleep/1ms/neighbour=none", 14_600_000)
        };
        assert_eq!(
            says(&beside(14_990_000).steady("C2/sleep/1ms/resolution=1ms", 950_000), "OVS-W003"),
            (
                Verdict::Found,
                "beside a process that holds 1 ms sleep of 1 ms took 16 ms, with 1 ms requested by this process itself \
                 1.95 ms: on build 19045 each process must ask for itself"
                    .into()
            )
        );
        assert_eq!(
            says(&beside(950_000).flag(FactName::TimerGlobalRequests, true), "OVS-W003"),
            (
                Verdict::Absent,
                "beside a process that holds 1 ms sleep of 1 ms took 1.95 ms: its request serves this process too \
                 (GlobalTimerResolutionRequests is set)"
                    .into()
            )
        );
        let ignored = says(&beside(14_990_000).steady("C2/sleep/1ms/resolution=1ms", 14_600_000), "OVS-W003");
        assert_eq!(ignored.0, Verdict::Absent);
        assert!(ignored.1.ends_with("itself 15.6 ms: what this process asks for itself changes nothing here either"));
        let chance = raised(1_000_000).integer(FactName::OsBuild, 22_631).steady("B5/sleep/1ms", 14_990_000);
        assert_eq!(
            says(&chance, "OVS-W003").1,
            "beside a process that holds 1 ms sleep of 1 ms took 16 ms: on build 22631 each process must ask for itself"
        );
    }

    #[test]
    fn older_builds_missing_data_and_disturbance() {
        assert_eq!(
            says(&Sheet::windows().integer(FactName::OsBuild, 18_363), "OVS-W003"),
            (
                Verdict::Absent,
                "on build 18363 a request of any process serves all of them (until build 19041, Windows 10 2004)"
                    .into()
            )
        );
        assert_eq!(
            says(&Sheet::windows().integer(FactName::OsBuild, 19_045), "OVS-W003"),
            (
                Verdict::NotEnoughData,
                "a sleep beside a process that holds 1 ms (C3) was not measured in this run".into()
            )
        );
        assert_eq!(
            says(&Sheet::windows(), "OVS-W003"),
            (Verdict::NotEnoughData, "the build of Windows is not known (os.build)".into())
        );
        // What the system says of itself needs no measuring, but what was measured counts for more.
        let shared =
            || Sheet::windows().integer(FactName::OsBuild, 20_348).flag(FactName::TimerRequestsPerProcess, false);
        assert_eq!(
            says(&shared(), "OVS-W003"),
            (
                Verdict::Absent,
                "on this build 20348 a request of any process serves all of them, as it is set up".into()
            )
        );
        assert_eq!(says(&shared().scarce("C3/sleep/1ms/neighbour=1ms", 950_000), "OVS-W003").0, Verdict::Absent);
        let contrary = shared().steady("C3/sleep/1ms/neighbour=1ms", 14_990_000);
        assert_eq!(says(&contrary, "OVS-W003").0, Verdict::Found);
        let wild = Sheet::windows().integer(FactName::OsBuild, 19_045).wild("C3/sleep/1ms/neighbour=1ms", 14_990_000);
        assert_eq!(says(&wild, "OVS-W003").0, Verdict::TooDisturbed);
    }
}
