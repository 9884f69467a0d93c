//! A week of virtual time, in which a counter wraps, the machine sleeps, its clock source changes, and a quota comes and
//! goes: each is visible in the metrics as what it is, and no counter ever falls.

use oversleep_record::environment::Environment;
use oversleep_record::{Disturbance, Nanos};
use oversleep_sampler::exponential::Exponential;
use oversleep_sampler::{Burst, Cause, Covers, Ended, Kind, MachineState, Sampler, Sampling, Wait};
use oversleep_serve::metrics::{Family, Sample, Snapshot, Type, Value, sum_s};
use oversleep_system::CounterReading;

const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;

/// A machine that does what its script says at each moment.
struct Machine {
    now: i64,
    totals: Disturbance,
    /// When it sleeps, and for how long. Its clock stands still meanwhile.
    suspends: Vec<(i64, i64)>,
    has_gone_back: bool,
}

impl Machine {
    fn new() -> Machine {
        let zero = Some(Nanos::ZERO);
        let totals = Disturbance {
            steal_ns: zero,
            throttled_ns: zero,
            own_cpu_ns: zero,
            suspended_ns: zero,
            ..Disturbance::default()
        };
        // The next one is the last of them.
        let suspends = vec![(3 * DAY + 5 * HOUR, 600 * SECOND), (3 * DAY, 8 * HOUR)];
        Machine { now: 0, totals, suspends, has_gone_back: false }
    }

    fn reading(&self) -> CounterReading {
        CounterReading { at: Nanos(self.now), totals: self.totals }
    }

    fn state(&self) -> MachineState {
        MachineState {
            clock_source: Some(if self.now < 4 * DAY { "tsc" } else { "hpet" }.to_owned()),
            quota_cpus: self.is_throttled().then_some(0.5),
            weight: Some(100),
            cpus: Some(if self.now < 6 * DAY { 2 } else { 4 }),
            slack: Some(Nanos(50_000)),
            is_on_battery: false,
        }
    }

    fn is_throttled(&self) -> bool {
        (5 * DAY..6 * DAY).contains(&self.now)
    }

    fn wait(&mut self, kind: Kind, requested: Nanos, is_throttled: bool) -> Wait {
        let late = match (is_throttled, kind) {
            (true, Kind::Pause) => 40_000_000,
            _ => 60_000 + self.now / 1_000 % 30_000,
        };
        self.now += requested.0 + late;
        // One tick of a 32-bit count of milliseconds after 49 days would be like this: the clock shows an earlier time.
        let ended = if self.now / HOUR == 20 && kind == Kind::Pause && !self.has_gone_back {
            self.has_gone_back = true;
            Ended::Backward
        } else {
            Ended::TimedOut
        };
        let (end, lateness) = (Nanos(self.now), Nanos(late));
        Wait { kind, requested, end, lateness, ended, run_delay: Some(Nanos(5_000)) }
    }

    fn burst(&mut self, pause: Nanos) -> Burst {
        let is_throttled = self.is_throttled();
        let mut waits: Vec<Wait> =
            (0..8).map(|_| self.wait(Kind::Burst, Nanos::from_millis(1), is_throttled)).collect();
        waits.push(self.wait(Kind::Pause, pause, is_throttled));
        let add = |total: &mut Option<Nanos>, more: i64| *total = total.map(|total| total + Nanos(more));
        add(&mut self.totals.steal_ns, 1_000_000);
        add(&mut self.totals.own_cpu_ns, 200_000);
        if is_throttled {
            add(&mut self.totals.throttled_ns, 40_000_000);
        }
        if self.now > 2 * DAY && self.totals.steal_ns > Some(Nanos(10 * SECOND)) && self.now < 2 * DAY + HOUR / 2 {
            self.totals.steal_ns = Some(Nanos(123));
        }
        if let Some((_, length)) = self.suspends.pop_if(|(at, _)| *at < self.now) {
            add(&mut self.totals.suspended_ns, length);
        }
        Burst { waits, after: self.reading(), unix_s: None }
    }
}

fn families(sampler: &Sampler) -> Vec<Family> {
    let (samplers, facts) = ([(None, sampler)], Environment::default());
    Snapshot { samplers: &samplers, os: "linux", facts: &facts, findings: None, version: "0" }.families()
}

/// The values of all counters, and the counts of all histograms, by name and labels.
fn counters(families: &[Family]) -> Vec<(String, f64)> {
    let value = |sample: &Sample| match &sample.value {
        Value::Number(value) => *value,
        Value::Distribution(values, _) => values.count() as f64,
    };
    let growing = families.iter().filter(|family| matches!(family.kind, Type::Counter | Type::Histogram));
    let named = growing.flat_map(|family| {
        family.samples.iter().map(move |sample| (format!("{}{:?}", family.full_name(), sample.labels), value(sample)))
    });
    named.collect()
}

/// The sums of all histograms.
fn sums(families: &[Family]) -> Vec<f64> {
    let samples = families.iter().flat_map(|family| &family.samples);
    let sum = |sample: &Sample| match &sample.value {
        Value::Number(_) => None,
        Value::Distribution(values, early) => Some(sum_s(values, *early)),
    };
    samples.filter_map(sum).collect()
}

#[test]
fn a_sum_never_falls_where_waits_end_early_and_what_it_leaves_out_is_a_counter_of_its_own() {
    let mut sampler = Sampler::new(Sampling::of("nanosleep"), CounterReading::default(), MachineState::default());
    let ms = Nanos::from_millis;
    let (mut before, mut whole) = (vec![0.0; 2], 0);
    for late in [60_000, -5_000_000, 70_000, -1, -900_000, 0, 80_000] {
        let wait = Wait {
            kind: Kind::Burst,
            requested: ms(1),
            end: ms(10),
            lateness: Nanos(late),
            ended: Ended::TimedOut,
            run_delay: None,
        };
        sampler.add(&Burst { waits: vec![wait], after: CounterReading::default(), unix_s: None });
        whole += late;
        let now = sums(&families(&sampler));
        assert!(now.iter().zip(&before).all(|(now, before)| now >= before), "{late}: {before:?} {now:?}");
        before = now;
    }
    let early = counter(&families(&sampler), "oversleep_wait_early_seconds_total");
    assert!((early - 0.005_900_001).abs() < 1e-12, "{early}");
    let sum: f64 = before.iter().sum();
    assert!((sum - early - whole as f64 * 1e-9).abs() < 1e-12, "the sum of all is their difference");
}

/// The value of a label of a family's only sample.
fn label<'a>(families: &'a [Family], name: &str, label: &str) -> Option<&'a str> {
    let family = families.iter().find(|family| family.name == name)?;
    family.samples[0].labels.iter().find(|(of, _)| *of == label).map(|(_, value)| value.as_str())
}

fn counter(families: &[Family], name: &str) -> f64 {
    let counters = counters(families);
    let mut found = counters.iter().filter(|(has, _)| has.starts_with(name)).map(|(_, value)| *value).peekable();
    assert!(found.peek().is_some(), "{name}");
    found.sum()
}

#[test]
fn a_week_shows_each_event_as_what_it_is_and_no_count_falls() {
    let mut machine = Machine::new();
    let sampling = Sampling {
        pause: Nanos(9 * SECOND),
        late_from: Nanos::from_millis(5),
        covers: Covers::LastHour,
        ..Sampling::of("nanosleep")
    };
    let mut sampler = Sampler::new(sampling, machine.reading(), machine.state());
    let (mut before, mut buckets, mut hours) = (counters(&families(&sampler)), Exponential::default(), 0);
    while machine.now < 7 * DAY {
        let pause = sampler.next_pause();
        sampler.add(&machine.burst(pause));
        if machine.now / HOUR > hours {
            hours = machine.now / HOUR;
            sampler.note(machine.state());
            let shown = families(&sampler);
            let source = if hours < 4 * 24 { "tsc" } else { "hpet" };
            assert_eq!(label(&shown, "oversleep_machine", "clocksource"), Some(source), "hour {hours}");
            let quota = (5 * 24..6 * 24).contains(&hours).then_some("0.50");
            assert_eq!(label(&shown, "oversleep_sampler", "quota"), quota, "hour {hours}");
            let now = counters(&shown);
            for (name, before) in &before {
                let now = now.iter().find(|(has, _)| has == name).map(|(_, now)| *now);
                assert!(now >= Some(*before), "hour {hours}: {name} {before} {now:?}");
            }
            before = now;
            let filled = Exponential::of(&sampler.tally(Kind::Pause).lateness);
            assert!(filled.positive.len() >= buckets.positive.len());
            buckets = filled;
        }
    }
    let (burst, pause) = (sampler.tally(Kind::Burst), sampler.tally(Kind::Pause));
    // The bursts of the suspends with their pauses, and the pause during which the clock went backward.
    assert_eq!((burst.discarded, pause.discarded), (16, 3));
    assert_eq!(pause.lateness.max(), Some(40_000_000), "a suspend makes no wait late");
    assert_eq!(sampler.sums().suspended, Some(Nanos(8 * HOUR + 600 * SECOND)));
    assert_eq!(sampler.sums().unknown_windows, 1, "the counter of steal wrapped once");
    assert_eq!(sampler.sums().steal, Some(Nanos(1_000_000 * (sampler.bursts() as i64 - 1))), "and lost that window");
    assert_eq!((sampler.clock_source_changes(), sampler.quota_changes()), (1, 2));
    let throttled = sampler.late_count();
    assert_eq!(sampler.sums().throttled, Some(Nanos(40_000_000 * throttled as i64)));
    assert!((9_000..10_000).contains(&throttled), "{throttled}: a pause about every 9 s of one day");
    assert_eq!(burst.lateness.count() + burst.discarded, 8 * sampler.bursts());
    assert!(sampler.late_after(0).all(|late| late.causes[0].0 == Cause::Throttled));
    let now = families(&sampler);
    for (name, value) in [
        ("oversleep_wait_discarded_total", 19.0),
        ("oversleep_suspended_seconds_total", 8.0 * 3_600.0 + 600.0),
        ("oversleep_unknown_windows_total", 1.0),
        ("oversleep_clocksource_changes_total", 1.0),
        ("oversleep_quota_changes_total", 2.0),
        ("oversleep_throttled_seconds_total", throttled as f64 * 0.04),
        ("oversleep_late_waits_total", throttled as f64),
        ("oversleep_wait_lateness_seconds", (burst.lateness.count() + pause.lateness.count()) as f64),
    ] {
        assert!((counter(&now, name) - value).abs() < 1e-6, "{name}: {} {value}", counter(&now, name));
    }
    let gauge = |name| now.iter().find(|family| family.name == name).map(|family| family.samples[0].value.clone());
    assert_eq!(gauge("oversleep_cpus"), Some(Value::Number(4.0)), "those that it has now");
    let series = sampler.series("monotonic");
    assert!(series[0].rounds.len() <= 64 && sampler.covered() <= Nanos(HOUR + 120 * SECOND), "{}", sampler.covered());
    assert_eq!(series[0].distribution.count(), series[0].counts.recorded);
}

#[test]
fn what_the_counters_never_tell_stays_unknown() {
    let mut sampler = Sampler::new(Sampling::of("nanosleep"), CounterReading::default(), MachineState::default());
    let after = CounterReading { at: Nanos(SECOND), totals: Disturbance::default() };
    sampler.add(&Burst { waits: Vec::new(), after, unix_s: None });
    assert_eq!((sampler.sums().steal, sampler.sums().unknown_windows), (None, 0));
}

#[test]
fn a_usual_machine_has_at_most_60_series_and_what_is_not_known_is_none_of_them() {
    let mut sampler = Sampler::new(Sampling::of("nanosleep"), CounterReading::default(), MachineState::default());
    sampler.note_reads(vec![("std-instant", 25.0), ("std-systemtime", 24.0), ("oversleep", 12.5)]);
    let now = families(&sampler);
    assert!(!now.iter().any(|family| family.name == "oversleep_steal_seconds"));
    let text = oversleep_serve::text::write(&now, oversleep_serve::text::Dialect::Prometheus);
    let series = text.lines().filter(|line| !line.starts_with('#')).count();
    // Five sums of the machine, its CPUs, and findings come on top; classic buckets are 30 of them.
    assert!(series + 6 <= 55, "{series}");
    assert!(text.contains("oversleep_clock_read_seconds{clock=\"oversleep\"} 0.0000000125\n"), "{text}");
}
