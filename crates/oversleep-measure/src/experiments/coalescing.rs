//! C6: the number of interrupts that many timers cost as slack grows.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use oversleep_record::conditions::Setting;
use oversleep_record::label::{self, Counted};
use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Nanos, Unavailable};
use oversleep_system::{Platform, SharedPlatform, Target, ThreadHandle, Wait, WaitEnd, Waiter};

use super::{choose, interrupts};
use crate::bench::Bench;
use crate::experiment::{Column, Experiment};
use crate::plan::Plan;
use crate::probe::Probe;
use crate::recorder::SeriesRecorder;

pub(super) static C6: Experiment = Experiment {
    id: ExperimentId::C6,
    title: "coalescing",
    question: "How many timer interrupts per second do many independent timers cost as slack grows?",
    method: "Eight threads sleep 1 ms repeatedly, each at its own phase, all with the same slack or holding the \
             same resolution. The timer interrupts of all CPUs are counted over a round and given per second, beside \
             the wake-ups of the threads; if the system doesn't count timer interrupts separately, interrupts of \
             every kind are counted. With little slack every thread has an interrupt of its own; the more slack, the \
             more of them share one. That is what slack buys, and what lowering it for every thread of a system would \
             cost in power. If the slack is an argument of a timer (Windows' tolerable delay), oversleep does the \
             same with that timer as its tolerance grows.",
    quantities: &[Quantity::WakeupsPerSecond],
    columns: &[
        Column {
            name: label::COUNTED.name(),
            meaning: "Timer interrupts of all CPUs, or wake-ups of the eight threads.",
        },
        Column {
            name: label::INTERRUPT_KIND.name(),
            meaning: "all-kinds if the system counts interrupts of every kind together.",
        },
        Column { name: label::THREADS.name(), meaning: "How many threads sleep." },
        Column { name: label::TOLERANCE.name(), meaning: "The delay that the timer was told to tolerate." },
    ],
    probes,
    ..Experiment::BLANK
};

const THREADS: usize = 8;

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(sleep) = choose::simplest_sleep(platform) else { return Vec::new() };
    let held = platform.resolution_tunable().into_iter().flat_map(|resolution| {
        let name = resolution.info().name;
        resolution.settings_to_compare().into_iter().map(move |setting| (sleep.name, Slack::Held(name, setting)))
    });
    let tolerated = platform.waits().iter().flat_map(|wait| {
        let name = wait.info().name;
        wait.tolerances_to_compare().into_iter().map(move |tolerance| (name, Slack::Tolerated(tolerance)))
    });
    held.chain(tolerated)
        .map(|(wait, slack)| -> Box<dyn Probe> { Box::new(Coalescing::new(sleep.name, wait, slack, plan)) })
        .collect()
}

/// The reason why several timers may end together.
#[derive(Clone)]
enum Slack {
    /// A setting of the resolution tunable of that name.
    Held(&'static str, Setting),
    /// A tolerable delay, passed to the wait itself.
    Tolerated(Nanos),
}

impl Slack {
    fn held(&self) -> Option<&Setting> {
        match self {
            Slack::Held(_, setting) => Some(setting),
            Slack::Tolerated(_) => None,
        }
    }

    fn open(&self, wait: &dyn Wait, platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        match self {
            Slack::Held(..) => wait.open(platform),
            Slack::Tolerated(tolerance) => wait.open_tolerating(platform, *tolerance),
        }
    }
}

impl fmt::Display for Slack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slack::Held(name, setting) => write!(f, "{name}={}", setting.as_typed()),
            Slack::Tolerated(tolerance) => write!(f, "tolerance={}", tolerance.as_typed()),
        }
    }
}

struct Coalescing {
    /// The wait that the measuring thread is in for the round.
    pause: &'static str,
    /// The wait that the sleepers are in.
    wait: &'static str,
    slack: Slack,
    interrupts: SeriesRecorder,
    wakeups: SeriesRecorder,
    window: Nanos,
    rounds: u32,
    conditions: Conditions,
}

impl Coalescing {
    fn new(pause: &'static str, wait: &'static str, slack: Slack, plan: &Plan) -> Coalescing {
        let (conditions, window) = match &slack {
            Slack::Held(name, setting) => (
                plan.conditions_and(Conditions::as_found().with(name, setting.clone())),
                plan.depth.pick(Nanos::from_millis(40), Nanos::from_millis(60), Nanos::from_secs(1)),
            ),
            // A tolerance shows only beyond a tick, so there are few ends to count, and they take longer.
            Slack::Tolerated(_) => (
                plan.conditions.clone(),
                plan.depth.pick(Nanos::from_millis(125), Nanos::from_millis(250), Nanos::from_secs(1)),
            ),
        };
        let recorder = |counted| {
            let mut series = Series::new(C6.id, wait, Quantity::WakeupsPerSecond, Unit::Hz);
            series.key = series.key.word(&slack).word(counted);
            series.requested_ns = Some(Nanos::from_millis(1));
            series.conditions = conditions.clone();
            series.labels.set(label::THREADS, THREADS as u64);
            series.labels.set(label::COUNTED, counted);
            if let Slack::Tolerated(tolerance) = &slack {
                series.labels.set(label::TOLERANCE, *tolerance);
            }
            SeriesRecorder::new(series, 16)
        };
        Coalescing {
            interrupts: recorder(Counted::Interrupts),
            wakeups: recorder(Counted::Wakeups),
            rounds: plan.depth.pick(1, 1, 10),
            pause,
            wait,
            slack,
            window,
            conditions,
        }
    }

    /// Starts the sleepers. Each applies the setting itself, because not every system passes it on to new threads.
    fn start(
        &self,
        bench: &Bench,
        over: &Arc<AtomicBool>,
        wakeups: &Arc<AtomicU64>,
    ) -> Result<Vec<Box<dyn ThreadHandle>>, Unavailable> {
        let mut sleepers = Vec::with_capacity(THREADS);
        for _ in 0..THREADS {
            let (platform, over_there, wakeups) =
                (Arc::clone(bench.shared_platform()), Arc::clone(over), Arc::clone(wakeups));
            let (wait, slack) = (self.wait, self.slack.clone());
            let body = Box::new(move || {
                let resolution = platform.resolution_tunable().zip(slack.held());
                let _held = resolution.map(|(resolution, setting)| resolution.apply(setting));
                let Some(mut waiter) = platform.wait(wait).and_then(|wait| slack.open(wait, &platform).ok()) else {
                    return;
                };
                while !over_there.load(Ordering::Relaxed) {
                    let remaining = Nanos::from_millis(1);
                    let ended = waiter.wait(Target { remaining, deadline: platform.now() + remaining });
                    if matches!(ended, WaitEnd::Failed(_)) {
                        return;
                    }
                    wakeups.fetch_add(1, Ordering::Relaxed);
                }
            });
            match bench.platform().spawn("sleeper", body) {
                Ok(sleeper) => sleepers.push(sleeper),
                Err(reason) => {
                    end(over, sleepers);
                    return Err(reason);
                }
            }
        }
        Ok(sleepers)
    }
}

fn end(over: &AtomicBool, sleepers: Vec<Box<dyn ThreadHandle>>) {
    over.store(true, Ordering::Relaxed);
    sleepers.into_iter().for_each(|sleeper| sleeper.join());
}

impl Probe for Coalescing {
    fn label(&self) -> String {
        format!("{THREADS} sleepers at {}", self.slack)
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn round_estimate(&self) -> Nanos {
        self.window + Nanos::from_millis(3)
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        let platform = bench.platform();
        let (over, woken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let shared = bench.shared_platform();
        let mut pause = bench.open_wait(self.pause)?;
        // Opened once here, because the sleepers have no series to record a reason in.
        let wait = platform.wait(self.wait).ok_or(Unavailable::NotOnThisPlatform);
        wait.and_then(|wait| self.slack.open(wait, shared).map(drop))?;
        let sleepers = self.start(bench, &over, &woken)?;
        let (before, woken_before) = (platform.counters(), woken.load(Ordering::Relaxed));
        pause.wait(Target { remaining: self.window, deadline: platform.now() + self.window });
        let (after, woken_after) = (platform.counters(), woken.load(Ordering::Relaxed));
        end(&over, sleepers);
        if bench.stopped() {
            return Ok(());
        }

        let seen = before.until(&after);
        let at = bench.since_origin(bench.stamp());
        interrupts::record(&mut self.interrupts, at, &seen);
        let rate = interrupts::per_second(woken_after - woken_before, seen.window_ns);
        interrupts::record_or_refuse(&mut self.wakeups, at, rate);
        for recorder in [&mut self.interrupts, &mut self.wakeups] {
            recorder.series_mut().clock = platform.reference_clock().to_owned();
        }
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        vec![&mut self.interrupts, &mut self.wakeups]
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Reach, Sim, Tick, TickBase};
    use oversleep_record::label;
    use oversleep_system::SlackRule;

    use super::*;
    use crate::plan::Depth;
    use crate::testing;

    #[test]
    fn slack_lets_timers_share_interrupts() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::SlackPlus(Nanos(14_000)));
        let sim = Sim::start(machine.build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        let per_second = |slack: &str, counted: &str| {
            let key = format!("C6/nanosleep/slack={slack}/{counted}");
            measured.series.iter().find(|series| series.key == key).unwrap().distribution.p50().unwrap()
        };
        // Eight threads, one wake-up per 1 ms + slack + 14 µs.
        assert!((7_700..=7_900).contains(&per_second("1ns", "wakeups")), "{}", per_second("1ns", "wakeups"));
        assert!((7_700..=7_900).contains(&per_second("1ns", "interrupts")), "each timer has its own");
        assert!((3_800..=3_950).contains(&per_second("1ms", "wakeups")), "{}", per_second("1ms", "wakeups"));
        // Four of the threads are on each of the two CPUs.
        assert!(per_second("1ms", "interrupts") < per_second("1ms", "wakeups") / 3, "they share");
    }

    #[test]
    fn what_a_timer_tolerates_is_swept_where_its_call_takes_it() {
        let mut machine = testing::machine().with_wait("timer", Overshoot::ByRule).build();
        machine.timing.tick = Some(Tick {
            default_ns: Nanos(15_625_000),
            shortest_ns: Nanos(500_000),
            timer_hz: None,
            base: TickBase::Call,
            p_two_tick: 1.0,
            margin_ns: Nanos::ZERO,
            ends_waits: true,
            held_ns: Nanos::ZERO,
            reach: Reach::Everyone,
            drops_hidden: false,
            is_hidden: false,
        });
        let timer = machine.waits.iter().position(|wait| wait.info.name == "timer").expect("just added");
        machine.waits[timer].info.slack = SlackRule::TimerResolution;
        let without = Sim::start(machine.clone());
        let tolerates = |series: &&Series| series.label(label::TOLERANCE).is_some();
        let measured = testing::measure_on(without.clone(), probes(&*without, &Plan::default()));
        assert_eq!(measured.series.iter().filter(tolerates).count(), 0);

        machine.waits[timer].tolerance_ns = Nanos::from_millis(5);
        let sim = Sim::start(machine);
        let plan = Plan { depth: Depth::Thorough, ..Plan::default() };
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &plan));
        let per_second = |tolerance: &str, counted: &str| {
            let key = format!("C6/timer/tolerance={tolerance}/{counted}");
            let series = measured.series.iter().find(|series| series.key == key).unwrap_or_else(|| panic!("{key}"));
            assert!(series.conditions.is_as_found());
            series.distribution.p50().expect("ten windows")
        };
        // Eight threads, woken by each tick; by every other one where two ticks may pass, by every sixth where six.
        for (tolerance, wakeups) in [("0ns", 8 * 64), ("16ms", 8 * 64), ("32ms", 8 * 32), ("100ms", 8 * 64 / 6)] {
            assert!((per_second(tolerance, "wakeups") - wakeups).abs() <= 8, "{}", per_second(tolerance, "wakeups"));
            assert_eq!(per_second(tolerance, "interrupts"), 2 * 64, "the tick of two CPUs goes on");
        }
    }
}
