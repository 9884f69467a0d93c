//! C6: many timers, and how many interrupts they cost as slack grows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use oversleep_record::conditions::Setting;
use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_record::{Conditions, Nanos, Unavailable};

use super::choose;
use crate::measure::bench::Bench;
use crate::measure::plan::Plan;
use crate::measure::probe::{Measured, Probe};
use crate::measure::recorder::SeriesRecorder;
use crate::measure::registry::{Experiment, Published};
use crate::measure::wait_probe::setting_key;
use crate::platform::{Platform, Target, ThreadHandle};

pub(super) static C6: Experiment = Experiment {
    id: "C6",
    reads: &[],
    title: "coalescing",
    question: "How many timer interrupts per second do many independent timers cost as slack grows?",
    doc: "Eight threads sleep 1 ms over and over, each on its own phase, all with the same slack; the timer interrupts of \
          all CPUs are counted over a round and given per second, beside the wake-ups the threads saw. With little slack \
          every thread has an interrupt of its own; the more slack, the more of them share one. That is what slack buys, \
          and what lowering it for every thread of a system would cost in power.",
    published: &[Published {
        os: "linux",
        what: "default timer slack",
        value: "50 us",
        source: "prctl(2), PR_SET_TIMERSLACK",
    }],
    probes,
};

const THREADS: usize = 8;

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(sleep) = choose::plain_sleep(platform) else { return Vec::new() };
    let Some(resolution) = platform.resolution_tunable() else { return Vec::new() };
    let name = resolution.info().name;
    resolution
        .settings_to_compare()
        .into_iter()
        .map(|setting| -> Box<dyn Probe> {
            let shown = setting_key(&setting);
            let recorder = |counted: &str| {
                let mut series = Series::new("C6", sleep.name, Quantity::WakeupsPerSecond, Unit::Hz);
                series.key = format!("C6/{}/{name}={shown}/{counted}", sleep.name);
                series.requested_ns = Some(Nanos::from_millis(1));
                series.conditions = plan.conditions_and(Conditions::as_found().with(name, setting.clone()));
                series.labels.insert("threads".to_owned(), THREADS.to_string());
                series.labels.insert("counted".to_owned(), counted.to_owned());
                SeriesRecorder::new(series, 16)
            };
            Box::new(Coalescing {
                wait: sleep.name,
                interrupts: recorder("interrupts"),
                wakeups: recorder("wakeups"),
                window: plan.depth.pick(Nanos::from_millis(40), Nanos::from_millis(60), Nanos::from_secs(1)),
                rounds: plan.depth.pick(1, 2, 10),
                conditions: plan.conditions_and(Conditions::as_found().with(name, setting.clone())),
                setting,
            })
        })
        .collect()
}

struct Coalescing {
    wait: &'static str,
    interrupts: SeriesRecorder,
    wakeups: SeriesRecorder,
    window: Nanos,
    rounds: u32,
    conditions: Conditions,
    setting: Setting,
}

impl Coalescing {
    /// Starts the sleepers; each applies the setting itself, since not every system hands it on to new threads.
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
            let (wait, setting) = (self.wait, self.setting.clone());
            let body = Box::new(move || {
                let _held = platform.resolution_tunable().map(|resolution| resolution.apply(&setting));
                let Some(mut waiter) = platform.wait(wait).and_then(|wait| wait.open(&platform).ok()) else {
                    return;
                };
                while !over_there.load(Ordering::Relaxed) {
                    let remaining = Nanos::from_millis(1);
                    waiter.wait(Target { remaining, deadline: platform.now() + remaining });
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
        format!("{THREADS} sleepers at slack {}", self.setting)
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

    fn round(&mut self, bench: &Bench) {
        let platform = bench.platform();
        let (over, woken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let Some(mut pause) = platform.wait(self.wait).and_then(|wait| wait.open(bench.shared_platform()).ok()) else {
            return;
        };
        let sleepers = match self.start(bench, &over, &woken) {
            Ok(sleepers) => sleepers,
            Err(reason) => {
                self.interrupts.unavailable(reason.clone());
                return self.wakeups.unavailable(reason);
            }
        };
        let (before, woken_before) = (platform.counters(), woken.load(Ordering::Relaxed));
        pause.wait(Target { remaining: self.window, deadline: platform.now() + self.window });
        let (after, woken_after) = (platform.counters(), woken.load(Ordering::Relaxed));
        end(&over, sleepers);

        let seen = before.until(&after);
        let per_second = |count: u64| (count as f64 / seen.window_ns.as_secs_f64()).round() as i64;
        let at = bench.since_origin(bench.stamp());
        match seen.timer_interrupts {
            Some(count) => self.interrupts.record(at, per_second(count)),
            None => self.interrupts.unavailable(Unavailable::missing("a count of timer interrupts")),
        }
        self.wakeups.record(at, per_second(woken_after - woken_before));
        for recorder in [&mut self.interrupts, &mut self.wakeups] {
            recorder.series_mut().clock = platform.reference_clock().to_owned();
        }
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        vec![&mut self.interrupts, &mut self.wakeups]
    }

    fn finish(self: Box<Self>, partial: bool, measured: &mut Measured) {
        measured.series.push(self.interrupts.into_series(partial));
        measured.series.push(self.wakeups.into_series(partial));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::testing;
    use crate::platform::sim::{Overshoot, Sim};

    #[test]
    fn slack_lets_timers_share_interrupts() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::SlackPlus(Nanos(14_000)));
        let sim = Sim::start(machine.build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        let per_second = |slack: &str, counted: &str| {
            let key = format!("C6/nanosleep/slack={slack}/{counted}");
            measured.series.iter().find(|series| series.key == key).unwrap().distribution.p50().unwrap()
        };
        // Eight threads, one wake-up per 1 ms + slack + 14 us.
        assert!((7_700..=7_900).contains(&per_second("1ns", "wakeups")), "{}", per_second("1ns", "wakeups"));
        assert!((7_700..=7_900).contains(&per_second("1ns", "interrupts")), "each timer has its own");
        assert!((3_800..=3_950).contains(&per_second("1ms", "wakeups")), "{}", per_second("1ms", "wakeups"));
        // Four of the threads are on each of the two CPUs.
        assert!(per_second("1ms", "interrupts") < per_second("1ms", "wakeups") / 3, "they share");
    }
}
