//! Fleets with few results, few hosts or few days: what can be judged is, and what can't is named with what it takes.

use oversleep_record::{Distribution, Nanos};
use oversleep_system::split_mix::{STEP, mixed};

use super::{Collector, Fleet, Kind, START_UNIX_S, Stretch, sentences};

/// A fleet of one kind, in which hosts differ by a twentieth, and the results of a host by a fiftieth.
#[derive(Clone, Copy)]
struct Plan {
    hosts: u64,
    days: u64,
    seed: u64,
    /// How many waits each result has.
    waits: u64,
    /// How many hours after the first result of a day the next one follows.
    every_h: u64,
    /// The hour of a host's first result of a day, by host, day and a random number.
    hour: fn(u64, u64, u64) -> u64,
    /// How many times as late a host is on a day at an hour.
    late: fn(u64, u64, u64) -> f64,
    /// How many hosts change their kernel on the fourth day.
    changed: u64,
    /// How many days later they have the former one again.
    back_after: u64,
    /// The clock source of the hosts that changed, by day.
    clock_source: fn(u64) -> &'static str,
    /// The share that the hypervisor takes, by day.
    steal_share: Option<fn(u64) -> f64>,
}

const DAILY: Plan = Plan {
    hosts: 20,
    days: 14,
    seed: 1,
    waits: 1_500,
    every_h: 24,
    hour: |_, _, random| random % 24,
    late: |_, _, _| 1.0,
    changed: 0,
    back_after: u64::MAX,
    clock_source: |_| "tsc",
    steal_share: None,
};
const EVERY_SIX_HOURS: Plan = Plan { every_h: 6, hour: |_, _, _| 0, days: 7, ..DAILY };

fn judged(plan: Plan) -> Fleet {
    let kind = Kind {
        os: "linux".to_owned(),
        processor: Some("AMD EPYC 7B13".to_owned()),
        cpus: Some(32),
        hypervisor: Some("kvm".to_owned()),
    };
    let mut collector = Collector::new();
    for day in 0..plan.days {
        for host in 0..plan.hosts {
            let number = |purpose: u64| {
                let parts = [plan.seed, host, purpose];
                parts.iter().fold(0, |hash: u64, part| mixed(hash.wrapping_add(STEP) ^ part.wrapping_mul(STEP)))
            };
            let deviate = |purpose: u64| {
                (0..4).map(|at| (number(purpose * 4 + at) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5).sum::<f64>()
                    * 1.73
            };
            let first = (plan.hour)(host, day, number(1_000_000 + day));
            for hour in (first..24).step_by(plan.every_h as usize) {
                let is_changed = host < plan.changed;
                let is_new = is_changed && day >= 3 && day - 3 < plan.back_after;
                let clock_source = if is_changed { (plan.clock_source)(day) } else { "tsc" };
                let own = (0.05 * deviate(1) + 0.02 * deviate(100 + day * 24 + hour)).exp();
                let late = own * (plan.late)(host, day, hour) * if is_new { 1.6 } else { 1.0 };
                collector.add(&Stretch {
                    host: &format!("host-{host:02}"),
                    kind: &kind,
                    kernel: Some(if is_new { "6.12.0" } else { "6.1.0" }),
                    settings: &[("clock source", clock_source)],
                    wait: "nanosleep",
                    requested: Some(Nanos::from_millis(1)),
                    taken_unix_s: START_UNIX_S + (day * 86_400 + hour * 3_600) as i64,
                    lateness: &Distribution::of_equal((60_000.0 * late) as i64, plan.waits),
                    steal_share: plan.steal_share.map(|share| share(day)),
                });
            }
        }
    }
    collector.judge()
}

/// What was judged of a finding.
fn about(fleet: &Fleet, id: &str) -> String {
    fleet
        .judged
        .iter()
        .filter(|judged| judged.id == id)
        .flat_map(|judged| judged.about.clone())
        .collect::<Vec<_>>()
        .join(", ")
}

/// What could not be judged of a finding, and what it takes.
fn lacks(fleet: &Fleet, id: &str) -> Vec<String> {
    let of = fleet.unjudged.iter().filter(|unjudged| unjudged.ids.contains(&id));
    of.map(|unjudged| format!("{}: {}", unjudged.about, unjudged.needs)).collect()
}

#[test]
fn a_figure_for_which_results_have_too_few_waits_is_not_judged() {
    let fleet = judged(Plan { waits: 600, ..EVERY_SIX_HOURS });
    for id in ["OVS-F001", "OVS-F002"] {
        assert_eq!(about(&fleet, id), "p50");
        let lacks = lacks(&fleet, id);
        let needs = "p99: 1,000 waits of a host in six hours, which none of 20 hosts has (usual are 600): ";
        assert!(lacks.len() == 1 && lacks[0].starts_with(needs), "{lacks:?}");
    }
    let enough = judged(EVERY_SIX_HOURS);
    assert_eq!(
        (about(&enough, "OVS-F001"), about(&enough, "OVS-F002")),
        ("p50, p99".to_owned(), "p50, p99".to_owned())
    );
    assert_eq!(lacks(&enough, "OVS-F001"), Vec::<String>::new());
}

#[test]
fn one_result_a_day_at_random_hours_shows_which_host_is_unlike_its_group() {
    for hosts in [12, 20, 40] {
        let fleet = judged(Plan { hosts, late: |host, _, _| if host == 4 { 4.0 } else { 1.0 }, ..DAILY });
        assert_eq!(fleet.findings.len(), 1, "{hosts}: {}", sentences(&fleet.findings));
        assert_eq!((fleet.findings[0].id, &*fleet.findings[0].hosts[0]), ("OVS-F001", "host-04"));
        assert_eq!(about(&fleet, "OVS-F001"), "p50, p99");
        // A host has one quarter of each day.
        assert_eq!(about(&fleet, "OVS-F002"), "");
        let lacks = lacks(&fleet, "OVS-F002");
        let needs = format!(
            "p50 and p99: results of a host in two quarters of the day or more, on 3 days, which none of {hosts} hosts has: "
        );
        assert!(lacks.len() == 1 && lacks[0].starts_with(&needs), "{lacks:?}");
    }
}

#[test]
fn random_hours_make_no_host_unlike_a_group_that_is_late_at_night() {
    for hosts in [10, 14, 20, 60] {
        for seed in 1..=25 {
            let at_night: fn(u64, u64, u64) -> f64 = |_, _, hour| if hour < 6 { 2.0 } else { 1.0 };
            let fleet = judged(Plan { hosts, seed, late: at_night, ..DAILY });
            assert_eq!(sentences(&fleet.findings), "", "{hosts} hosts, seed {seed}");
            assert_eq!(about(&fleet, "OVS-F001"), "p50, p99");
        }
    }
}

#[test]
fn hosts_that_are_measured_at_different_hours_are_not_compared() {
    // Three hosts in each quarter of the day, always the same: what differs may be the hour.
    let fleet = judged(Plan {
        hosts: 12,
        hour: |host, _, _| host * 2,
        late: |host, _, _| if host == 4 { 3.0 } else { 1.0 },
        ..DAILY
    });
    assert_eq!(sentences(&fleet.findings), "");
    assert_eq!(about(&fleet, "OVS-F001"), "");
    let lacks = lacks(&fleet, "OVS-F001");
    assert!(
        lacks.len() == 1 && lacks[0].contains("which none of 12 hosts has: let `oversleep serve` run"),
        "{lacks:?}"
    );
}

#[test]
fn a_change_is_judged_from_as_many_hosts_as_the_report_says() {
    // Two comparisons with a quarter of 1 %: eleven hosts are later by chance alone with a probability of 2^-11.
    for changed in 1..=14 {
        let fleet = judged(Plan { hosts: changed + 14, changed, ..EVERY_SIX_HOURS });
        let found: Vec<&str> = fleet.findings.iter().map(|finding| finding.id).collect();
        match changed >= 11 {
            true => assert_eq!((found, about(&fleet, "OVS-F004")), (vec!["OVS-F004"], "p50, p99".to_owned())),
            false => {
                assert!(found.is_empty() && about(&fleet, "OVS-F004").is_empty(), "{changed}: {found:?}");
                let lacks = lacks(&fleet, "OVS-F004");
                let change = format!("the kernel from 6.1.0 to 6.12.0 on {changed} host");
                assert!(lacks.len() == 1 && lacks[0].starts_with(&change), "{lacks:?}");
                assert!(lacks[0].ends_with(": 11 hosts that changed it"), "{lacks:?}");
            }
        }
    }
}

#[test]
fn a_change_without_other_hosts_says_so() {
    let fleet = judged(Plan { changed: 20, ..EVERY_SIX_HOURS });
    assert!(fleet.findings.is_empty(), "{}", sentences(&fleet.findings));
    assert_eq!(about(&fleet, "OVS-F004"), "");
    let needs = "the kernel from 6.1.0 to 6.12.0 on 20 hosts (AMD EPYC 7B13, 32 CPUs, kvm): 11 hosts that didn't change \
                 it, and 0 didn't";
    assert_eq!(lacks(&fleet, "OVS-F004"), [needs]);
    assert_eq!(about(&judged(EVERY_SIX_HOURS), "OVS-F004"), "no host changed a fact");
    let one_day = judged(Plan { days: 1, ..EVERY_SIX_HOURS });
    assert!(lacks(&one_day, "OVS-F004")[0].contains("results of a host from two days or more"), "{one_day:?}");
}

#[test]
fn a_kernel_that_was_rolled_back_is_judged_and_another_fact_is_named() {
    let fleet = judged(Plan { hosts: 40, changed: 20, back_after: 2, ..EVERY_SIX_HOURS });
    let sentence = sentences(&fleet.findings);
    let start = "20 hosts (AMD EPYC 7B13, 32 CPUs, kvm) changed the kernel from 6.1.0 to 6.12.0 and back later at ";
    assert!(fleet.findings.len() == 1 && fleet.findings[0].sentence.starts_with(start), "{sentence}");
    let ratio = fleet.findings[0].ratio.unwrap().value;
    assert!((1.5..1.7).contains(&ratio), "{sentence}");
    let source = |day| if day == 3 { "hpet" } else { "tsc" };
    let fleet = judged(Plan { hosts: 40, changed: 20, back_after: 0, clock_source: source, ..EVERY_SIX_HOURS });
    assert_eq!(about(&fleet, "OVS-F004"), "");
    assert!(
        lacks(&fleet, "OVS-F004")[0].starts_with("the clock source on 20 hosts"),
        "{:?}",
        lacks(&fleet, "OVS-F004")
    );
}

#[test]
fn what_changed_together_is_one_finding() {
    let source = |day| if day >= 3 { "kvm-clock" } else { "tsc" };
    let fleet = judged(Plan { hosts: 40, changed: 20, clock_source: source, ..EVERY_SIX_HOURS });
    let both: Vec<&str> = fleet.findings.iter().filter(|one| one.id == "OVS-F004").map(|one| &*one.sentence).collect();
    let end = "The same hosts changed the clock source from tsc to kvm-clock at the same time: these results can't tell \
               which of them made the difference.";
    assert!(both.len() == 1 && both[0].ends_with(end), "{both:?}");
}

#[test]
fn steal_is_that_of_the_days_since_it_began() {
    let share = |day| if day >= 3 { 0.03 } else { 0.0 };
    let fleet = judged(Plan { hosts: 12, steal_share: Some(share), ..EVERY_SIX_HOURS });
    let sentence = sentences(&fleet.findings);
    assert!(
        sentence.contains("takes 3 % of the CPU time") && sentence.contains("(99 % interval 3 % to 3 %)"),
        "{sentence}"
    );
}

#[test]
fn steal_is_judged_from_as_many_hosts_as_the_report_says() {
    for hosts in 1..=12 {
        let fleet = judged(Plan { hosts, steal_share: Some(|_| 0.03), ..EVERY_SIX_HOURS });
        let is_found = fleet.findings.iter().any(|finding| finding.id == "OVS-F005");
        assert_eq!((is_found, about(&fleet, "OVS-F005") == "steal"), (hosts >= 10, hosts >= 10), "{hosts}");
        let lacks = lacks(&fleet, "OVS-F005");
        let needs = format!(": 10 hosts of a kind whose steal is known, and it has {hosts}");
        assert!(if hosts >= 10 { lacks.is_empty() } else { lacks[0].ends_with(&needs) }, "{lacks:?}");
    }
}

#[test]
fn settings_are_judged_among_ten_hosts_under_the_same_kernel() {
    let fleet = judged(Plan { hosts: 18, changed: 9, ..EVERY_SIX_HOURS });
    assert_eq!(about(&fleet, "OVS-F003"), "");
    assert!(
        lacks(&fleet, "OVS-F003")[0].starts_with("clock source on 18 hosts: 10 hosts of a kind under the same kernel")
    );
    assert_eq!(about(&judged(EVERY_SIX_HOURS), "OVS-F003"), "clock source");
}
