//! Fleets with planted differences, and without any.

mod sparse;

use oversleep_record::{Distribution, Nanos};

use super::simulated::{Plan, START_UNIX_S, each};
use super::{Collector, Finding, Fleet, Kind, Stretch};

fn judged(plan: Plan) -> Fleet {
    let mut collector = Collector::new();
    each(&plan, &mut |stretch| collector.add(stretch)).unwrap();
    collector.judge()
}

const SMALL: Plan = Plan { hosts: 160, ..Plan::WEEK };

fn sentences(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{} {}\n", finding.id, finding.sentence)).collect()
}

#[test]
fn each_planted_difference_is_found_and_no_other() {
    let planted = SMALL.planted();
    let fleet = judged(SMALL);
    assert_eq!((fleet.hosts, fleet.rows), (160, 160 * 168 * 2));
    let of = |id: &str| -> Vec<&Finding> { fleet.findings.iter().filter(|finding| finding.id == id).collect() };
    assert_eq!(fleet.findings.len(), 4, "{}", sentences(&fleet.findings));
    let processor = |finding: &Finding| finding.kind.as_ref().and_then(|kind| kind.processor.clone());
    assert_eq!(of("OVS-F002")[0].hosts, [planted.at_night]);
    assert_eq!(of("OVS-F003")[0].hosts, [planted.wrong_clock]);
    assert_eq!(processor(of("OVS-F004")[0]).as_deref(), Some(planted.new_image));
    assert_eq!(processor(of("OVS-F005")[0]).as_deref(), Some(planted.stolen));
    assert_eq!((fleet.undecided, fleet.unjudged), (Vec::new(), Vec::new()));
}

#[test]
fn a_fleet_in_which_nothing_is_planted_has_no_finding() {
    // Eight seeds had none (2026-11-29); each takes seconds.
    for seed in 1..=2 {
        let fleet = judged(Plan { seed, is_planted: false, ..SMALL });
        assert_eq!(sentences(&fleet.findings), "", "seed {seed}");
        assert_eq!(fleet.hosts, 160);
    }
}

/// Twenty hosts of a kind, of which the fifth is so many times as late from that day on. The others differ by a twentieth,
/// and every day differs by a hundredth.
fn of_twenty(days: i64, times: f64, from_day: i64) -> Fleet {
    let kind = Kind {
        os: "linux".to_owned(),
        processor: Some("AMD EPYC 7B13".to_owned()),
        cpus: Some(32),
        hypervisor: Some("kvm".to_owned()),
    };
    let mut collector = Collector::new();
    for day in 0..days {
        for host in 0..20_i64 {
            for quarter in 0..4 {
                let own = 60_000.0 * (1.0 + (host * 7 % 20) as f64 / 400.0 + ((host * 5 + day * 3) % 7) as f64 / 700.0);
                let late = if host == 4 && day >= from_day { times } else { 1.0 };
                collector.add(&Stretch {
                    host: &format!("host-{host:02}"),
                    kind: &kind,
                    kernel: Some("6.1.0"),
                    settings: &[],
                    wait: "nanosleep",
                    requested: Some(Nanos::from_millis(1)),
                    taken_unix_s: START_UNIX_S + day * 86_400 + quarter * 21_600,
                    lateness: &Distribution::of_equal((own * late) as i64, 2_000),
                    steal_share: None,
                });
            }
        }
    }
    collector.judge()
}

#[test]
fn a_host_that_changed_in_the_last_days_is_unlike_its_group_since_then() {
    for (days, from_day) in [(7, 5), (7, 3), (30, 28), (30, 15)] {
        let fleet = of_twenty(days, 3.0, from_day);
        assert_eq!(fleet.findings.len(), 1, "{days} {from_day}: {}", sentences(&fleet.findings));
        let finding = &fleet.findings[0];
        assert_eq!((finding.id, &*finding.hosts), ("OVS-F001", &["host-04".to_owned()][..]));
        assert_eq!(finding.since_unix_s, Some(START_UNIX_S + from_day * 86_400), "{}", finding.sentence);
        let row = &fleet.host_rows[0];
        assert_eq!((&*row.host, &*row.findings), ("host-04", &["OVS-F001"][..]));
        assert!(row.value_ns > 170_000.0 && row.ratio.unwrap().low > 2.5, "what it is now: {row:?}");
    }
    let sentence = &of_twenty(7, 3.0, 5).findings[0].sentence;
    assert!(sentence.contains(" since 2026-11-21 00:00 UTC: p"), "{sentence}");
    assert!(sentence.ends_with(" times as late as before."), "{sentence}");
    assert!(sentence.contains("from 2 days) as the median of its group and "), "{sentence}");
}

#[test]
fn a_host_that_was_always_unlike_its_group_has_no_day_since_when() {
    let finding = &of_twenty(7, 3.0, 0).findings[0];
    assert_eq!((finding.id, finding.since_unix_s), ("OVS-F001", None));
}

#[test]
fn one_late_day_is_no_change_and_neither_is_a_small_one() {
    assert_eq!(sentences(&of_twenty(14, 3.0, 13).findings), "", "the last day alone");
    assert_eq!(sentences(&of_twenty(14, 1.015, 7).findings), "", "nearer to 1 than matters");
}

#[test]
fn a_machine_that_became_another_kind_is_compared_with_that_kind_since_then() {
    let kind = |cpus| Kind {
        os: "linux".to_owned(),
        processor: Some("AMD EPYC 7B13".to_owned()),
        cpus: Some(cpus),
        hypervisor: Some("kvm".to_owned()),
    };
    let mut collector = Collector::new();
    for day in 0..8_i64 {
        for host in 0..24_i64 {
            // Small machines are twice as late; the first is a large one since the fourth day.
            let is_large = host >= 12 || (host == 0 && day >= 4);
            let own = (if is_large { 60_000.0 } else { 120_000.0 }) * (1.0 + (host * 7 % 20) as f64 / 400.0);
            collector.add(&Stretch {
                host: &format!("host-{host:02}"),
                kind: &kind(if is_large { 32 } else { 8 }),
                kernel: Some("6.1.0"),
                settings: &[],
                wait: "nanosleep",
                requested: Some(Nanos::from_millis(1)),
                taken_unix_s: START_UNIX_S + day * 86_400,
                lateness: &Distribution::of_equal((own * (1.0 + (day * 3 % 7) as f64 / 700.0)) as i64, 2_000),
                steal_share: None,
            });
        }
    }
    let fleet = collector.judge();
    assert_eq!(sentences(&fleet.findings), "");
    assert_eq!((fleet.hosts, fleet.host_rows.len()), (24, 25));
}

#[test]
fn advice_about_a_machine_without_a_hypervisor_is_not_to_move_it() {
    let fleet = judged(SMALL);
    let night = fleet.findings.iter().find(|finding| finding.id == "OVS-F002").unwrap();
    assert!(night.sentence.contains("(AMD EPYC 7543P, 64 CPUs, no hypervisor)"), "{}", night.sentence);
    assert!(
        !night.next_step.contains("move") && night.next_step.contains("a job that runs then"),
        "{}",
        night.next_step
    );
    let row = fleet.host_rows.iter().find(|row| row.host == night.hosts[0]).unwrap();
    assert!(row.times_group_by_day.iter().all(|times| times.is_some_and(|times| times > 10.0)), "{row:?}");
}
