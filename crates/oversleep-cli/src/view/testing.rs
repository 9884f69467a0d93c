//! Result files with exact figures, for the tests of reports.

use oversleep_record::clock::{AcrossSuspend, Counts, Difference, Epoch, Steps};
use oversleep_record::conditions::{Conditions, LoadSpec, Outcome, Setting};
use oversleep_record::disturbance::Disturbance;
use oversleep_record::environment::{FactValue, PlatformId};
use oversleep_record::file::{Completion, Floor, SCHEMA, Tool};
use oversleep_record::series::{Quantity, Round, Status, Unit};
use oversleep_record::split::LatenessSplit;
use oversleep_record::trial::{Trial, TrialPair};
use oversleep_record::{ClockResult, Environment, Nanos, ResultFile, Series, Unavailable};

/// A result file under construction.
pub struct Sheet {
    pub file: ResultFile,
}

impl Sheet {
    fn on(os: &str) -> Sheet {
        Sheet {
            file: ResultFile {
                schema: SCHEMA.into(),
                tool: Tool { name: "oversleep".into(), version: "0".into() },
                taken_unix_s: None,
                duration_ns: Nanos::from_secs(18),
                completion: Completion::Complete,
                command: "check".into(),
                name: None,
                platform: PlatformId { os: os.into(), arch: "x86_64".into(), modelled: None },
                environment: Environment::default(),
                floor: None,
                clocks: Vec::new(),
                series: Vec::new(),
                trials: Vec::new(),
                findings: Vec::new(),
            },
        }
    }

    pub fn linux() -> Sheet {
        Sheet::on("linux")
    }

    pub fn windows() -> Sheet {
        Sheet::on("windows")
    }

    /// A series that can't be measured.
    pub fn unavailable(mut self, key: &str, reason: Unavailable) -> Sheet {
        let mut series = rounds(key, &[], 0);
        series.status = Status::Unavailable { reason };
        self.file.series.push(series);
        self
    }

    /// The last series with a split of these parts.
    pub fn split(mut self, timer: i64, run_queue: i64, wake_return: i64) -> Sheet {
        let mut split = LatenessSplit { attributed_count: 80, method: "test".into(), ..LatenessSplit::default() };
        for _ in 0..80 {
            split.total.record(timer + run_queue + wake_return);
            split.timer.record(timer);
            split.run_queue.record(run_queue);
            split.wake_return.record(wake_return);
        }
        if let Some(series) = self.file.series.last_mut() {
            series.split = Some(split);
        }
        self
    }

    pub fn fact(mut self, name: &str, value: FactValue) -> Sheet {
        self.file.environment.set(name, value, "test");
        self
    }

    pub fn text(self, name: &str, text: &str) -> Sheet {
        self.fact(name, FactValue::Text(text.into()))
    }

    pub fn integer(self, name: &str, number: i64) -> Sheet {
        self.fact(name, FactValue::Integer(number))
    }

    pub fn span(self, name: &str, ns: i64) -> Sheet {
        self.fact(name, FactValue::Nanos(Nanos(ns)))
    }

    pub fn series(mut self, series: Series) -> Sheet {
        self.file.series.push(series);
        self
    }

    /// A steady series: 80 times that value in four rounds.
    pub fn steady(self, key: &str, value: i64) -> Sheet {
        self.series(rounds(key, &[value; 4], 20))
    }

    pub fn clock(mut self, clock: ClockResult) -> Sheet {
        self.file.clocks.push(clock);
        self
    }

    /// A trial of a remedy on a wait at 1 ms, with its two steady series.
    pub fn trial(mut self, remedy: &str, wait: &str, before: i64, after: i64) -> Sheet {
        let key = |way: &str| format!("trial/{remedy}/{wait}/1ms/{way}");
        let conditions = Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)));
        let mut with = rounds(&key("after"), &[after; 4], 20);
        with.conditions = held(conditions.clone());
        let pair = TrialPair { before: key("before"), after: key("after") };
        self.file.trials.push(Trial { remedy: remedy.into(), conditions, pairs: vec![pair] });
        self.steady(&key("before"), before).series(with)
    }
}

/// Conditions with every tunable granted.
pub fn held(mut conditions: Conditions) -> Conditions {
    let granted = |now: &Setting| Outcome::Applied { was: None, now: now.clone() };
    conditions.outcomes = conditions.asked.iter().map(|(name, now)| (name.clone(), granted(now))).collect();
    conditions
}

fn quantity_of(experiment: &str, key: &str) -> (Quantity, Unit) {
    match experiment {
        "A1" => (Quantity::Cost, Unit::Ps),
        "B1" | "B2" => (Quantity::Elapsed, Unit::Ns),
        "B3" => (Quantity::Step, Unit::Ns),
        "B7" => (Quantity::Cost, Unit::Ns),
        "C3" | "C4" if key.contains("/stated/") => (Quantity::StatedResolution, Unit::Ns),
        "C3" | "C4" if key.contains("/step/") => (Quantity::Step, Unit::Ns),
        "C5" if key.contains("/residency/") => (Quantity::IdleResidency, Unit::Ns),
        "C5" if key.contains("/power/") => (Quantity::Power, Unit::Mw),
        "C5" | "C6" => (Quantity::WakeupsPerSecond, Unit::Hz),
        "D1" | "D2" => (Quantity::ForkJoin, Unit::Ns),
        "D3" => (Quantity::GenerationsPerSecond, Unit::Hz),
        "D4" => (Quantity::HandoffLatency, Unit::Ns),
        "B4" | "B5" | "B6" | "B8" | "B9" | "B12" | "C2" | "C3" | "C4" | "trial" => (Quantity::Lateness, Unit::Ns),
        _ => panic!("no such experiment in {key}"),
    }
}

/// A series of that key: each round holds `count` times its value. Subject, request, labels and conditions follow from
/// the key as the experiments write it.
pub fn rounds(key: &str, values: &[i64], count: u64) -> Series {
    let mut parts = key.split('/');
    let experiment = parts.next().expect("an experiment");
    if experiment == "trial" {
        parts.next();
    }
    let subject = parts.next().expect("a subject");
    let (quantity, unit) = quantity_of(experiment, key);
    let mut series = Series::new(experiment, subject, quantity, unit);
    series.key = key.to_owned();
    series.clock = "monotonic".into();
    let mut conditions = Conditions::as_found();
    for part in parts {
        if let Ok(span) = part.parse::<Nanos>() {
            series.requested_ns = Some(span);
            series.asked_ns = Some(span);
        } else if let Some(slack) = part.strip_prefix("slack=") {
            conditions = conditions.with("slack", Setting::Nanos(slack.parse().expect("a span")));
            series.labels.extend((experiment == "C5").then(|| ("held".to_owned(), slack.to_owned())));
        } else if let Some(held) = part.strip_prefix("neighbour=") {
            series.labels.insert("neighbour".into(), held.into());
        } else if let Some(policy) = part.strip_prefix("policy=") {
            let (policy, priority) = policy.split_once(':').unwrap_or((policy, "0"));
            let priority = priority.parse().expect("a priority");
            conditions = conditions.with("policy", Setting::Policy { policy: policy.into(), priority });
        } else if let Some((kind, hogs)) = part.strip_prefix("load=").and_then(|load| load.split_once(':')) {
            conditions.load.push(LoadSpec { kind: kind.into(), hogs: hogs.parse().expect("a count") });
        } else {
            let name = match (experiment, part) {
                ("B6", _) => "phase",
                ("B7", _) => "competition",
                ("C5", "idle" | "sleeping") => "activity",
                ("C5" | "C6", _) => "counted",
                ("C3" | "C4", _) => "what",
                ("D4", _) => "way",
                _ => "clock_role",
            };
            series.labels.insert(name.into(), part.into());
        }
    }
    if series.label("clock_role") == Some("coarse") {
        series.clock = "monotonic-coarse".into();
    }
    if ["D1", "D2", "D3"].contains(&experiment) {
        series.labels.insert("style".into(), subject.into());
        series.labels.insert("threads".into(), "8".into());
        series.labels.insert("tasks".into(), "2".into());
        series.labels.insert("work_ns".into(), "120000000".into());
        series.labels.extend(series.requested_ns.map(|task| ("task_ns".to_owned(), task.0.to_string())));
    }
    if experiment == "C6" {
        series.labels.insert("threads".into(), "8".into());
    }
    series.conditions = held(conditions);
    for (index, &value) in values.iter().enumerate() {
        for sample in 0..count {
            series.distribution.record(value);
            series.samples.push(10_000, index as i64 * 100_000_000 + sample as i64 * 1_000_000, value, false);
        }
        series.rounds.push(Round {
            start_ns: Nanos::from_millis(index as i64 * 100),
            count,
            median: (count > 0).then_some(value),
            disturbance: Disturbance {
                window_ns: Nanos::from_millis(20),
                steal_ns: Some(Nanos::ZERO),
                own_cpu_ns: Some(Nanos::from_millis(2)),
                involuntary_switches: Some(1),
                ..Disturbance::default()
            },
        });
    }
    series.counts.recorded = series.distribution.count();
    series.counts.early = series.distribution.early_count();
    series
}

/// A clock of elapsed time without fault: 100 ms indicated of 100 ms, in steps of 10 ns.
pub fn good_clock(name: &str) -> ClockResult {
    ClockResult {
        name: name.into(),
        call: format!("{name}()"),
        counts: Counts::ElapsedTime,
        epoch: Epoch::Boot,
        unit: "ns".into(),
        across_suspend: AcrossSuspend::Stops,
        wraps_after_ns: None,
        unavailable: None,
        cost_series: Some(format!("A1/{name}")),
        example_raw: None,
        frequency_hz: None,
        stated_step_ns: Some(Nanos(1)),
        differences: vec![differed(100_000_000)],
        steps: Some(Steps {
            reads: 1_000,
            smallest_ns: Some(Nanos(10)),
            median_ns: Some(Nanos(10)),
            changes_per_second: Some(30_000_000),
            cross_cpu_reads: 1_000,
            ..Steps::default()
        }),
        drift: None,
    }
}

/// A reference wait of 100 ms of which a clock indicated this much.
pub fn differed(indicated: i64) -> Difference {
    Difference { reference_ns: Nanos(100_000_000), indicated_ns: Nanos(indicated) }
}

/// A result with every kind of series, steady figures throughout.
pub fn rich() -> Sheet {
    let mut sheet = Sheet::linux()
        .text("kernel.release", "6.18.5")
        .text("cpu.model", "AMD EPYC")
        .integer("cpu.count", 2)
        .integer("cpu.allowed", 2)
        .text("virtualisation.hypervisor", "kvm")
        .span("timer.slack_ns", 50_000)
        .span("timer.default_slack_ns", 50_000)
        .integer("timer.hz", 250)
        .fact("cpufreq.governor", FactValue::Unknown(Unavailable::missing("scaling_governor")));
    sheet.file.taken_unix_s = Some(1_763_709_180);
    sheet.file.floor =
        Some(Floor { clock: "monotonic".into(), read_cost_ps: 24_000, step_ns: Nanos(1), chosen: None, witness: None });
    for (clock, cost) in [("monotonic", 23_300), ("tsc", 9_500), ("clock", 554_000)] {
        let mut result = good_clock(clock);
        if clock == "clock" {
            result.counts = Counts::ProcessCpuTime;
            result.differences = vec![differed(73_200)];
        }
        sheet = sheet.clock(result).steady(&format!("A1/{clock}"), cost);
    }
    let mut coarse = good_clock("monotonic-coarse");
    coarse.stated_step_ns = Some(Nanos::from_millis(4));
    coarse.steps = None;
    let mut gone = good_clock("cntvct");
    gone.unavailable = Some(Unavailable::NotOnThisPlatform);
    sheet = sheet.clock(coarse).clock(gone).steady("B3/monotonic-coarse", 4_000_000);
    sheet = sheet.steady("B1/nanosleep/1ms/coarse", 0).steady("B1/nanosleep/1ms/precise", 1_066_000);
    for ask in 1..=15 {
        sheet = sheet.steady(&format!("B2/nanosleep/{ask}ms"), ask * 1_000_000 + 70_000);
    }
    for (wait, late) in [("nanosleep", 66_100), ("timerfd", 14_900), ("epoll-wait", 66_500), ("futex", 67_000)] {
        sheet = sheet.steady(&format!("B5/{wait}/300us"), late - 600).steady(&format!("B5/{wait}/1ms"), late);
        sheet = sheet.split(late - 12_000, 1_000, 11_000).steady(&format!("B5/{wait}/16ms"), late + 9_000);
    }
    if let Some(series) = sheet.file.series.iter_mut().find(|series| series.key == "B5/epoll-wait/300us") {
        series.asked_ns = Some(Nanos::from_millis(1));
    }
    sheet
        .unavailable("B5/io-uring/1ms", Unavailable::not_permitted("io_uring_setup", "kernel.io_uring_disabled=0"))
        .steady("B4/usleep/1ms", 66_000)
        .steady("B6/nanosleep/1ms/random", 66_000)
        .steady("B7/sched-yield/idle", 511)
        .steady("B7/sched-yield/competing/load=spin:2", 961)
        .steady("B8/nanosleep/1ms/policy=other", 66_000)
        .steady("B8/nanosleep/1ms/policy=fifo:1", 14_000)
        .steady("B9/nanosleep/1ms/load=spin:2", 66_000)
        .steady("B12/hybrid/1ms", 111)
        .steady("C2/nanosleep/1ms/slack=1ns", 14_000)
        .steady("C2/nanosleep/1ms/slack=50us", 66_000)
        .steady("C3/nanosleep/1ms/neighbour=none", 66_000)
        .steady("C3/monotonic-coarse/step/neighbour=none", 4_000_000)
        .steady("C3/slack/stated/neighbour=none", 50_000)
        .steady("C3/nanosleep/1ms/neighbour=1ms", 66_200)
        .steady("C3/monotonic-coarse/step/neighbour=1ms", 4_000_000)
        .steady("C3/slack/stated/neighbour=1ms", 50_000)
        .steady("C5/nanosleep/wakeups/idle/slack=1ns", 2)
        .steady("C5/nanosleep/wakeups/sleeping/slack=1ns", 980)
        .steady("C5/C1/residency/sleeping/slack=1ns", 910_000_000)
        .steady("C5/packages/power/sleeping/slack=1ns", 4_200)
        .steady("C6/nanosleep/interrupts/slack=1ns", 8_000)
        .steady("C6/nanosleep/wakeups/slack=1ns", 7_400)
        .steady("D1/blocked/coarse", 12_000_000)
        .steady("D1/blocked/precise", 14_700_000)
        .steady("D2/single/precise", 24_000_000)
        .steady("D3/blocked/100us", 4_879)
        .steady("D4/futex/one-way", 15_700)
        .steady("D4/futex/ping-pong", 30_200)
        .trial("lower-timer-slack", "nanosleep", 66_100, 14_200)
}

/// A result in which every text that a file can hold is hostile.
pub fn hostile() -> ResultFile {
    const BAD: &str =
        "</script><script>alert('x')</script><img src=http://evil.invalid/ onerror=alert(1)>\"'&\u{1b}[31m\u{202e}";
    let mut file = rich().file;
    let bad = |text: &mut String| text.push_str(BAD);
    bad(&mut file.tool.name);
    bad(&mut file.tool.version);
    bad(&mut file.command);
    file.name = Some(BAD.into());
    bad(&mut file.platform.arch);
    for fact in file.environment.facts.values_mut() {
        bad(&mut fact.source);
        match &mut fact.value {
            FactValue::Text(text) => bad(text),
            FactValue::Unknown(reason) => *reason = Unavailable::not_permitted(BAD, BAD),
            _ => {}
        }
    }
    file.environment.set(BAD, FactValue::List(vec![BAD.into()]), BAD);
    file.floor.iter_mut().for_each(|floor| bad(&mut floor.clock));
    for clock in &mut file.clocks {
        clock.cost_series.iter_mut().for_each(bad);
        clock.unavailable.iter_mut().for_each(|reason| *reason = Unavailable::missing(BAD));
        [&mut clock.name, &mut clock.call, &mut clock.unit].into_iter().for_each(bad);
    }
    for series in &mut file.series {
        [&mut series.key, &mut series.subject, &mut series.clock].into_iter().for_each(bad);
        if let Status::Unavailable { reason } = &mut series.status {
            *reason = Unavailable::failed(BAD, BAD);
        }
        series.conditions.load.iter_mut().for_each(|load| bad(&mut load.kind));
        for outcome in series.conditions.outcomes.values_mut() {
            *outcome = Outcome::Denied { why: Unavailable::not_permitted(BAD, BAD) };
        }
        series.labels.insert(BAD.into(), BAD.into());
        series.labels.insert("style".into(), BAD.into());
        series.split.iter_mut().for_each(|split| bad(&mut split.method));
    }
    for trial in &mut file.trials {
        bad(&mut trial.remedy);
        trial.pairs.iter_mut().flat_map(|pair| [&mut pair.before, &mut pair.after]).for_each(bad);
    }
    file
}
