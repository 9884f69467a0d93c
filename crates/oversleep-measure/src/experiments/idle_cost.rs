//! C5: wake-ups per second, and their cost in idle time and power.

use oversleep_record::conditions::{Held, Setting};
use oversleep_record::label::{self, Activity, Counted};
use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Labels, Nanos, Unavailable};
use oversleep_system::{Platform, Target, WaitEnd, Waiter};

use super::interrupts::record_or_refuse as record;
use super::{choose, interrupts};
use crate::bench::Bench;
use crate::experiment::{Column, Experiment};
use crate::plan::{Depth, Limit, Plan};
use crate::probe::Probe;
use crate::recorder::SeriesRecorder;
use crate::still::{Reads, StillClock};

pub(super) static C5: Experiment = Experiment {
    id: ExperimentId::C5,
    title: "what a resolution costs",
    question: "How many wake-ups per second, how much idle time and how much power does a timer resolution cost?",
    method: "One thread holds nothing, and then each setting of the resolution tunable: first while it sleeps through \
             the whole window, which shows what holding alone costs, then while it sleeps 1 ms repeatedly. Timer \
             interrupts of all CPUs and the thread's own wake-ups are counted per second; if the system doesn't \
             count timer interrupts separately, interrupts of every kind are counted. If the system reports them, \
             the time per second and CPU in each idle state and the power of the processor packages are recorded too. \
             Other programs are part of every figure, so compare settings instead of single figures.",
    quantities: &[Quantity::WakeupsPerSecond, Quantity::IdleResidency, Quantity::Power],
    columns: &[
        Column { name: label::HELD.name(), meaning: "The setting that the thread holds." },
        Column { name: label::ACTIVITY.name(), meaning: "idle (one long sleep) or sleeping (1 ms repeatedly)." },
        Column {
            name: label::COUNTED.name(),
            meaning: "Timer interrupts, wake-ups, time in an idle state (residency), or power.",
        },
        Column {
            name: label::INTERRUPT_KIND.name(),
            meaning: "all-kinds if the system counts interrupts of every kind together.",
        },
    ],
    depth: Depth::Thorough,
    probes,
    ..Experiment::BLANK
};

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(resolution) = platform.resolution_tunable() else { return Vec::new() };
    let Some(sleep) = choose::simplest_sleep(platform) else { return Vec::new() };
    let mut settings = vec![None];
    settings.extend(resolution.settings_to_compare().into_iter().map(Some));
    let rounds = plan.depth.pick(1, 2, 10);
    let window = match plan.limit {
        Some(Limit::Time(time)) => Nanos(time.0 / i64::from(rounds)),
        _ => plan.depth.pick(Nanos::from_millis(200), Nanos::from_millis(400), Nanos::from_secs(2)),
    };
    let states: Vec<String> = match platform.idle_counters().states {
        Ok(states) => states.into_iter().map(|state| state.name).collect(),
        // A single series has the reason.
        Err(_) => vec!["idle".to_owned()],
    };
    let common = Common { tunable: resolution.info().name, sleep: sleep.name, states, window, rounds };
    let mut probes: Vec<Box<dyn Probe>> = Vec::new();
    for setting in &settings {
        for activity in [Activity::Idle, Activity::Sleeping] {
            probes.push(Box::new(IdleCost::new(&common, setting.as_ref(), activity, plan)));
        }
    }
    probes
}

/// The common part of all probes.
struct Common {
    tunable: &'static str,
    sleep: &'static str,
    states: Vec<String>,
    window: Nanos,
    rounds: u32,
}

struct IdleCost {
    sleep: &'static str,
    activity: Activity,
    held: Held,
    interrupts: SeriesRecorder,
    wakeups: SeriesRecorder,
    /// By the state's name.
    residency: Vec<(String, SeriesRecorder)>,
    power: SeriesRecorder,
    window: Nanos,
    rounds: u32,
    conditions: Conditions,
}

impl IdleCost {
    fn new(common: &Common, setting: Option<&Setting>, activity: Activity, plan: &Plan) -> IdleCost {
        let &Common { tunable, sleep, window, rounds, ref states } = common;
        let held = setting.map_or(Held::AsFound, |setting| Held::Setting(setting.clone()));
        let conditions = match setting {
            Some(setting) => plan.conditions_and(Conditions::as_found().with(tunable, setting.clone())),
            None => plan.conditions.clone(),
        };
        let recorder = |subject: &str, quantity, unit, counted| {
            let mut series = Series::new(C5.id, subject, quantity, unit);
            series.key = series.key.word(counted).word(activity).named(tunable, &held);
            series.conditions = conditions.clone();
            series.labels = Labels::new()
                .with(label::ACTIVITY, activity)
                .with(label::COUNTED, counted)
                .with(label::HELD, held.clone());
            SeriesRecorder::new(series, u64::from(rounds))
        };
        let state =
            |name: &String| (name.clone(), recorder(name, Quantity::IdleResidency, Unit::Ns, Counted::Residency));
        IdleCost {
            interrupts: recorder(sleep, Quantity::WakeupsPerSecond, Unit::Hz, Counted::Interrupts),
            wakeups: recorder(sleep, Quantity::WakeupsPerSecond, Unit::Hz, Counted::Wakeups),
            residency: states.iter().map(state).collect(),
            power: recorder("packages", Quantity::Power, Unit::Mw, Counted::Power),
            sleep,
            activity,
            held,
            window,
            rounds,
            conditions,
        }
    }

    /// Waits through the window, and returns the number of the thread's wake-ups in it.
    fn wait_through(&self, bench: &Bench, waiter: &mut dyn Waiter) -> Result<u64, Unavailable> {
        let platform = bench.platform();
        let end = platform.now() + self.window;
        let mut wakeups = 0;
        let mut still = StillClock::default();
        loop {
            let now = platform.now();
            bench.note(&mut still, now, Reads::of(Nanos::from_millis(1)));
            if now >= end || bench.stopped() {
                return Ok(wakeups);
            }
            let remaining = match self.activity {
                // Ctrl-C ends the run within half a second.
                Activity::Idle => (end - now).min(Nanos::from_millis(500)),
                Activity::Sleeping => (end - now).min(Nanos::from_millis(1)),
            };
            if let WaitEnd::Failed(reason) = waiter.wait(Target { remaining, deadline: now + remaining }) {
                return Err(reason);
            }
            wakeups += 1;
        }
    }
}

impl Probe for IdleCost {
    fn label(&self) -> String {
        format!("{} at {}", self.activity, self.held)
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn round_estimate(&self) -> Nanos {
        self.window + Nanos::from_millis(2)
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        let platform = bench.platform();
        let opened = bench.open_wait(self.sleep);
        let (idle_before, before) = (platform.idle_counters(), platform.counters());
        let wakeups = opened.and_then(|mut waiter| self.wait_through(bench, &mut *waiter));
        let (after, idle_after) = (platform.counters(), platform.idle_counters());
        if bench.stopped() {
            return Ok(());
        }
        let wakeups = wakeups?;
        let seen = before.until(&after);
        let at = bench.since_origin(bench.stamp());
        interrupts::record(&mut self.interrupts, at, &seen);
        record(&mut self.wakeups, at, interrupts::per_second(wakeups, seen.window_ns));
        for (state, recorder) in &mut self.residency {
            record(recorder, at, idle_before.residency(&idle_after, state).map(|share| share.0));
        }
        record(&mut self.power, at, idle_before.power_mw(&idle_after));
        let clock = platform.reference_clock();
        self.recorders().into_iter().for_each(|recorder| clock.clone_into(&mut recorder.series_mut().clock));
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        let residency = self.residency.iter_mut().map(|(_, recorder)| recorder);
        [&mut self.interrupts, &mut self.wakeups].into_iter().chain(residency).chain([&mut self.power]).collect()
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim};
    use oversleep_record::series::Status;

    use super::*;
    use crate::testing;

    #[test]
    fn holding_alone_wakes_nobody_and_sleeping_wakes_as_the_setting_says() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::SlackPlus(Nanos(14_000)));
        let sim = Sim::start(machine.build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        let per_second = |activity: &str, held: &str| {
            let key = format!("C5/nanosleep/wakeups/{activity}/slack={held}");
            let series = measured.series.iter().find(|series| series.key == key).expect("it was measured");
            assert_eq!(series.counts.recorded, 2);
            series.distribution.p50().expect("two rounds")
        };
        assert_eq!(per_second("idle", "as-found"), 2, "one pause of 400 ms");
        // One wake-up per 1 ms + slack + 14 µs.
        assert!((975..=990).contains(&per_second("sleeping", "1ns")), "{}", per_second("sleeping", "1ns"));
        assert!((815..=830).contains(&per_second("sleeping", "200us")), "{}", per_second("sleeping", "200us"));
    }

    #[test]
    fn what_can_not_be_read_has_its_reason_and_no_value() {
        let sim = Sim::start(testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(1))).build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        let power = measured.series.iter().filter(|series| series.quantity == Quantity::Power);
        assert!(power.clone().count() > 0);
        for series in power {
            assert!(!series.has_values() && matches!(series.status, Status::Unavailable { .. }), "{}", series.key);
        }
    }
}
