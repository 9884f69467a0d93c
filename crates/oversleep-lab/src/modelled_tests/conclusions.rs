//! The conclusions of a default check of modelled machines.

use oversleep_measure::Depth;
use oversleep_record::finding::Verdict;
use oversleep_record::{ExperimentId, Nanos};

use super::{explained, looked_at};

#[test]
fn a_default_look_at_the_coarse_clocks_tells_that_the_tick_count_ignores_the_resolution() {
    for (name, experiment) in [("windows-7", ExperimentId::B3), ("windows-11", ExperimentId::B3)] {
        let file = explained(name, &[experiment]);
        let finding = file.findings.iter().find(|finding| finding.name == "tick-count-step").unwrap();
        assert_eq!(finding.verdict, Verdict::Found, "{name} {experiment}: {}", finding.sentence);
    }
    let own = explained("windows-10-2004", &[ExperimentId::B3]);
    let polled = own.series("B3/get-tick-count-64/resolution=1ms").expect("it is polled under a request");
    assert!(polled.conditions.all_held());
    assert!(polled.samples.value.iter().all(|step| step == 15_000_000 || step == 16_000_000));
}

#[test]
fn experiments_take_the_tick_count_for_the_coarse_clock_of_windows() {
    let file = explained("windows-10-2004", &[ExperimentId::D1]);
    let coarse = file.series("D1/blocked/coarse").expect("it was measured");
    assert_eq!(coarse.clock, "get-tick-count-64");
}

#[test]
fn a_default_look_at_the_neighbours_tells_whose_request_counts() {
    let finding = |name: &str, wanted: &str| {
        let file = explained(name, &[ExperimentId::C3]);
        let finding = file.findings.iter().find(|finding| finding.name == wanted).unwrap();
        (finding.verdict, finding.sentence.clone())
    };
    let own = finding("windows-11", "own-request-needed");
    assert_eq!(own.0, Verdict::Found, "{}", own.1);
    assert!(own.1.contains("each process must make its own request"), "{}", own.1);
    let shared = finding("windows-server-2022", "own-request-needed");
    assert_eq!(shared.0, Verdict::NotFound, "{}", shared.1);
    for name in ["windows-7", "windows-10-1909", "windows-server-2022"] {
        let (verdict, sentence) = finding(name, "neighbour-raised-tick");
        assert_eq!(verdict, Verdict::Found, "{name}: {sentence}");
        assert!(sentence.contains("one process's request serves all processes"), "{name}: {sentence}");
    }
    assert_eq!(finding("windows-11", "neighbour-raised-tick").0, Verdict::NotFound);
}

#[test]
fn a_default_look_at_the_waits_tells_the_share_that_macos_adds() {
    let file = explained("macos-14-m1", &[ExperimentId::B5]);
    let leeway = file.findings.iter().find(|finding| finding.name == "timer-leeway").unwrap();
    assert_eq!(leeway.verdict, Verdict::Found, "{}", leeway.sentence);
    assert!(leeway.evidence.iter().any(|evidence| evidence.source == "B5/nanosleep/5ms"), "{:?}", leeway.evidence);
}

#[test]
fn a_quick_look_tells_whose_request_counts_or_what_it_lacks() {
    for (name, wanted) in [
        ("windows-7", Verdict::NotFound),
        ("windows-10-1909", Verdict::NotFound),
        ("windows-10-laptop", Verdict::NotFound),
        ("windows-10-2004", Verdict::Found),
        ("windows-10-510us", Verdict::Found),
        ("windows-11", Verdict::Found),
        ("windows-server-2022", Verdict::NotFound),
    ] {
        let said = |experiment| {
            let file = looked_at(name, &[experiment], Depth::Quick);
            let finding = file.findings.into_iter().find(|finding| finding.id == "OVS-W003").unwrap();
            (finding.verdict, finding.sentence)
        };
        let (verdict, sentence) = said(ExperimentId::C3);
        assert_eq!(verdict, wanted, "{name}: {sentence}");
        // A quick check has no neighbour; if only one could show it, the finding says so.
        let (verdict, sentence) = said(ExperimentId::B7);
        if wanted == Verdict::Found {
            assert_eq!(verdict, Verdict::NotEnoughData, "{name}: {sentence}");
            assert_eq!(
                sentence,
                "a sleep while another process holds 1 ms was not measured. Run `oversleep check --only C3`"
            );
        } else {
            assert_eq!(verdict, Verdict::NotFound, "{name}: {sentence}");
        }
    }
}

/// What `check` runs on a machine whose time is real.
fn of_a_real_check() -> Vec<ExperimentId> {
    oversleep_measure::of_check(Depth::Normal, false).iter().map(|experiment| experiment.id).collect()
}

#[test]
fn a_check_of_an_undisturbed_machine_takes_ten_seconds() {
    for name in ["linux-hz250", "linux-hz1000", "macos-14-m1"] {
        let file = explained(name, &of_a_real_check());
        let most = Nanos::from_secs(10);
        assert!(file.duration_ns <= most, "{name}: {}", file.duration_ns);
        let company = file.series.iter().filter(|series| series.company.is_some()).count();
        assert!(company > 10, "{name}: {company} series were measured beside others");
    }
}
