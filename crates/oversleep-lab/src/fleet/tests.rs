//! Fleets with planted differences, and without any.

use super::simulated::{Plan, each};
use super::{Collector, Finding, Fleet};

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
    assert_eq!(fleet.undecided, Vec::<String>::new());
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
