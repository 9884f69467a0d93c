//! Tests of the findings on neighbours.

use oversleep_record::FactName;
use oversleep_record::finding::Verdict;

use crate::testing::{Explained, Sheet};

fn raised(now: i64) -> Sheet {
    Sheet::windows().span(FactName::TimerPeriodDefault, 15_625_000).span(FactName::TimerPeriodNow, now)
}

#[test]
fn a_neighbour_holds_a_finer_period() {
    const RAISED: &str = "another process holds a timer resolution of 1 ms: this process requested none";
    raised(1_000_000).finds("OVS-W002", RAISED);
    let gains = "; this process's waits gain by it: a 1 ms sleep took 1.95 ms, and may take 15.6 ms once the other \
                 process ends";
    raised(1_000_000).steady("B5/sleep/1ms", 950_000).finds("OVS-W002", &format!("{RAISED}{gains}"));
    let without = "; this process's waits don't follow it: a 1 ms sleep took 16 ms";
    raised(1_000_000).steady("B5/sleep/1ms", 14_990_000).finds("OVS-W002", &format!("{RAISED}{without}"));
}

#[test]
fn a_neighbour_of_our_own_shows_whom_a_request_serves() {
    let beside = |late| {
        raised(15_625_000).steady("C3/sleep/1ms/neighbour=2ms", late).steady("C3/sleep/1ms/neighbour=none", 14_600_000)
    };
    beside(1_000_000).finds(
        "OVS-W002",
        "one process's request serves all processes here: while another one held a 2 ms timer resolution, a 1 ms sleep took \
         2 ms instead of 15.6 ms",
    );
    assert_eq!(beside(14_990_000).verdict("OVS-W002"), Verdict::NotFound, "since 2004 it follows its own request");
}

#[test]
fn sleeps_that_cannot_be_judged_leave_it_open() {
    raised(15_625_000)
        .steady("C3/sleep/1ms/neighbour=1ms", 950_000)
        .scarce("C3/sleep/1ms/neighbour=none", 14_600_000)
        .lacks_data("OVS-W002");
    let wild = raised(15_625_000)
        .wild("C3/sleep/1ms/neighbour=1ms", 950_000)
        .steady("C3/sleep/1ms/neighbour=none", 14_600_000);
    wild.is_disturbed("OVS-W002");
    assert_eq!(wild.steady("C3/sleep/1ms/neighbour=2ms", 950_000).verdict("OVS-W002"), Verdict::Found);
    // The system's own statement needs no sleeps.
    let stated =
        raised(1_000_000).steady("C3/sleep/1ms/neighbour=2ms", 950_000).scarce("C3/sleep/1ms/neighbour=none", 950_000);
    assert_eq!(stated.verdict("OVS-W002"), Verdict::Found);
}

#[test]
fn no_neighbour_or_none_known() {
    raised(15_625_000)
        .finds_no("OVS-W002", "the timer resolution is the default, 15.6 ms: no process requests a finer one");
    Sheet::windows().lacks_data("OVS-W002");
}

fn beside(late: i64) -> Sheet {
    Sheet::windows()
        .integer(FactName::OsBuild, 19_045)
        .steady("C3/sleep/1ms/neighbour=1ms", late)
        .steady("C3/sleep/1ms/neighbour=none", 14_600_000)
}

#[test]
fn each_process_must_make_its_own_request() {
    beside(14_990_000).steady("C2/sleep/1ms/resolution=1ms", 950_000).finds(
        "OVS-W003",
        "each process must make its own request here (build 19045): while another one held a 1 ms timer resolution, a 1 ms \
         sleep took 16 ms, but 1.95 ms while this process held 1 ms itself",
    );
    beside(950_000).flag(FactName::TimerGlobalRequests, true).finds_no(
        "OVS-W003",
        "one process's request serves all processes here: while another one held a 1 ms timer resolution, a 1 ms sleep took \
         1.95 ms (GlobalTimerResolutionRequests is set)",
    );
    beside(14_990_000).steady("C2/sleep/1ms/resolution=1ms", 14_600_000).finds_no(
        "OVS-W003",
        "no request changes the tick here: while another one held a 1 ms timer resolution, a 1 ms sleep took 16 ms, and \
         15.6 ms while this process held 1 ms itself",
    );
    raised(1_000_000).integer(FactName::OsBuild, 22_631).steady("B5/sleep/1ms", 14_990_000).finds(
        "OVS-W003",
        "each process must make its own request here (build 22631): while another one held a 1 ms timer resolution, a 1 ms \
         sleep took 16 ms",
    );
}

#[test]
fn older_builds_missing_data_and_disturbance() {
    Sheet::windows().integer(FactName::OsBuild, 18_363).finds_no(
        "OVS-W003",
        "on build 18363 one process's request serves all processes (until build 19041, Windows 10 2004)",
    );
    Sheet::windows().integer(FactName::OsBuild, 19_045).lacks(
        "OVS-W003",
        "a sleep while another process holds 1 ms was not measured. Run `oversleep check --only C3`",
    );
    Sheet::windows().lacks_data("OVS-W003");
    // The system's own statement needs no measurement, but a measurement takes precedence.
    let shared = || Sheet::windows().integer(FactName::OsBuild, 20_348).flag(FactName::TimerRequestsPerProcess, false);
    shared().finds_no("OVS-W003", "on build 20348, as it is set up, one process's request serves all processes");
    assert_eq!(shared().scarce("C3/sleep/1ms/neighbour=1ms", 950_000).verdict("OVS-W003"), Verdict::NotFound);
    assert_eq!(shared().steady("C3/sleep/1ms/neighbour=1ms", 14_990_000).verdict("OVS-W003"), Verdict::Found);
    let wild = Sheet::windows().integer(FactName::OsBuild, 19_045).wild("C3/sleep/1ms/neighbour=1ms", 14_990_000);
    wild.is_disturbed("OVS-W003");
}
