//! Causes of lateness, gathered.

use oversleep_record::finding::Verdict;
use oversleep_record::observed::culprit::IrqCause;
use oversleep_record::observed::{Blame, By, IrqBlame, Observation};
use oversleep_record::part::{Part, Parts};
use oversleep_record::testing::Sheet;

use super::kinds;
use super::testing::{blame, found, periods, waits};

fn behind(blames: Vec<Blame>) -> Vec<String> {
    let mut series = waits(1, 12, Parts { runq: 500_000, ..Parts::default() });
    series.observed.as_mut().unwrap().blames = blames;
    found(vec![series], "late-by-run-queue")
}

#[test]
fn a_delay_that_nobody_explains_is_told() {
    let few = behind(vec![blame("small", 120, 1, 100_000)]);
    let unexplained = "less than half of it while another task was seen to run";
    assert!(few.iter().any(|said| said.contains(unexplained)), "{few:#?}");
    let most = behind(vec![blame("large", 120, 12, 5_900_000)]);
    assert!(
        matches!(&most[..], [said] if said.contains("while large (SCHED_BATCH) runs: 5.9 ms in 12 waits")),
        "{most:#?}"
    );
    let many: Vec<Blame> = (0..20).map(|n| blame(&format!("task{n}"), 120, 1, 290_000)).collect();
    assert_eq!(behind(many).len(), 1, "the first stands for as many");
}

#[test]
fn a_task_under_two_priorities_counts_once() {
    let both = behind(vec![blame("batch", 120, 5, 2_500_000), blame("batch", 121, 7, 3_500_000)]);
    assert!(matches!(&both[..], [said] if said.contains("6 ms in 12 waits") && !said.contains("kinds")), "{both:#?}");
}

#[test]
fn the_longest_delay_is_that_of_any_kind() {
    let of = |ms: i64, irq: i64, count: u64| {
        let mut series = waits(ms, count, Parts { irq, ..Parts::default() });
        let cause = IrqCause::Interrupt { number: 24, name: "virtio0".to_owned(), ran_ns: 9 };
        let (total_ns, max_ns) = (irq.unsigned_abs() * count, irq.unsigned_abs());
        series.observed.as_mut().unwrap().irq_blames = vec![IrqBlame { cause, count, total_ns, max_ns }];
        series
    };
    let said = found(vec![of(1, 210_000, 10), of(2, 8_000_000, 10)], "late-by-interrupt");
    assert!(matches!(&said[..], [said] if said.contains("for 2 ms") && said.contains("up to 8 ms late")), "{said:#?}");
}

#[test]
fn what_came_before_a_timer_interrupt_is_named() {
    let (name, ran_ns) = ("virtio0".to_owned(), 9);
    for (id, cause, says) in [
        ("late-by-idle-cpu", IrqCause::Idle { state: 2 }, "its CPU was idle (idle state 2)"),
        ("late-by-interrupt", IrqCause::Interrupt { number: 24, name, ran_ns }, "interrupt 24 (virtio0) ran first"),
        ("late-by-softirq", IrqCause::Softirq { name: "NET_RX".to_owned(), ran_ns }, "softirq NET_RX ran first"),
        ("late-by-steal", IrqCause::Steal, "the hypervisor had the CPU (steal)"),
        (
            "late-by-interrupts-off",
            IrqCause::Task { tid: 7, name: "driver".to_owned() },
            "driver (7) ran with interrupts off, or the hypervisor had the CPU: these look alike from inside",
        ),
    ] {
        let mut series = waits(1, 10, Parts { irq: 210_000, ..Parts::default() });
        series.observed.as_mut().unwrap().irq_blames =
            vec![IrqBlame { cause, count: 10, total_ns: 2_100_000, max_ns: 210_000 }];
        assert_eq!(
            found(vec![series], id),
            [format!("app: nanosleep for 1 ms: the timer interrupt comes up to 210 µs late; {says}")]
        );
    }
}

/// The verdicts and sentences of these findings about a recording that lacks such events, in which a task was behind late
/// interrupts.
fn of_recording(by: By, missing: &[&str], tid: u32, names: &[&str]) -> Vec<(Verdict, String)> {
    let mut late = waits(1, 10, Parts { irq: 210_000, ..Parts::default() });
    let cause = IrqCause::Task { tid, name: "driver".to_owned() };
    late.observed.as_mut().unwrap().irq_blames =
        vec![IrqBlame { cause, count: 10, total_ns: 2_100_000, max_ns: 210_000 }];
    let steady = periods(None, &[(50, Parts { requested: 10_000_000, ..Parts::default() })]);
    let mut observation = Observation { by, ..Observation::default() };
    observation.losses.missing = missing.iter().map(|&what| what.to_owned()).collect();
    if by == By::Recorder {
        observation.unseen = vec![Part::Quota, Part::Fault];
    }
    let mut file = Sheet::linux().file;
    (file.series, file.observation) = (vec![late, steady], Some(observation));
    let all = crate::findings(&file);
    let of = |name: &&str| all.iter().find(|one| one.name == *name).expect("it is checked");
    names.iter().map(of).map(|one| (one.verdict, one.sentence.clone())).collect()
}

#[test]
fn nothing_is_absent_that_a_recording_does_not_show() {
    const EVENTS: [&str; 3] = ["irq:irq_handler_entry", "irq:softirq_exit", "power:cpu_idle"];
    let never = ["late-by-steal", "held-up-by-quota", "held-up-by-page-faults"];
    let some = ["late-by-interrupt", "late-by-softirq", "late-by-idle-cpu"];
    let verdicts = |by, missing: &[&str], names: &[&str]| -> Vec<Verdict> {
        of_recording(by, missing, 7, names).into_iter().map(|(verdict, _)| verdict).collect()
    };
    assert_eq!(verdicts(By::Kernel, &[], &[never, some].concat()), [Verdict::NotFound; 6]);
    assert_eq!(verdicts(By::Recorder, &[], &never), [Verdict::NotEnoughData; 3]);
    assert_eq!(verdicts(By::Recorder, &[], &some), [Verdict::NotFound; 3]);
    assert_eq!(verdicts(By::Recorder, &EVENTS, &some), [Verdict::NotEnoughData; 3]);
    for (name, event) in some.iter().zip(EVENTS) {
        let (_, says) = of_recording(By::Recorder, &[event], 7, &[name]).remove(0);
        assert!(says.contains(event) && says.contains("--how-to-record linux"), "{name}: {says}");
    }
}

#[test]
fn a_task_is_blamed_as_far_as_a_recording_shows_what_else_ran() {
    let says = |missing: &[&str], tid, name| of_recording(By::Recorder, missing, tid, &[name]).remove(0);
    let (_, all) = says(&[], 7, "late-by-interrupts-off");
    assert!(
        all.ends_with(
            "driver (7) ran with interrupts off, or the hypervisor had the CPU: these look alike from inside"
        )
    );
    let (_, less) = says(&["irq:softirq_entry", "irq:irq_handler_entry"], 7, "late-by-interrupts-off");
    let or = "or the hypervisor had the CPU, or an interrupt of a device or a softirq ran, which the recording doesn't show:";
    assert!(less.contains(or), "{less}");
    // The idle task is no culprit where nothing tells how the CPU idled.
    assert_eq!(says(&["power:cpu_idle"], 0, "late-by-interrupts-off").0, Verdict::NotFound);
    assert_eq!(says(&["power:cpu_idle"], 0, "late-by-unknown-interrupt-delay").0, Verdict::Found);
}

#[test]
fn a_median_of_few_waits_is_marked() {
    let typical = |count| {
        let mut file = Sheet::linux().file;
        file.series = vec![waits(1, count, Parts { slack: 50_000, ..Parts::default() })];
        kinds(&file)[0].typical(Part::Slack)
    };
    assert_eq!([19, 20].map(typical), ["~50 µs", "50 µs"]);
}

#[test]
fn nothing_is_absent_where_there_are_too_few_waits() {
    let mut file = Sheet::linux().file;
    (file.series, file.observation) = (vec![waits(1, 7, Parts::default())], Some(Observation::default()));
    for finding in crate::findings(&file) {
        assert!(finding.verdict == Verdict::NotEnoughData || finding.name == "waits-not-split", "{finding:#?}");
    }
}
