//! Which remedies are worth trying after the first pass, on which waits.

use oversleep_record::{Conditions, FactName, Nanos, ResultFile};

use super::read::{COMMON_REQUEST, is_real_time, sleeps_of, wait_series, wine_version};
use super::remedies::{self, Harmless};

/// Slack below which lowering it can't be told from noise.
const SLACK_WORTH: Nanos = Nanos(1_000);

/// One remedy to try: its waits are measured without it and with it, round by round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemedyTrialSpec {
    /// The remedy's id.
    pub remedy: &'static str,
    /// The conditions it consists of.
    pub conditions: Conditions,
    /// Registry names of the waits to try it on.
    pub waits: Vec<String>,
    /// What to ask for.
    pub requested: Nanos,
}

/// The remedies worth trying, given what the first pass found. Only harmless ones: they concern the laboratory's own
/// threads and are undone. One that the system may refuse is tried all the same; the refusal is an answer too.
pub fn remedies_to_try(file: &ResultFile) -> Vec<RemedyTrialSpec> {
    let mut specs = Vec::new();
    let mut add = |remedy: &'static str, waits: Vec<String>| {
        let entry = remedies::get(remedy).filter(|entry| entry.scope.covers(file));
        if let Some(Harmless::TryHere(conditions)) = entry.map(|entry| entry.harmless)
            && !waits.is_empty()
        {
            specs.push(RemedyTrialSpec { remedy, conditions: conditions(), waits, requested: COMMON_REQUEST });
        }
    };
    let environment = &file.environment;
    let sleep: Vec<String> = first_measured(file, sleeps_of(file)).into_iter().collect();
    match file.platform.os.as_str() {
        "linux" => {}
        // What Wine grants says nothing about Windows.
        "windows" if wine_version(file).is_none() => {
            add("request-timer-resolution", sleep);
            return specs;
        }
        "macos" => {
            add("time-constraint-policy", sleep);
            return specs;
        }
        _ => return specs,
    }
    let real_time_already = environment.text(FactName::SchedPolicy).is_some_and(is_real_time);
    let slack = environment.nanos(FactName::TimerSlack);
    if !real_time_already && slack.is_none_or(|slack| slack >= SLACK_WORTH) {
        let kinds: [&[&str]; 3] = [sleeps_of(file), &["futex", "cond-timedwait"], &["epoll-pwait2", "ppoll", "poll"]];
        add("lower-timer-slack", kinds.iter().filter_map(|kind| first_measured(file, kind)).collect());
    }
    if !real_time_already && environment.flag(FactName::SchedRtPermitted) == Some(true) {
        add("real-time-policy", sleep);
    }
    specs
}

fn first_measured(file: &ResultFile, waits: &[&str]) -> Option<String> {
    waits.iter().find(|wait| wait_series(file, wait).is_some()).map(|wait| (*wait).to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Sheet;
    use super::*;

    fn tried(sheet: &Sheet) -> Vec<(&'static str, String, String)> {
        let specs = remedies_to_try(&sheet.file);
        specs.into_iter().map(|spec| (spec.remedy, spec.conditions.to_string(), spec.waits.join(" "))).collect()
    }

    #[test]
    fn tries_what_the_machine_gives_reason_to() {
        let sheet = Sheet::linux()
            .span(FactName::TimerSlack, 50_000)
            .flag(FactName::SchedRtPermitted, true)
            .list(FactName::CpuidleStates, &["C1 2us", "C6 133us"])
            .span(FactName::CpuidleDeepestExitLatency, 133_000)
            .steady("B5/clock-nanosleep/1ms", 66_000)
            .steady("B5/futex/1ms", 66_000)
            .steady("B5/poll/1ms", 66_000);
        assert_eq!(
            tried(&sheet),
            [
                ("lower-timer-slack", "slack=1 ns".into(), "clock-nanosleep futex poll".into()),
                ("real-time-policy", "policy=fifo:1".into(), "clock-nanosleep".into()),
            ],
            "idle states are the whole machine's, not the laboratory's"
        );
    }

    #[test]
    fn nothing_of_a_linux_kernel_is_tried_or_advised_where_windows_translates_the_calls() {
        let linux = || Sheet::linux().span(FactName::TimerSlack, 50_000).steady("B5/nanosleep/1ms", 66_000);
        assert_eq!(tried(&linux().text(FactName::VirtualisationWsl, "wsl2")).len(), 1, "WSL 2 runs a Linux kernel");
        let wsl1 = linux().text(FactName::VirtualisationWsl, "wsl1").flag(FactName::SchedRtPermitted, true);
        assert!(tried(&wsl1).is_empty());
        let kernel = ["lower-timer-slack", "real-time-policy", "use-tsc-clocksource", "performance-governor"];
        assert!(kernel.iter().all(|id| !remedies::get(id).unwrap().scope.covers(&wsl1.file)));
    }

    #[test]
    fn tries_nothing_without_a_reason() {
        let exact = Sheet::linux()
            .span(FactName::TimerSlack, 1)
            .flag(FactName::SchedRtPermitted, false)
            .list(FactName::CpuidleStates, &[])
            .steady("B5/nanosleep/1ms", 14_000);
        assert_eq!(tried(&exact), []);
        let real_time = Sheet::linux()
            .span(FactName::TimerSlack, 50_000)
            .text(FactName::SchedPolicy, "fifo:80")
            .flag(FactName::SchedRtPermitted, true)
            .steady("B5/nanosleep/1ms", 14_000);
        assert_eq!(tried(&real_time), []);
        assert_eq!(tried(&Sheet::linux().span(FactName::TimerSlack, 50_000)), [], "no wait was measured");
    }

    #[test]
    fn other_systems_are_tried_with_their_own_remedies() {
        let windows = || Sheet::windows().steady("B5/sleep/1ms", 14_600_000);
        let asked = ("request-timer-resolution", "resolution=1 ms".to_owned(), "sleep".to_owned());
        assert_eq!(tried(&windows()), [asked]);
        assert_eq!(tried(&windows().text(FactName::OsWineVersion, "8.0")), []);
        let macos = Sheet::macos().steady("B5/nanosleep/1ms", 265_000);
        let real_time = ("time-constraint-policy", "policy=time-constraint".to_owned(), "nanosleep".to_owned());
        assert_eq!(tried(&macos), [real_time]);
        assert_eq!(tried(&Sheet::on("haiku").steady("B5/nanosleep/1ms", 265_000)), []);
    }
}
