//! Arbitrary results: whatever a file contains, every finding answers with a sentence.

use oversleep_record::environment::FactValue;
use oversleep_record::label::{self, Activity, ClockRole, Counted, JoinStyle};
use oversleep_record::series::{Pace, Status};
use oversleep_record::split::LatenessSplit;
use oversleep_record::{FactName, Nanos, Series, Unavailable};
use proptest::prelude::*;

use crate::compare::facts;
use crate::testing::{Sheet, good_clock, rounds};
use crate::{findings, remedies_to_try, split, verdicts};

/// Keys as the experiments write them, of every experiment a finding reads.
const KEYS: &str = "
    A1/monotonic A1/qpc B1/nanosleep/1ms/coarse B2/nanosleep/1ms B2/sleep/15ms B3/monotonic-coarse
    B3/get-tick-count-64 B3/system-time B5/nanosleep/1ms B5/nanosleep/5ms B5/nanosleep/100ms B5/sleep/1ms
    B5/poll/300us B5/poll/16ms B5/poll/100ms B5/timerfd/1ms B5/so-rcvtimeo/1ms B5/waitable-timer/1ms
    B5/waitable-timer-tolerant/1ms B5/waitable-timer-high-resolution/1ms B5/oversleep-sleep-until/1ms
    B7/sched-yield B8/poll/100ms/policy=other B8/poll/100ms/policy=other:5 B8/nanosleep/1ms/policy=time-constraint
    B9/nanosleep/1ms/load=spin:4 B12/hybrid/1ms C2/nanosleep/1ms/slack=1ns C2/sleep/1ms/resolution=500us
    C2/sleep/1ms/resolution=507us C2/sleep/1ms/resolution=1ms C3/sleep/1ms/neighbour=1ms
    C3/get-tick-count-64/step/neighbour=2ms C5/sleep/interrupts/idle/resolution=as-found
    C5/sleep/interrupts/idle/resolution=500us D1/blocked/precise D1/polling/precise
";

/// Facts the findings ask for; each may hold any kind of value.
const FACTS: &[FactName] = facts![
    OsBuild OsIsServer OsWineVersion TimerPeriodDefault TimerPeriodNow TimerHighResolution TimerGlobalRequests
    TimerSlack TimerHz TimerCoarseStep SchedPolicy SchedNice SchedQosClass
    CpuCount CpuTscInvariant CgroupCpuQuotaCpus KernelRelease VirtualisationHypervisor
];

fn any_value() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => -100_000_i64..40_000_000,
        1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]),
    ]
}

fn any_fact() -> impl Strategy<Value = FactValue> {
    prop_oneof![
        any_value().prop_map(FactValue::Integer),
        any_value().prop_map(|span| FactValue::Nanos(Nanos(span))),
        any::<bool>().prop_map(FactValue::Flag),
        any::<f64>().prop_map(FactValue::Real),
        "[ -~]{0,12}".prop_map(FactValue::Text),
        Just(FactValue::List(Vec::new())),
        Just(FactValue::Unknown(Unavailable::NotMeasured)),
    ]
}

prop_compose! {
    fn any_series()(
        key in prop::sample::select(KEYS.split_whitespace().collect::<Vec<_>>()),
        values in prop::collection::vec(any_value(), 0..4),
        count in prop_oneof![Just(0_u64), Just(1), Just(20)],
        missed in prop::collection::vec(any_value(), 0..4),
        pace in prop::sample::select(vec![None, Some(Pace::Periodic), Some(Pace::BackToBack)]),
        rounded in prop::option::of(any_value()),
        parts in prop::option::of([any_value(), any_value(), any_value(), any_value()]),
        unavailable in prop::bool::weighted(0.1),
    ) -> Series {
        let mut series = rounds(key, &values, count);
        series.pace = pace;
        series.rounded_ns = rounded.map(Nanos).or(series.rounded_ns);
        if !missed.is_empty() {
            series.calls_only = Some(series.distribution.clone());
            missed.iter().for_each(|&late| series.distribution.record(late));
            series.counts.missed = missed.len() as u64;
            series.counts.recorded = series.distribution.count();
        }
        series.split = parts.map(|[deadline, switch_in, delay, end]| {
            let mut split = LatenessSplit::default();
            (0..count.max(1)).for_each(|_| split.record(Nanos(deadline), Nanos(switch_in), Nanos(delay), Nanos(end)));
            split
        });
        series.labels = series
            .labels
            .with(label::COUNTED, Counted::Interrupts)
            .with(label::ACTIVITY, Activity::Idle)
            .with(label::CLOCK_ROLE, ClockRole::Precise)
            .with(label::STYLE, JoinStyle::Blocked);
        if unavailable {
            series.status = Status::Unavailable { reason: Unavailable::NotMeasured };
        }
        series
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_result_is_explained(
        os in prop::sample::select(vec!["linux", "windows", "macos", "haiku"]),
        series in prop::collection::vec(any_series(), 0..16),
        facts in prop::collection::vec((prop::sample::select(FACTS), any_fact()), 0..12),
    ) {
        let mut sheet = Sheet::on(os).clock(good_clock("monotonic")).clock(good_clock("system-time"));
        for (index, mut series) in series.into_iter().enumerate() {
            // Keys are unique in a file.
            if sheet.file.series(&series.key).is_some() {
                series.key = series.key.word(index);
            }
            sheet = sheet.series(series);
        }
        for (name, value) in facts {
            sheet = sheet.fact(name, value);
        }
        for finding in findings(&sheet.file) {
            prop_assert!(!finding.sentence.trim().is_empty(), "{} says nothing", finding.id);
            prop_assert!(!finding.sentence.contains("NaN"), "{}", finding.sentence);
        }
        let _ = (verdicts::clock_table(&sheet.file), split::rows(&sheet.file), remedies_to_try(&sheet.file));
    }
}
