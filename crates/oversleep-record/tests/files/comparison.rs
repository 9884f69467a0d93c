//! The published schema of comparisons: it accepts what is written, and every field and variant survives a round trip.

use oversleep_record::Labels;
use oversleep_record::clock::Validity;
use oversleep_record::comparison::*;
use oversleep_record::environment::{FactValue, PlatformId};
use oversleep_record::file::{Completion, Floor, Tool};
use oversleep_record::label::{self, Way};
use oversleep_record::part::Part;
use oversleep_record::series::{Pace, Quantity, Unit};
use oversleep_record::{Conditions, ExperimentId, FactName, Nanos, Unavailable};

use crate::support;

fn tool() -> Tool {
    Tool { name: "oversleep".into(), version: "0.1.0".into() }
}

fn judged(verdict: Verdict) -> Judgement {
    Judgement { ratio: Some(2.5), ratio_interval: Some([2.25, 2.75]), verdict }
}

fn side(result: u32, verdict: Option<Verdict>) -> Side {
    let estimate = |value| Some(Estimate { value, interval: Some(Interval { low: value - 10, high: value + 10 }) });
    Side {
        result,
        subject: Some("nanosleep".into()),
        requested_ns: Some(Nanos::from_millis(2)),
        pace: Some(Pace::Periodic),
        unavailable: None,
        rounded_ns: Some(Nanos::from_millis(1)),
        count: 2_000,
        rounds: 4,
        missed: 3,
        mean: Some(67_000),
        p50: estimate(66_000),
        p99: estimate(90_000),
        max: Some(120_000),
        parts: vec![PartSide {
            part: Part::Slack,
            mean_ns: 50_000.5,
            p50: Estimate { value: 50_000, interval: None },
            p99: estimate(51_000),
        }],
        against_base: verdict.map(|verdict| AgainstBase {
            p50: judged(verdict.clone()),
            p99: Some(judged(verdict.clone())),
            max_ratio: Some(1.5),
            parts: vec![PartAgainst { part: Part::Slack, p50: judged(verdict.clone()), p99: Some(judged(verdict)) }],
        }),
    }
}

/// A comparison in which every field and every variant occurs.
fn everything() -> Comparison {
    let compared = |arch: &str| Compared {
        name: Some("mine".into()),
        platform: PlatformId { os: "windows".into(), arch: arch.into(), modelled: Some("windows-11".into()) },
        machine: vec!["Windows 11".into()],
        wine: Some("8.0".into()),
        emulated: Some("a program for aarch64 on AMD EPYC".into()),
        tool: tool(),
        command: "check".into(),
        taken_unix_s: Some(1_700_000_000),
        completion: Completion::Complete,
        floor: Some(Floor {
            clock: "qpc".into(),
            read_cost_ps: 20_000,
            step_ns: Nanos(100),
            chosen: None,
            cross_check: None,
        }),
    };
    let why = || "because".to_owned();
    let verdicts = [
        Verdict::Differs,
        Verdict::Overlap,
        Verdict::TooFew { why: why() },
        Verdict::TooDisturbed { why: why() },
        Verdict::NotComparable { why: why() },
    ];
    let series = verdicts.into_iter().enumerate().map(|(index, verdict)| SeriesComparison {
        key: format!("B5/sleep/{index}ms").into(),
        experiment: ExperimentId::B5,
        subject: "sleep".into(),
        runtime: None,
        quantity: Quantity::Lateness,
        unit: Unit::Ns,
        requested_ns: Some(Nanos::from_millis(1)),
        pace: Some(Pace::Periodic),
        conditions: Conditions::as_found().with_load("spin", 2),
        labels: Labels::new().with(label::WAY, Way::OneWay),
        sides: vec![side(0, None), side(1, Some(verdict))],
    });
    let mut series: Vec<SeriesComparison> = series.collect();
    series[0].sides[0].unavailable = Some(Unavailable::NotOnThisPlatform);
    let kinds = [
        CaveatKind::Modelled,
        CaveatKind::Wine,
        CaveatKind::Emulated,
        CaveatKind::Interrupted,
        CaveatKind::Quick,
        CaveatKind::Busy,
        CaveatKind::OtherClock,
        CaveatKind::OtherFollower,
        CaveatKind::Imported,
        CaveatKind::OtherCpus,
    ];
    Comparison {
        schema: SCHEMA.into(),
        tool: tool(),
        results: vec![compared("x86_64"), compared("aarch64")],
        caveats: kinds.into_iter().map(|kind| Caveat { result: 1, kind, sentence: why() }).collect(),
        facts: vec![FactDifference {
            name: FactName::TimerHz.into(),
            values: vec![None, Some(FactValue::Integer(250))],
        }],
        clocks: vec![ClockComparison {
            name: "qpc".into(),
            sides: vec![ClockSide {
                result: 0,
                step_ns: Some(Nanos(100)),
                stated_step_ns: Some(Nanos(100)),
                cost_ps: Some(29_300),
                validity: Some(Validity::Unproven),
                reasons: vec!["steps not observed".into()],
                caution: Some("no fence".into()),
                unavailable: Some(Unavailable::NotOnThisPlatform),
            }],
        }],
        series,
    }
}

/// The published comparison is what is written, and comes back.
///
/// `OVERSLEEP_UPDATE_GOLDEN=1 cargo test -p oversleep-record --test files comparison` rewrites it.
#[test]
fn what_is_written_comes_back_as_published() {
    let text = serde_json::to_string_pretty(&everything()).unwrap() + "\n";
    let path = support::schema_dir().join("golden/comparison-v3/everything.json");
    if std::env::var_os("OVERSLEEP_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap();
    assert_eq!(serde_json::from_str::<Comparison>(&published).unwrap(), everything());
    assert!(published == text, "it is no longer written as it was published");
}
