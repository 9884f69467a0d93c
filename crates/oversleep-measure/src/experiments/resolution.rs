//! C1 and C2: what the system states about its timer resolution, and the effect of holding another one.

use oversleep_record::conditions::Setting;
use oversleep_record::series::{Pace, Quantity};
use oversleep_record::{Conditions, ExperimentId, Nanos};
use oversleep_system::{Family, Platform, Scope, Tunable};

use super::choose;
use crate::amount::Amount;
use crate::experiment::{Column, Command, Experiment};
use crate::plan::{Depth, Plan};
use crate::probe::Probe;
use crate::wait_probe::WaitProbe;

pub(super) static C1: Experiment = Experiment {
    id: ExperimentId::C1,
    title: "resolution as the system states it",
    question: "What does the system state about its timer resolution?",
    method: "This experiment lists facts and measures nothing. On Linux: the timer slack of this thread and its \
             default, HZ, whether high-resolution timers run, the clocksource and whether the vDSO serves it. On \
             Windows: the minimum, maximum and current period of NtQueryTimerResolution. On macOS: the coalescing \
             tier. C2 and B5 show their effect on waits.",
    ..Experiment::BLANK
};

pub(super) static C2: Experiment = Experiment {
    id: ExperimentId::C2,
    title: "holding a resolution",
    question: "What does a different timer resolution do to this process's waits?",
    method: "The measuring thread holds each setting of the resolution tunable (timer slack on Linux) for a round, \
             requests 1 ms of the simplest sleep, one poll and one timer, and restores the former setting; rounds of \
             all settings are interleaved. If the setting is the period of a timer interrupt, a thorough run takes \
             every millisecond from 1 to 15. A wait that follows the setting moves with it; one that ignores it \
             doesn't: timerfd, POSIX timers, message queues and io_uring ignore slack.",
    quantities: &[Quantity::Lateness],
    columns: &[Column { name: "held", meaning: "The setting that the measuring thread holds." }],
    commands: &[Command::ResolutionSweep],
    probes,
    ..Experiment::BLANK
};

pub(super) static C7: Experiment = Experiment {
    id: ExperimentId::C7,
    title: "what changes while the machine is used",
    question: "When does the granted resolution change, and what does that do to clocks and sleeps here?",
    method: "`oversleep resolution watch` runs it, for as long as you like. This process requests nothing. Once a second \
             it reads the granted resolution, polls one step of a coarse clock and of a clock that follows the timer \
             interrupt, and sleeps 1 ms eight times; every fifth time it reads the facts that decide how timers end. A \
             sleep or a step has changed when two looks in a row differ from the level before by more than 15 % and 0.2 \
             ms. On a model, or here, neighbours may come and go by a script.",
    quantities: &[Quantity::StatedResolution, Quantity::Step, Quantity::Lateness],
    commands: &[Command::ResolutionWatch],
    ..Experiment::BLANK
};

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(resolution) = platform.resolution_tunable() else { return Vec::new() };
    let name = resolution.info().name;
    let mut waits = choose::first_of_each(platform, &[Family::Sleep, Family::Poll, Family::Timer]);
    if !plan.subjects.is_empty() {
        waits.clone_from(&plan.subjects);
    }
    let amount = Amount {
        count: plan.depth.pick(15, 30, 500),
        time: plan.depth.pick(Nanos::from_millis(200), Nanos::from_millis(500), Nanos::from_secs(10)),
        rounds: 3,
    }
    .limited_by(plan);
    let mut probes = Vec::new();
    for setting in settings(resolution, plan) {
        for wait in &waits {
            for requested in plan.requests_or(&[Nanos::from_millis(1)]) {
                let conditions = plan.conditions_and(Conditions::as_found().with(name, setting.clone()));
                probes.push(
                    WaitProbe::new(platform, C2.id, wait, requested, amount)
                        .keyed(|key| key.setting(name, &setting))
                        // On a schedule, slack beyond the period would miss every other deadline.
                        .paced(Pace::BackToBack)
                        .under(conditions)
                        .boxed(),
                );
            }
        }
    }
    probes
}

/// The settings that the user named; else those worth comparing, and in a thorough run every millisecond of a timer
/// that processes share.
fn settings(resolution: &dyn Tunable, plan: &Plan) -> Vec<Setting> {
    if !plan.settings.is_empty() {
        return plan.settings.clone();
    }
    let mut settings = resolution.settings_to_compare();
    let is_shared_timer =
        resolution.info().scope != Scope::Thread && settings.iter().all(|setting| matches!(setting, Setting::Nanos(_)));
    if is_shared_timer && plan.depth == Depth::Thorough {
        let each = (1..=15).map(|ms| Setting::Nanos(Nanos::from_millis(ms)));
        settings.extend(each.filter(|setting| resolution.validate(setting).is_ok()));
        settings.sort_by(|a, b| b.cmp(a));
        settings.dedup();
    }
    settings
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim};

    use super::*;
    use crate::testing;
    use crate::ticking;

    #[test]
    fn a_thorough_run_and_the_user_choose_other_settings() {
        let machine = ticking::machine();
        let platform: &dyn Platform = &machine;
        let resolution = platform.resolution_tunable().expect("it has one");
        let of = |plan: &Plan| -> Vec<String> { settings(resolution, plan).iter().map(Setting::as_typed).collect() };
        let normal = of(&Plan::default());
        let thorough = of(&Plan { depth: Depth::Thorough, ..Plan::default() });
        assert!(normal.len() < 15 && normal.iter().all(|setting| thorough.contains(setting)), "{thorough:?}");
        assert!((1..=15).all(|ms| thorough.contains(&format!("{ms}ms"))), "{thorough:?}");
        let chosen = vec![Setting::Nanos(Nanos::from_millis(3))];
        assert_eq!(of(&Plan { settings: chosen, depth: Depth::Thorough, ..Plan::default() }), ["3ms"]);
    }

    #[test]
    fn a_wait_that_follows_slack_moves_with_it() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::SlackPlus(Nanos(14_000)));
        let sim = Sim::start(machine.build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        let p50 = |slack: &str| {
            let key = format!("C2/nanosleep/1ms/slack={slack}");
            let series = measured.series.iter().find(|series| series.key == key).expect(slack);
            Nanos(series.distribution.p50().unwrap()).round_down_to(Nanos(1_000))
        };
        assert_eq!(p50("1ns"), Nanos(14_000));
        assert_eq!(p50("50us"), Nanos(64_000));
        assert_eq!(p50("200us"), Nanos(214_000));
    }
}
