//! Verdicts on made-up waits, each worked out by hand.

use oversleep_record::Series;
use oversleep_record::finding::Severity;
use oversleep_record::observed::culprit::{Culprit, Whose, Why};
use oversleep_record::observed::wait::{Marks, Outcome, Request, Wait};
use oversleep_record::observed::{Blame, By, Losses, Observation};
use oversleep_record::part::Parts;
use oversleep_record::testing::Sheet;

use super::ordinary::ORDINARY_NS;
use super::*;
use crate::observed::testing::{blame, interpreter, periods, waits, waits_on_tick};

fn result(series: Vec<Series>) -> ResultFile {
    let mut file = Sheet::linux().file;
    (file.series, file.observation) = (series, Some(Observation::default()));
    file
}

fn verdict(file: &ResultFile) -> Verdict {
    Verdict::of(file).expect("a program was observed")
}

fn sentence(series: Vec<Series>) -> String {
    verdict(&result(series)).sentence
}

/// So many waits of 10 ms that wait that long for a CPU.
fn queued(count: u64, runq: i64, blames: Vec<Blame>) -> Series {
    let mut series = waits(10, count, Parts { runq, ..Parts::default() });
    series.observed.as_mut().expect("it was observed").blames = blames;
    series
}

fn slack(count: u64) -> Series {
    waits(1, count, Parts { slack: 50_000, ..Parts::default() })
}

/// Waits with a rare and long delay: one in 50.
fn rarely_late(count: u64) -> Series {
    let mut series = slack(count);
    let late = Parts { slack: 50_000, runq: 9_000_000, ..Parts::default() };
    for _ in 0..count / 49 {
        series.distribution.record(late.sum());
        series.why.as_mut().expect("it is split").record(&late);
    }
    series.counts.recorded = series.distribution.count();
    series
}

#[test]
fn kinds_are_weighed_by_their_time() {
    // 5 ms of slack in 100 waits, 45 ms without a CPU in ten.
    let file = result(vec![slack(100), queued(10, 4_500_000, vec![blame("compile", 120, 10, 44_000_000)])]);
    let verdict = verdict(&file);
    assert_eq!(verdict.sentence, "90 % of its lateness is waiting for a CPU, behind compile; 10 % is timer slack.");
    let shares: Vec<_> = verdict.shares.iter().map(|of| (of.part, of.total.0, of.share)).collect();
    assert_eq!(shares, [(Part::Slack, 5_000_000, 0.1), (Part::Runq, 45_000_000, 0.9)]);
    assert_eq!(
        verdict.figures.map(|figures| figures.to_string()).as_deref(),
        Some("110 waits: p50 50 µs, max 4.5 ms; 50 ms late in all")
    );
    let step = verdict.first_step.expect("a task is to blame");
    assert_eq!((&*step.finding, step.is_optional), ("OVS-Y015", false));
    assert_eq!(step.instance.as_deref(), Some("compile (SCHED_BATCH)"));
    assert!(step.advice.sentence.starts_with("Keep compile away"), "{step:?}");
    assert_eq!(Verdict::of(&Sheet::linux().file), None, "no program was observed");
}

#[test]
fn timeouts_of_sockets_end_on_the_tick_which_is_no_slack_of_threads() {
    let file = result(vec![waits_on_tick(12, 100, 4_000_000)]);
    let tick = verdict(&file);
    assert_eq!(tick.sentence, "100 % of its lateness is the kernel's tick, because timeouts of sockets end on it.");
    assert_eq!((tick.shares.len(), tick.shares[0].part, tick.shares[0].about()), (1, Part::Slack, "the kernel's tick"));
    let step = tick.first_step.expect("there are better timers");
    assert_eq!(step.finding, "OVS-Y003");
    assert!(step.advice.sentence.starts_with("Wait for the socket with ppoll and a timeout"), "{step:?}");
    assert!(tick.leaves.expect("it is a gain").to_string().starts_with("Without the kernel's tick, p90 would be"));

    // A quarter of it is the slack of threads: neither is the other.
    let both = verdict(&result(vec![
        waits_on_tick(12, 100, 1_500_000),
        waits(1, 1_000, Parts { slack: 50_000, ..Parts::default() }),
    ]));
    let says = "75 % of its lateness is the kernel's tick, because timeouts of sockets end on it; 25 % is timer slack.";
    assert_eq!((&*both.sentence, both.shares[0].about()), (says, "timer slack, and the kernel's tick"));
    let leaves = both.leaves.expect("it is a gain");
    assert_eq!((leaves.figure, leaves.after), ("p99", Nanos(50_000)), "the slack stays: {leaves}");
}

#[test]
fn too_few_waits_are_undecided() {
    let few = verdict(&result(vec![slack(7)]));
    let says = "Undecided: no kind of waits has more than 7, and a conclusion needs 8. Follow the program for longer.";
    assert_eq!((&*few.sentence, &few.shares[..], few.figures, few.first_step), (says, &[][..], None, None));
    assert_eq!(sentence(Vec::new()), "It made no timed wait while it was followed.");
    assert_eq!(sentence(vec![waits(1, 9, Parts::default())]), "None of its waits ended late.");
}

#[test]
fn waits_that_nothing_delays_get_a_verdict_that_says_so() {
    let parts = Parts { slack: 50_000, ret: 12_000, ..Parts::default() };
    let ordinary = verdict(&result(vec![waits(1, 1_000, parts)]));
    let says = "Nothing delays it by much: its waits end 62 µs late at the median and 62 µs at p99; 81 % of that is timer slack.";
    assert_eq!(ordinary.sentence, says);
    assert!(ordinary.first_step.expect("slack can be lowered").is_optional);
    let few = "Nothing delays it by much: its waits end ~62 µs late at the median; 81 % of that is timer slack.";
    assert_eq!(sentence(vec![waits(1, 19, parts)]), few);
    let mut other = waits(1, 1_000, parts);
    other.labels.set(oversleep_record::label::PROGRAM, "other".to_owned());
    let both = sentence(vec![waits(1, 1_000, parts), other]);
    assert!(both.starts_with("Nothing delays these programs by much: their waits end 62 µs late"), "{both}");
    for late in [ORDINARY_NS, ORDINARY_NS - 1] {
        let said = sentence(vec![waits(1, 1_000, Parts { ret: late, ..Parts::default() })]);
        assert_eq!(said.starts_with("Nothing"), late < ORDINARY_NS, "{said}");
    }
}

#[test]
fn culprits_are_named_by_their_totals() {
    let behind = |blames: &[(&str, u64)]| {
        let blames = blames.iter().map(|&(name, percent)| blame(name, 120, 1, percent * 1_000_000)).collect();
        let said = sentence(vec![queued(100, 1_000_000, blames)]);
        said.strip_prefix("100 % of its lateness is waiting for a CPU").expect("it is all").to_owned()
    };
    assert_eq!(behind(&[("a", 90)]), ", behind a.");
    assert_eq!(behind(&[("a", 89), ("b", 5)]), ", most of it behind a.");
    assert_eq!(behind(&[("a", 25), ("b", 15), ("a", 30)]), ", most of it behind a.", "under two priorities");
    assert_eq!(behind(&[("a", 30), ("b", 20)]), ", most of it behind a and b.");
    let many = [("a", 15), ("b", 15), ("c", 15), ("d", 6), ("e", 6)];
    assert_eq!(behind(&many), ", most of it behind a, b, c and 2 others.");
    assert_eq!(behind(&[("a", 30)]), " (30 % of it behind a, the rest unexplained).");
    assert_eq!(behind(&[]), ", with no other task seen on its CPU.");
    assert_eq!(behind(&[("app", 95)]), ", behind another app.", "a name alone tells nothing");
    let own = Blame { whose: Whose::Own, ..blame("app", 120, 1, 95_000_000) };
    assert!(sentence(vec![queued(100, 1_000_000, vec![own])]).ends_with(", behind its own threads."));
    let mut supervised = queued(100, 1_000_000, Vec::new());
    supervised.observed.as_mut().expect("it was observed").slack_bound_ns = Some(50_000);
    let said = "100 % of its lateness is waiting for a CPU (who ran instead was not seen).";
    assert_eq!(sentence(vec![supervised]), said);
}

#[test]
fn a_wait_shows_which_tasks_are_the_program_s_own() {
    let culprit = |name: &str, tgid: u32| Culprit {
        tid: tgid,
        tgid,
        name: name.to_owned(),
        policy: 1,
        prio: 49,
        ran_ns: 1,
        why: Why::HigherPolicy,
        process: None,
        whose: Whose::Program,
        is_pinned: false,
        turns: Vec::new(),
    };
    let wait = Wait {
        tgid: 7,
        tid: 7,
        thread: "app".to_owned(),
        call: None,
        timer: None,
        request: Request::Span,
        requested_ns: None,
        deadline: 1,
        called_late_ns: 0,
        late_before_ns: None,
        end: 2,
        lateness_ns: 1,
        outcome: Outcome::Timer,
        parts: Parts { runq: 1, ..Parts::default() },
        segments: Vec::new(),
        marks: Marks::default(),
        slack_bound_ns: None,
        timer_cpu: None,
        timer_cpu_idle: None,
        cpu: None,
        cpu_idle: None,
        policy: None,
        prio: None,
        cpus_allowed: None,
        culprits: vec![culprit("loop", 7), culprit("other", 8)],
        irq_cause: None,
        before_interrupt: Vec::new(),
        steal_ns: 0,
        lost_events: 0,
        clock: None,
        interruptions: Vec::new(),
        restarts: 0,
        stack: Default::default(),
        before: None,
        woken_by: String::new(),
        timer_period: None,
        frames: Default::default(),
    };
    let said_of = |names: &[&str], is_pinned: bool| {
        // A thread of the same name as its program is seen to be the program's.
        let whose = |name: &str| if name == "app" { Whose::Own } else { Whose::Program };
        let each = |name: &&str| {
            let blame = blame(name, 49, 9, 95_000_000 / names.len() as u64);
            Blame { is_pinned, whose: whose(name), ..blame }
        };
        let blames = names.iter().map(each).collect();
        let mut file = result(vec![queued(100, 1_000_000, blames)]);
        file.series[0].observed.as_mut().expect("it was observed").tgid = 7;
        file.observation.as_mut().expect("it was observed").worst = vec![wait.clone()];
        let verdict = verdict(&file);
        (verdict.sentence, verdict.first_step.expect("a task is to blame").advice.sentence)
    };
    let said = |names: &[&str]| said_of(names, false);
    assert!(said_of(&["loop"], true).1.starts_with("Give app another CPU than loop, a thread of the program"));
    let (sentence, step) = said(&["loop"]);
    assert!(sentence.ends_with(", behind its own thread loop."), "{sentence}");
    assert!(step.starts_with("Give the program more CPUs"), "{step}");
    assert!(said(&["loop", "app"]).0.ends_with(", behind its own threads."));
    assert!(said(&["other"]).0.ends_with(", behind other."));
    let mut unnamed = result(vec![queued(100, 1_000_000, vec![blame("other", 49, 9, 95_000_000)])]);
    let without_ids = Wait { tgid: 0, culprits: vec![culprit("other", 0)], ..wait.clone() };
    unnamed.observation.as_mut().expect("it was observed").worst = vec![without_ids];
    assert!(verdict(&unnamed).sentence.ends_with(", behind other."), "a copy for others has no ids");
}

#[test]
fn oversleep_is_named_and_not_advised_against() {
    let of = |others: u64| {
        let blames = vec![blame("oversleep", 120, 9, 60_000_000), blame("build", 120, 9, others)];
        verdict(&result(vec![queued(100, 1_000_000, blames)]))
    };
    let step = of(30_000_000);
    assert!(step.sentence.ends_with("most of it behind oversleep's own following."), "{step:?}");
    assert_eq!(step.first_step.expect("build is to blame").instance.as_deref(), Some("build (SCHED_BATCH)"));
    let blames = vec![blame("oversleep", 120, 9, 60_000_000), blame("build", 120, 9, 30_000_000)];
    let causes_of_both = causes(&result(vec![queued(100, 1_000_000, blames)]));
    let notes: Vec<bool> = causes_of_both.iter().map(|cause| cause.finding.severity == Severity::Note).collect();
    assert_eq!(notes, [false, true], "a note comes last, however much it explains");
    let alone = result(vec![queued(100, 1_000_000, vec![blame("oversleep", 120, 9, 99_000_000)])]);
    assert_eq!((verdict(&alone).first_step, verdict(&alone).leaves), (None, None));
    let finding = &causes(&alone)[0].finding;
    assert!(
        finding.severity == Severity::Note && finding.sentence.contains("while oversleep itself runs"),
        "{finding:?}"
    );
    assert_eq!(finding.advice.len(), 1, "it is about oversleep");
}

#[test]
fn a_policy_of_its_own_is_to_blame_before_those_who_ran() {
    let mut series = queued(100, 1_000_000, vec![blame("hog", 120, 9, 60_000_000), blame("build", 120, 9, 30_000_000)]);
    series.observed.as_mut().expect("it was observed").policy = Some((5, 120));
    let verdict = verdict(&result(vec![series]));
    assert!(verdict.sentence.ends_with("is waiting for a CPU, because of its own SCHED_IDLE."), "{verdict:?}");
    assert!(verdict.first_step.expect("it can be set").advice.remedy == "restore-priority");
}

#[test]
fn what_is_left_is_the_highest_percentile_that_can_be_told() {
    let leaves = |series: Vec<Series>| verdict(&result(series)).leaves.map(|left| left.to_string());
    let says = |figure: &str, after: &str, before: &str| {
        let tried = "computed from the parts, not tried";
        Some(format!("Without waiting for a CPU, {figure} would be about {after} instead of {before}: {tried}."))
    };
    assert_eq!(leaves(vec![rarely_late(4_900)]), says("p99", "50 µs", "9.05 ms"));
    // Ten of 500 waits lie beyond p98, and p90 is the slack.
    assert_eq!(leaves(vec![rarely_late(490)]), says("the mean", "50 µs", "230 µs"));
    let often = |count| queued(count, 1_000_000, vec![blame("build", 120, count, count * 900_000)]);
    assert_eq!(leaves(vec![slack(80), often(20)]), says("p90", "50 µs", "1 ms"));
    assert_eq!(leaves(vec![slack(78), often(21)]), says("the mean", "39.4 µs", "252 µs"));
}

#[test]
fn nothing_is_left_to_tell_of_a_selection_or_of_what_was_not_seen() {
    let mut file = result(vec![rarely_late(4_900)]);
    file.observation.as_mut().expect("it was observed").left_out = 1;
    let selected = verdict(&file);
    assert!(
        selected.leaves.is_none() && selected.sentence.contains(" of the selected waits' lateness is "),
        "{selected:?}"
    );
    let of_parts = |parts: Parts| result(vec![waits(1, 1_000, parts)]);
    for part in [Part::Unattributed, Part::Timer] {
        let mut parts = Parts { ret: 1, ..Parts::default() };
        *parts.get_mut(part) = 9_000_000;
        let file = of_parts(parts);
        assert_eq!(Without::of(&file, &kinds(&file), part, false), None);
    }
}

#[test]
fn parts_that_are_long_in_turn_are_taken_as_long_together() {
    // Half of the waits have a long slack, the others a long return; without the run queue p90 can't be above the sum.
    let mut series = waits(1, 50, Parts { slack: 60_000, ret: 1_000, runq: 900_000, ..Parts::default() });
    let other = Parts { slack: 1_000, ret: 40_000, runq: 900_000, ..Parts::default() };
    for _ in 0..50 {
        series.distribution.record(other.sum());
        series.why.as_mut().expect("it is split").record(&other);
    }
    let file = result(vec![series]);
    let left = Without::of(&file, &kinds(&file), Part::Runq, false).expect("it is a gain");
    assert_eq!((left.figure, left.before, left.after), ("p90", Nanos(961_000), Nanos(100_000)));
}

#[test]
fn a_program_behind_its_own_deadlines_is_told_that_first() {
    let of = |late_ns: i64| {
        let mut file = result(vec![slack(100)]);
        let waits = file.series[0].observed.as_mut().expect("it was observed");
        waits.called_late = Distribution::of_equal(late_ns, 50);
        verdict(&file)
    };
    let behind = of(1_000_000);
    let says = " Worse, 50 % of its calls come when their deadline has passed already, which is no part of that.";
    assert!(behind.sentence.ends_with(says), "{}", behind.sentence);
    assert_eq!(behind.first_step.expect("the work is too long").finding, "OVS-Y018");
    assert_eq!(behind.leaves, None);
    let mut both =
        result(vec![periods(Some(10), &[(100, Parts { requested: 10_000_000, work: 8_000_000, ..Parts::default() })])]);
    both.series[0].observed.as_mut().expect("it was observed").called_late = Distribution::of_equal(1_000_000, 50);
    assert!(!verdict(&both).sentence.contains("Worse"), "its own work makes its calls late: {:?}", verdict(&both));
    let barely = of(1_000);
    assert!(!barely.sentence.contains("Worse"), "{}", barely.sentence);
    assert_eq!(barely.first_step.expect("slack can be lowered").finding, "OVS-Y001");
}

#[test]
fn waits_that_a_signal_cuts_off_are_told_first_and_with_a_step() {
    let mut series = slack(12);
    let waits = series.observed.as_mut().expect("it was observed");
    waits.otherwise.insert(Outcome::Signal, 2_672);
    let cut = verdict(&result(vec![series]));
    assert!(cut.sentence.contains("2,672 of 2,684 waits are cut off") && cut.sentence.ends_with('.'), "{cut:?}");
    assert_eq!(cut.first_step.expect("it can be changed").finding, CUT_OFF);
    assert!(cut.figures.is_some() && cut.shares.is_empty());
}

#[test]
fn causes_say_how_much_they_explain_and_which_waits_they_delayed() {
    let file = result(vec![slack(100), queued(10, 4_500_000, vec![blame("compile", 120, 10, 25_000_000)])]);
    let causes = causes(&file);
    let of = |cause: &Cause| (cause.finding.id.clone(), cause.part, cause.share, cause.delayed.clone());
    assert_eq!(
        causes.iter().map(of).collect::<Vec<_>>(),
        [
            ("OVS-Y015".to_owned(), Some(Part::Runq), Some(0.5), vec![file.series[1].key.clone()]),
            ("OVS-Y001".to_owned(), Some(Part::Slack), Some(0.1), vec![file.series[0].key.clone()]),
        ]
    );
}

#[test]
fn a_runtimes_housekeeping_is_left_out_and_counted() {
    let late = || interpreter(300, Parts { runq: 4_000_000, ..Parts::default() });
    let both = verdict(&result(vec![slack(100), late()]));
    assert_eq!(
        both.figures.map(|figures| figures.to_string()).as_deref(),
        Some("100 waits: p50 50 µs, max 50 µs; 5 ms late in all")
    );
    assert_eq!(
        both.housekeeping.as_deref(),
        Some(
            "300 more waits are the runtime's own housekeeping: the interpreter's switch interval. While one thread computes, \
             a sleep of another ends in time and returns to Python up to 5 ms later (OVS-Y031)."
        )
    );
    let without = verdict(&result(vec![slack(100)]));
    assert_eq!(both, Verdict { housekeeping: both.housekeeping.clone(), ..without });
    let alone = result(vec![late()]);
    assert_eq!(verdict(&alone).sentence, "It made no timed wait of its own while it was followed.");
    assert!(causes(&alone).iter().all(|cause| cause.finding.severity == Severity::Note), "nothing is said to be late");
}

#[test]
fn a_selection_of_nothing_is_no_lack_of_the_recording() {
    let missing = ["timer:hrtimer_start", "raw_syscalls:sys_enter"].map(str::to_owned).to_vec();
    let losses = Losses { missing, ..Losses::default() };
    let observation = Observation { by: By::Recorder, losses, left_out: 6_554, ..Observation::default() };
    let mut file = Sheet::linux().file;
    file.observation = Some(observation);
    assert!(!lacks_waits(&file));
    let said = Verdict::of(&file).expect("it was observed").sentence;
    assert_eq!(said, "Undecided: none of 6,554 waits is selected. Choose others with --only.");
    file.observation.as_mut().expect("it was observed").left_out = 0;
    assert!(lacks_waits(&file));
}
