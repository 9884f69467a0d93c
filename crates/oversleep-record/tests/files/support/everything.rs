//! One result in which every field is filled and every variant occurs. Its figures are invented and consistent.

use std::collections::BTreeMap;

use oversleep_record::change::Change;
use oversleep_record::clock::{AcrossSuspend, Counts as Counted, Difference, Drift, Epoch, Steps};
use oversleep_record::conditions::{Conditions, LoadSpec, Outcome, Setting};
use oversleep_record::environment::{Environment, FactValue, PlatformId};
use oversleep_record::file::{Chosen, Completion, CrossCheck, Floor, Imported, ResultFile, SCHEMA, Tool};
use oversleep_record::label::{self, ClockRole};
use oversleep_record::part::{Part, Parts};
use oversleep_record::processor::ThermalPressure;
use oversleep_record::series::{Beyond, Counts, Pace, Quantity, Round, Runtime, Series, Status, Unit};
use oversleep_record::shared::{LeftOut, Reliability, Shared};
use oversleep_record::split::{LatenessSplit, PartSplit, WHY_METHOD};
use oversleep_record::trial::{Trial, TrialPair};
use oversleep_record::{
    ClockResult, Depth, Distribution, Disturbance, ExperimentId, FactName, Idling, Nanos, ProcessorState, Unavailable,
};

use super::{findings, observed};

const CAP: usize = 40;

pub fn result() -> ResultFile {
    ResultFile {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "oversleep".to_owned(), version: "0.1.0".to_owned() },
        taken_unix_s: Some(1_700_000_000),
        duration_ns: Nanos::from_secs(19),
        completion: Completion::Complete,
        command: "check".to_owned(),
        depth: Some(Depth::Normal),
        shared: Some(Shared {
            reliability: Reliability::Limited,
            series: 4,
            scarce: 1,
            unsteady: 1,
            rounds_median: 3,
            measured_ns: Nanos::from_secs(17),
            steal_permille: Some(2),
            other_cpu_permille: Some(31),
            throttled_permille: Some(0),
            left_out: LeftOut { samples: 7, series: 1, facts: 2 },
        }),
        name: Some("a name with \"quotes\", ümlauts and a\ttab".to_owned()),
        platform: PlatformId::real("linux", "x86_64"),
        environment: environment(),
        floor: Some(Floor {
            clock: "monotonic".to_owned(),
            read_cost_ps: 21_370,
            step_ns: Nanos(1),
            chosen: Some(Chosen::DeadlineClock),
            cross_check: Some(CrossCheck {
                clock: "oversleep-ordered".to_owned(),
                difference_ns: Nanos(-7),
                uncertainty_ns: Nanos(25),
                window_ns: Nanos::from_secs(17),
            }),
        }),
        clocks: clocks(),
        series: series(),
        changes: vec![Change {
            at_ns: Nanos::from_secs(2),
            what: "resolution".to_owned(),
            before: Some("15.6 ms".to_owned()),
            after: "1 ms".to_owned(),
        }],
        changes_beyond: 1,
        trials: vec![Trial {
            remedy: "lower-timer-slack".to_owned(),
            conditions: Conditions::as_found().with("slack", Setting::Nanos(Nanos(1))),
            pairs: vec![TrialPair {
                before: "trial/lower-timer-slack/nanosleep/1ms/before".into(),
                after: "trial/lower-timer-slack/nanosleep/1ms/after".into(),
            }],
        }],
        observation: Some(observed::observation()),
        imported: Some(Imported {
            program: "cyclictest".to_owned(),
            version: Some("2.40".to_owned()),
            format: "cyclictest JSON".to_owned(),
            notes: vec!["its figures are whole microseconds".to_owned()],
        }),
        findings: findings::findings(),
    }
}

fn reasons() -> [(FactName, Unavailable); 8] {
    [
        (FactName::VirtualisationWsl, Unavailable::NotOnThisPlatform),
        (FactName::KernelPreemption, Unavailable::TooOld { needs: "Linux 5.12".to_owned() }),
        (FactName::SchedRtPermitted, Unavailable::not_permitted("SCHED_FIFO", "ulimit -r 99")),
        (FactName::CpuTscDeadline, Unavailable::no_hardware("TSC deadline timer")),
        (FactName::CpuidleDriver, Unavailable::missing("/sys/devices/system/cpu/cpuidle")),
        (FactName::PerfParanoid, Unavailable::failed("perf_event_open", "Function not implemented (os error 38)")),
        (FactName::CpuTscHz, Unavailable::Nonsense { what: "0 kHz".to_owned() }),
        (FactName::PowerSource, Unavailable::NotMeasured),
    ]
}

fn environment() -> Environment {
    let mut environment = Environment::default();
    environment.set(FactName::KernelRelease, FactValue::Text("6.8.0".to_owned()), "uname");
    environment.set(FactName::CpuCount, FactValue::Integer(2), "sysconf(_SC_NPROCESSORS_ONLN)");
    environment.set(FactName::SchedRtRuntimeUs, FactValue::Integer(-1), "/proc/sys/kernel/sched_rt_runtime_us");
    environment.set(FactName::LoadAverage1min, FactValue::Real(0.1), "/proc/loadavg");
    environment.set(FactName::TimerSlack, FactValue::Nanos(Nanos(50_000)), "prctl(PR_GET_TIMERSLACK)");
    environment.set(FactName::TimerHighResolution, FactValue::Flag(true), "clock_getres");
    let available = ["tsc", "acpi_pm"].map(str::to_owned).to_vec();
    environment.set(FactName::ClocksourceAvailable, FactValue::List(available), "/sys/devices/system/clocksource");
    environment.set(FactName::KernelIsolatedCpus, FactValue::List(Vec::new()), "/sys/devices/system/cpu/isolated");
    for (name, reason) in reasons() {
        environment.set(name, FactValue::Unknown(reason), "");
    }
    environment
}

fn clock(name: &str, counts: Counted, epoch: Epoch, across_suspend: AcrossSuspend) -> ClockResult {
    ClockResult {
        name: name.to_owned(),
        runtime: None,
        call: format!("clock_gettime({name})"),
        counts,
        epoch,
        unit: "ns".to_owned(),
        across_suspend,
        wraps_after_ns: None,
        unavailable: None,
        cost_series: None,
        example_raw: None,
        frequency_hz: None,
        stated_step_ns: None,
        differences: Vec::new(),
        steps: None,
        drift: None,
    }
}

fn java() -> Runtime {
    Runtime { name: "java".to_owned(), version: "17.0.9".to_owned() }
}

fn clocks() -> Vec<ClockResult> {
    let measured = ClockResult {
        cost_series: Some("A1/monotonic".into()),
        example_raw: Some(u64::MAX),
        frequency_hz: Some(2_400_000_000),
        stated_step_ns: Some(Nanos(1)),
        wraps_after_ns: Some(Nanos::MAX),
        differences: vec![
            Difference { reference_ns: Nanos(100_000_012), indicated_ns: Nanos(100_000_013) },
            Difference { reference_ns: Nanos(100_000_020), indicated_ns: Nanos(-1) },
        ],
        steps: Some(Steps {
            reads: 100_000,
            smallest_ns: Some(Nanos(17)),
            median_ns: Some(Nanos(21)),
            changes_per_second: Some(47_000_000),
            backward_on_one_thread: 1,
            backward_on_one_thread_ns: Some(Nanos(2)),
            cross_cpu_reads: 2_000,
            backward_across_cpus: 3,
            backward_across_cpus_ns: Some(Nanos(40)),
        }),
        drift: Some(Drift { ppm: -0.1, window_ns: Nanos::from_secs(2), uncertainty_ppm: 0.037 }),
        ..clock("monotonic", Counted::ElapsedTime, Epoch::Boot, AcrossSuspend::Stops)
    };
    let unavailable = ClockResult {
        unavailable: Some(Unavailable::NotOnThisPlatform),
        ..clock("filetime", Counted::TimeOfDay, Epoch::Windows, AcrossSuspend::Continues)
    };
    vec![
        measured,
        unavailable,
        clock("realtime", Counted::TimeOfDay, Epoch::Unix, AcrossSuspend::Continues),
        clock("tai", Counted::TimeOfDay, Epoch::Tai, AcrossSuspend::Continues),
        clock("process-cputime", Counted::ProcessCpuTime, Epoch::Process, AcrossSuspend::Stops),
        clock("thread-cputime", Counted::ThreadCpuTime, Epoch::Thread, AcrossSuspend::Stops),
        clock("tsc", Counted::ElapsedTime, Epoch::Processor, AcrossSuspend::Unspecified),
        ClockResult {
            runtime: Some(java()),
            ..clock("System.nanoTime", Counted::ElapsedTime, Epoch::Boot, AcrossSuspend::Unspecified)
        },
    ]
}

fn of(values: impl IntoIterator<Item = i64>) -> Distribution {
    let mut distribution = Distribution::new();
    values.into_iter().for_each(|value| distribution.record(value));
    distribution
}

/// A series of these values, all in one round; the first `missed` of them are missed deadlines.
fn of_values(series: Series, values: &[i64], missed: usize) -> Series {
    let mut series = series;
    series.clock = "monotonic".to_owned();
    for (index, &value) in values.iter().enumerate() {
        series.distribution.record(value);
        series.samples.push(CAP, index as i64 * 1_000_000, value, index < missed);
    }
    let early = values.iter().filter(|&&value| value < 0).count() as u64;
    series.counts = Counts { recorded: values.len() as u64, missed: missed as u64, early, ..Counts::default() };
    series.rounds = vec![Round {
        start_ns: Nanos(5),
        count: values.len() as u64,
        median: series.distribution.p50(),
        p90: None,
        p99: None,
        disturbance: Disturbance { window_ns: Nanos(7), ..Disturbance::default() },
    }];
    if missed > 0 {
        series.calls_only = Some(of(values[missed..].iter().copied()));
    }
    series
}

/// 50 wake-ups: missed deadlines first, one early, one a minute late, one beyond the histogram's largest value.
fn wait_values() -> Vec<i64> {
    let mut values: Vec<i64> = (0..47).map(|index| 66_000 + 911 * index).collect();
    values.extend([-300, 60_000_000_000, 4_000_000_000_000]);
    values
}

fn wait(key: &str, pace: Pace) -> Series {
    Series {
        key: key.into(),
        requested_ns: Some(Nanos::from_millis(1)),
        rounded_ns: Some(Nanos::from_millis(2)),
        pace: Some(pace),
        settled: Some(true),
        company: Some(7),
        ..Series::new(key.split('/').next().unwrap().parse().unwrap(), "nanosleep", Quantity::Lateness, Unit::Ns)
    }
}

fn all_conditions() -> Conditions {
    let policy = |policy: &str, priority| Setting::Policy { policy: policy.to_owned(), priority };
    let denied = Unavailable::not_permitted("SCHED_FIFO", "give CAP_SYS_NICE");
    Conditions {
        requested: BTreeMap::from([
            ("slack".to_owned(), Setting::Nanos(Nanos(1))),
            ("lock-memory".to_owned(), Setting::Flag(true)),
            ("pin".to_owned(), Setting::Cpus(vec![0, 3])),
            ("policy".to_owned(), policy("fifo", 80)),
        ]),
        outcomes: BTreeMap::from([
            (
                "slack".to_owned(),
                Outcome::Applied { was: Some(Setting::Nanos(Nanos(50_000))), now: Setting::Nanos(Nanos(1)) },
            ),
            ("lock-memory".to_owned(), Outcome::Applied { was: None, now: Setting::Flag(true) }),
            ("pin".to_owned(), Outcome::AlreadySo { is: Setting::Cpus(vec![0, 3]) }),
            ("policy".to_owned(), Outcome::Denied { why: denied }),
        ]),
        load: vec![LoadSpec { kind: "spin".to_owned(), hogs: 2 }],
    }
}

fn series() -> Vec<Series> {
    let mut waits = of_values(wait("B5/nanosleep/1ms", Pace::Periodic), &wait_values(), 2);
    waits.counts = Counts { expected: Some(50), backward: 1, interrupted: 1, ..waits.counts };
    waits.labels.set(label::CLOCK_ROLE, ClockRole::Precise);
    (waits.rounds[0].p90, waits.rounds[0].p99) = (Some(103_000), Some(107_866));
    waits.rounds[0].disturbance = Disturbance {
        window_ns: Nanos::from_secs(3),
        steal_ns: Some(Nanos(1)),
        cpu_pressure_ns: Some(Nanos(2)),
        other_cpu_ns: Some(Nanos(3)),
        run_delay_ns: Some(Nanos(4)),
        voluntary_switches: Some(5),
        involuntary_switches: Some(6),
        minor_faults: Some(7),
        major_faults: Some(8),
        throttled_ns: Some(Nanos(9)),
        throttled_periods: Some(10),
        timer_interrupts: Some(11),
        all_interrupts: Some(13),
        own_cpu_ns: Some(Nanos(12)),
        stalled_ns: Some(Nanos(17)),
        suspended_ns: Some(Nanos(18)),
        processor: ProcessorState {
            clock_min_hz: Some(800_000_000),
            clock_max_hz: Some(3_600_000_000),
            limit_min_permille: Some(889),
            limit_max_permille: Some(1_000),
            temperature_max_millicelsius: Some(-14_000),
            thermal_pressure: Some(ThermalPressure::Trapping),
            thermal_throttles: Some(15),
            thermal_throttled_ns: Some(Nanos(16)),
        },
    };
    waits.split = Some(LatenessSplit {
        attributed_count: 3,
        unattributed_count: 1,
        total: of([66_000, 67_000, 68_000]),
        timer: of([-100, 52_000, 53_000]),
        run_queue: of([0, 0, 1_000]),
        wake_return: of([66_100, 15_000, 14_000]),
        awake_before: of([48_000]),
        method: "context-switch records of the thread".to_owned(),
    });
    let mut why = PartSplit::apart(WHY_METHOD);
    for n in [1, 2, 3] {
        let mut parts = Parts::default();
        Part::ALL.iter().for_each(|&part| *parts.get_mut(part) = 1_000 * n);
        why.record(&Parts { api: -n, unattributed: 0, ..parts });
    }
    why.record(&Parts { unattributed: 9, ..Parts::default() });
    waits.why = Some(why);
    let conditions =
        Series { conditions: all_conditions(), ..wait("B8/nanosleep/1ms/policy=fifo:80", Pace::BackToBack) };
    let of_quantity = |experiment: ExperimentId, subject: &str, quantity, unit, values: &[i64]| {
        of_values(Series::new(experiment, subject, quantity, unit), values, 0)
    };
    let mut all = vec![
        waits,
        of_values(conditions, &[14_000, 15_000], 0),
        of_values(Series { status: Status::Partial, ..wait("B6/nanosleep/1ms", Pace::RandomPhase) }, &[7], 0),
        Series {
            status: Status::Unavailable { reason: Unavailable::NotMeasured },
            ..Series::new(ExperimentId::B5, "timerfd", Quantity::Lateness, Unit::Ns)
        },
        of_quantity(ExperimentId::B1, "nanosleep", Quantity::Duration, Unit::Ns, &[1_066_000]),
        of_quantity(ExperimentId::A1, "monotonic", Quantity::Cost, Unit::Ps, &[21_370, 21_400]),
        of_quantity(ExperimentId::B3, "monotonic-coarse", Quantity::Step, Unit::Ns, &[4_000_000]),
        of_quantity(ExperimentId::D4, "futex", Quantity::HandoffLatency, Unit::Ns, &[9_000]),
        of_quantity(ExperimentId::D1, "spinning", Quantity::ForkJoin, Unit::Ns, &[120_000]),
        of_quantity(ExperimentId::C6, "nanosleep", Quantity::WakeupsPerSecond, Unit::Hz, &[936]),
        of_quantity(ExperimentId::D3, "spinning", Quantity::GenerationsPerSecond, Unit::Hz, &[31_000]),
        of_quantity(ExperimentId::C3, "resolution", Quantity::StatedResolution, Unit::Ns, &[1_000_000]),
        of_quantity(ExperimentId::C5, "C6", Quantity::IdleResidency, Unit::Ns, &[950_000_000]),
        of_quantity(ExperimentId::C5, "package-power", Quantity::Power, Unit::Mw, &[4_200]),
        Series {
            idling: Some(idling()),
            ..of_quantity(ExperimentId::E1, "jet", Quantity::ItemLatency, Unit::Ns, &[8_000])
        },
        of_quantity(ExperimentId::E2, "jet", Quantity::ItemsPerSecond, Unit::Hz, &[4_000_000]),
        of_values(wait("trial/lower-timer-slack/nanosleep/1ms/before", Pace::BackToBack), &[66_000], 0),
        of_values(wait("trial/lower-timer-slack/nanosleep/1ms/after", Pace::BackToBack), &[14_000], 0),
    ];
    let of_java = Series {
        subject: "Thread.sleep".to_owned(),
        runtime: Some(java()),
        ..wait("B5/Thread.sleep/1ms/java=17.0.9", Pace::BackToBack)
    };
    all.push(of_values(of_java, &[73_000], 0));
    let periods = of_quantity(ExperimentId::B5, "periods", Quantity::Period, Unit::Ns, &[998_000, 1_003_000]);
    let mut cut = periods;
    cut.set_beyond(Some(Beyond { count: 3, from: 10_000_000, max: Some(12_000_000) }));
    all.push(cut);
    all.extend(observed::series());
    use ThermalPressure::{Heavy, Moderate, Nominal, Sleeping};
    let rounds = all[1..].iter_mut().filter_map(|series| series.rounds.first_mut());
    for (round, pressure) in rounds.zip([Nominal, Moderate, Heavy, Sleeping]) {
        round.disturbance.processor.thermal_pressure = Some(pressure);
    }
    all
}

fn idling() -> Idling {
    Idling {
        window_ns: Nanos::from_secs(1),
        items: 1_000,
        cpu_ns: Some(Nanos(40_000_000)),
        spins: 100,
        yields: 10,
        blocks: 1,
        parked_ns: Nanos(123_000),
        vain_parks: Some(1),
        park_overshoot: of([55_000, 56_000]),
    }
}
