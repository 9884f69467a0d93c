//! Alters a parsed result. Nothing is written or parsed, so a fuzzer tries hundreds of times as many alterations as it
//! could damage a file's text.

use super::damage::{Bytes, change};
use super::made::{KEYS, value};
use super::{differed, good_clock};
use crate::conditions::{Conditions, Outcome, Setting};
use crate::file::Floor;
use crate::series::{Quantity, Unit};
use crate::split::LatenessSplit;
use crate::trial::{Trial, TrialPair};
use crate::{Distribution, FactName, Nanos, ResultFile, Series, Unavailable};

/// The most changes to one result.
const CHANGES_MAX: usize = 6;

const EXPERIMENTS: [&str; 12] = ["A1", "B1", "B2", "B3", "B5", "B7", "C2", "C3", "C5", "D1", "D4", "E9"];
const QUANTITIES: [(Quantity, Unit); 8] = [
    (Quantity::Lateness, Unit::Ns),
    (Quantity::Duration, Unit::Ns),
    (Quantity::Cost, Unit::Ps),
    (Quantity::Cost, Unit::Ns),
    (Quantity::Step, Unit::Ns),
    (Quantity::WakeupsPerSecond, Unit::Hz),
    (Quantity::Power, Unit::Mw),
    (Quantity::ForkJoin, Unit::Ns),
];
const LABELS: [&str; 8] = ["clock_role", "style", "threads", "work_ns", "phase", "way", "remedy", "any"];
const CLOCKS: [&str; 6] = ["monotonic", "tsc", "monotonic-coarse", "get-tick-count-64", "clock", "qpc"];

/// The result with the changes that these bytes choose; `None` if the reader would refuse it.
pub fn altered(mut file: ResultFile, bytes: &[u8]) -> Option<ResultFile> {
    let bytes = &mut Bytes(bytes);
    for _ in 0..CHANGES_MAX {
        if bytes.0.is_empty() {
            break;
        }
        alter(&mut file, bytes);
    }
    file.fault().is_none().then_some(file)
}

fn alter(file: &mut ResultFile, bytes: &mut Bytes<'_>) {
    match bytes.below(16) {
        0 | 1 => {
            let name = FactName::ALL[bytes.below(FactName::ALL.len())];
            file.environment.set(name, value(bytes), "test");
        }
        2 => file.platform.os = bytes.text(),
        3 => (file.duration_ns, file.taken_unix_s) = (Nanos(bytes.number()), Some(bytes.number())),
        4 => {
            file.floor = Some(Floor {
                clock: CLOCKS[bytes.below(CLOCKS.len())].into(),
                read_cost_ps: bytes.number(),
                step_ns: Nanos(bytes.number()),
                chosen: None,
                cross_check: None,
            });
        }
        5 => {
            let mut clock = good_clock(CLOCKS[bytes.below(CLOCKS.len())]);
            clock.differences = (0..bytes.below(3)).map(|_| differed(bytes.number())).collect();
            clock.stated_step_ns = (bytes.below(2) == 0).then(|| Nanos(bytes.number()));
            let count = bytes.number().unsigned_abs();
            if let Some(steps) = &mut clock.steps {
                steps.median_ns = Some(Nanos(bytes.number()));
                (steps.backward_across_cpus, steps.backward_on_one_thread) = (count, count >> bytes.below(64));
            }
            file.clocks.push(clock);
        }
        6 if !file.series.is_empty() => {
            let key = |bytes: &mut Bytes<'_>| file.series[bytes.below(file.series.len())].key.clone();
            let pairs = vec![TrialPair { before: key(bytes), after: key(bytes) }];
            let conditions = Conditions::as_found().with("slack", Setting::Nanos(Nanos(bytes.number())));
            let remedy = ["lower-timer-slack", "dedicated-cpus"][bytes.below(2)];
            file.trials.push(Trial { remedy: remedy.into(), conditions, pairs });
        }
        _ => {
            let count = file.series.len();
            if let Some(series) = file.series.get_mut(bytes.below(count)) {
                alter_series(series, bytes);
            }
        }
    }
}

fn alter_series(series: &mut Series, bytes: &mut Bytes<'_>) {
    match bytes.below(14) {
        0 => change(series, bytes),
        1 => series.key = KEYS[bytes.below(KEYS.len())].into(),
        2 => series.key = bytes.text().as_str().into(),
        3 => series.subject = bytes.text(),
        4 => {
            let label = (LABELS[bytes.below(LABELS.len())].to_owned(), bytes.text());
            let known = series.labels.iter().map(|(name, text)| (name.to_owned(), text.to_owned()));
            series.labels = known.chain([label]).collect();
        }
        5 => {
            let id = EXPERIMENTS[bytes.below(EXPERIMENTS.len())];
            series.experiment = id.parse().expect("the form of an id");
        }
        6 => (series.quantity, series.unit) = QUANTITIES[bytes.below(QUANTITIES.len())],
        7 => {
            let count = series.rounds.len();
            if let Some(round) = series.rounds.get_mut(bytes.below(count)) {
                let span = Some(Nanos(bytes.number()));
                let meanwhile = &mut round.disturbance;
                match bytes.below(6) {
                    0 => (meanwhile.steal_ns, meanwhile.other_cpu_ns) = (span, span),
                    1 => (meanwhile.run_delay_ns, meanwhile.cpu_pressure_ns) = (span, span),
                    2 => (meanwhile.throttled_ns, meanwhile.stalled_ns) = (span, span),
                    3 => meanwhile.involuntary_switches = Some(bytes.number().unsigned_abs()),
                    4 => meanwhile.window_ns = Nanos(bytes.number()),
                    _ => round.count = bytes.number().unsigned_abs(),
                }
            }
        }
        8 => series.counts.missed = bytes.number().unsigned_abs() % (series.counts.recorded + 2),
        9 => series.counts.expected = Some(bytes.number().unsigned_abs()),
        10 => {
            let setting = Setting::Nanos(Nanos(bytes.number()));
            let outcome = match bytes.below(3) {
                0 => Outcome::Applied { was: None, now: setting.clone() },
                1 => Outcome::AlreadySo { is: setting.clone() },
                _ => Outcome::Denied { why: Unavailable::missing(bytes.text()) },
            };
            series.conditions = std::mem::take(&mut series.conditions).with("slack", setting);
            series.conditions.outcomes.insert("slack".into(), outcome);
        }
        11 => series.conditions = std::mem::take(&mut series.conditions).with_load("spin", bytes.next() as u32),
        12 => {
            let count = [1, 20, 80][bytes.below(3)];
            let mut part = || Distribution::of_counts([(bytes.number(), count)]);
            let (total, timer, run_queue, wake_return) = (part(), part(), part(), part());
            let split = LatenessSplit {
                attributed_count: count,
                total,
                timer,
                run_queue,
                wake_return,
                ..LatenessSplit::default()
            };
            series.split = Some(LatenessSplit { method: "test".into(), ..split });
        }
        _ => series.clock = CLOCKS[bytes.below(CLOCKS.len())].into(),
    }
}
