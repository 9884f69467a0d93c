//! Recordings without some of their events, of every kind: no wait claims what they would have shown.

use std::collections::BTreeSet;

use oversleep_record::observed::culprit::IrqCause;
use oversleep_recordings::how_to::WAYS;
use oversleep_recordings::{recognise, replay};
use oversleep_why::part::Part;
use oversleep_why::{Outcome, Wait};

use crate::support::{
    PERF, PERF_SCRIPT, TRACE_6, TRACE_CMD, TRACEFS, lacking, lossy, lossy_perf, lossy_text, piped, results, version_7,
    waits, without, zipped,
};

/// Each tracepoint, and the parts that can't be told without it.
const NEEDS: [(&str, &[Part]); 18] = [
    ("sys_enter", &[Part::Api, Part::Ret]),
    ("sys_exit", &[Part::Api, Part::Ret]),
    ("hrtimer_start", &[Part::Api, Part::Slack, Part::Irq, Part::Irqbody, Part::Wake, Part::Ipi]),
    ("hrtimer_expire_entry", &[Part::Stop, Part::Slack, Part::Irq, Part::Irqbody, Part::Wake]),
    ("hrtimer_expire_exit", &[Part::Stop]),
    ("local_timer_entry", &[Part::Irqbody]),
    ("local_timer_exit", &[]),
    ("sched_waking", &[Part::Stop, Part::Wake, Part::Ipi]),
    ("sched_wakeup", &[Part::Ipi, Part::Runq]),
    ("sched_migrate_task", &[]),
    ("sched_process_fork", &[]),
    ("sched_process_exec", &[]),
    ("sched_process_exit", &[]),
    ("irq_handler_entry", &[]),
    ("irq_handler_exit", &[]),
    ("softirq_entry", &[]),
    ("softirq_exit", &[]),
    ("cpu_idle", &[]),
];

/// Those of handlers tell what made a timer interrupt late.
const HANDLERS: [&str; 5] = ["irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit", "cpu_idle"];

/// Whether a wait blames what such a tracepoint shows.
fn is_blamed(wait: &Wait, lacks: &str) -> bool {
    match wait.irq_cause {
        Some(IrqCause::Interrupt { .. }) => lacks.starts_with("irq_handler"),
        Some(IrqCause::Softirq { .. }) => lacks.starts_with("softirq"),
        Some(IrqCause::Idle { .. }) => lacks == "cpu_idle",
        _ => false,
    }
}

#[test]
fn every_tracepoint_that_is_to_be_recorded_is_tried() {
    let text = WAYS.iter().find(|way| way.name == "linux").unwrap().text;
    let line = text.lines().find(|line| line.starts_with("perf record")).unwrap();
    let events = line.split(" -e ").nth(1).unwrap().split(' ').next().unwrap();
    let told: BTreeSet<&str> = events.split(',').map(|event| event.split_once(':').unwrap().1).collect();
    let tried = NEEDS.iter().map(|(name, _)| *name).chain(["sched_switch"]);
    assert_eq!(tried.collect::<BTreeSet<_>>(), told);
}

/// A form of the run without a tracepoint.
type Form = (&'static str, fn(&str) -> Vec<u8>);
const FORMS: [Form; 8] = [
    ("trace.dat", |name| lacking(TRACE_6, name)),
    ("trace.dat of version 7", |name| version_7(&lacking(TRACE_6, name))),
    ("perf.data", |name| lacking(PERF, name)),
    ("perf.data of a pipe", |name| piped(&lacking(PERF, name))),
    ("perf.data -z", |name| zipped(&lacking(PERF, name))),
    ("tracefs", |name| without(TRACEFS, name)),
    ("trace-cmd report", |name| without(TRACE_CMD, name)),
    ("perf script", |name| without(PERF_SCRIPT, name)),
];

#[test]
fn what_a_file_lacks_is_in_no_wait() {
    for (form, of) in FORMS {
        for (lacks, parts) in NEEDS {
            let (opened, all) = results(&of(lacks));
            for part in parts {
                assert!(opened.unseen.contains(part), "{form} without {lacks}: {part:?}");
                assert!(all.iter().all(|wait| wait.parts.get(*part) == 0), "{form} without {lacks}: {part:?}");
            }
            assert!(!all.iter().any(|wait| is_blamed(wait, lacks)), "{form} without {lacks}");
            let by_timer = |wait: &&Wait| wait.outcome == Outcome::Timer;
            let adds_up = all.iter().filter(by_timer).all(|wait| wait.parts.sum() == wait.lateness_ns);
            // Without expiries, the clock of a text isn't known to be that of the timers.
            let has_clock = lacks != "hrtimer_expire_entry" || opened.resolution_ns.is_none() && form.contains('.');
            assert!(adds_up && all.is_empty() != has_clock, "{form} without {lacks}");
        }
        let bytes = of("sched_switch");
        let refused = replay(recognise(&bytes).unwrap(), &&bytes[..]).unwrap_err();
        assert!(refused.to_string().contains("sched:sched_switch"), "{form}: {refused}");
    }
}

/// What tells a cause is named, and nothing is said of page faults, which no tracepoint shows that is read.
#[test]
fn what_a_recording_lacks_of_causes_is_named() {
    let file = |lacks: &str| {
        let bytes = lacking(TRACE_6, lacks);
        replay(recognise(&bytes).unwrap(), &&bytes[..]).unwrap().observation.unwrap()
    };
    for lacks in HANDLERS {
        let name = format!("{}:{lacks}", if lacks == "cpu_idle" { "power" } else { "irq" });
        let observation = file(lacks);
        assert!(observation.losses.missing.contains(&name), "{name}: {:?}", observation.losses.missing);
        assert!(observation.unseen.contains(&Part::Fault));
    }
    // No device had an interrupt in this run.
    let whole = ["sched:sched_migrate_task", "irq:irq_handler_entry", "irq:irq_handler_exit"];
    assert_eq!(file("sched_process_fork").losses.missing, whole);
}

/// A thread sleeps for 1 ms and for 3.8 ms, again and again; each time the kernel starts a timer of its own in the thread's
/// first call, which expires while the thread sleeps.
fn with_timers_of_the_kernel() -> String {
    let mut text = "# tracer: nop\n".to_owned();
    for round in 0..12_u64 {
        let base = 1_000_000 + 5_000 * round;
        let mut add = |task: &str, at: u64, event: &str| {
            let t = base + at;
            let (seconds, rest) = (t / 1_000_000, t % 1_000_000);
            text += &format!("          {task} (     40) [000] d..2.  {seconds}.{rest:06}: {event}\n");
        };
        let ns = |at: u64| (base + at) * 1_000;
        let start = |timer: &str, function: &str, at: u64| {
            format!(
                "hrtimer_start: hrtimer=00000000000000{timer} function={function} expires={} softexpires={0} mode=REL",
                ns(at)
            )
        };
        let sleeps = "sched_switch: prev_comm=v prev_pid=40 prev_prio=120 prev_state=S ==> next_comm=hog next_pid=20 next_prio=120";
        let runs = "sched_switch: prev_comm=hog prev_pid=20 prev_prio=120 prev_state=R ==> next_comm=v next_pid=40 next_prio=120";
        for (begins, ends) in [(0, 1_000), (1_100, 4_900)] {
            add("v-40", begins, "sys_enter: NR 230 (1, 0, 7f, 0, 0, 0)");
            add("v-40", begins + 1, &start("a1", "hrtimer_wakeup", ends));
            if begins == 0 {
                add("v-40", 2, &start("b2", "dl_task_timer", 3_000));
            }
            add("v-40", begins + 3, sleeps);
            if begins != 0 {
                add("hog-20", 3_000, "local_timer_entry: vector=236");
                add(
                    "hog-20",
                    3_001,
                    &format!("hrtimer_expire_entry: hrtimer=00000000000000b2 function=dl_task_timer now={}", ns(3_001)),
                );
                add("hog-20", 3_002, "hrtimer_expire_exit: hrtimer=00000000000000b2");
                add("hog-20", 3_003, "local_timer_exit: vector=236");
            }
            add("hog-20", ends, "local_timer_entry: vector=236");
            add(
                "hog-20",
                ends + 1,
                &format!("hrtimer_expire_entry: hrtimer=00000000000000a1 function=hrtimer_wakeup now={}", ns(ends + 1)),
            );
            add("hog-20", ends + 2, "sched_waking: comm=v pid=40 prio=120 target_cpu=000");
            add("hog-20", ends + 3, "sched_wakeup: comm=v pid=40 prio=120 target_cpu=000");
            add("hog-20", ends + 4, "hrtimer_expire_exit: hrtimer=00000000000000a1");
            add("hog-20", ends + 5, "local_timer_exit: vector=236");
            add("hog-20", ends + 6, runs);
            add("v-40", ends + 8, "sys_exit: NR 230 = 0");
        }
    }
    text
}

#[test]
fn a_timer_of_the_kernel_makes_no_stop() {
    let text = with_timers_of_the_kernel();
    let lateness = |bytes: &[u8]| waits(bytes).iter().map(|wait| wait.lateness_ns).collect::<Vec<_>>();
    let whole = lateness(text.as_bytes());
    assert_eq!(whole, [8_000; 24]);
    for (lacks, _) in NEEDS.iter().filter(|(name, _)| !["hrtimer_start", "sys_enter", "sys_exit"].contains(name)) {
        let bytes = without(text.as_bytes(), lacks);
        let all = waits(&bytes);
        assert!(all.iter().all(|wait| wait.parts.stop == 0), "without {lacks}: {all:#?}");
        // Without expiries, the clock of a text isn't known to be that of the timers.
        if *lacks != "hrtimer_expire_entry" {
            assert_eq!(lateness(&bytes), whole, "without {lacks}");
        }
    }
}

#[test]
fn deleted_ranges_make_no_wait_later() {
    type Lossy = fn(usize) -> Vec<u8>;
    let forms: [(&str, &[u8], Lossy); 5] = [
        ("trace.dat", TRACE_6, |seed| lossy(TRACE_6, seed)),
        ("trace.dat of version 7", TRACE_6, |seed| version_7(&lossy(TRACE_6, seed))),
        ("perf.data", PERF, |seed| lossy_perf(PERF, seed)),
        ("tracefs", TRACEFS, |seed| lossy_text(TRACEFS, seed, "LOST 40 EVENTS")),
        ("trace-cmd report", TRACE_CMD, |seed| lossy_text(TRACE_CMD, seed, "40 EVENTS DROPPED")),
    ];
    for (form, whole, of) in forms {
        let whole = waits(whole);
        let by_timer = |wait: &&Wait| wait.outcome == Outcome::Timer;
        let latest = whole.iter().filter(by_timer).map(|wait| wait.lateness_ns).max().unwrap();
        for seed in 0..40 {
            let all = waits(&of(seed));
            assert!(all.len() < whole.len(), "{form}, {seed}");
            let late = all.iter().filter(by_timer).find(|wait| wait.lateness_ns > latest);
            assert!(late.is_none(), "{form}, {seed}: {late:#?}");
        }
    }
}

/// What a recording of switches alone shows, and how long it took.
#[test]
fn a_recording_without_waits_says_how_long_it_took() {
    let mut bytes = TRACE_6.to_vec();
    for name in ["sys_enter", "hrtimer_start", "sched_waking", "sched_wakeup"] {
        bytes = lacking(&bytes, name);
    }
    let file = replay(recognise(&bytes).unwrap(), &&bytes[..]).unwrap();
    assert!(file.series.is_empty() && file.duration_ns.0 / 1_000_000 == 164, "{:?}", file.duration_ns);
}

/// Where only wake-ups are known, an idle CPU that has to wake up first is no task, and isn't nobody either.
#[test]
fn a_thread_waits_for_an_idle_cpu_to_wake_up() {
    let (_, all) = results(&lacking(&lacking(TRACE_6, "sys_enter"), "hrtimer_start"));
    let idle = |wait: &&Wait| wait.culprits.iter().any(|of| of.tid == 0 && of.name == "idle CPU");
    let behind: Vec<&Wait> = all.iter().filter(idle).collect();
    // This kernel told of few switches away from the idle task.
    assert_eq!(behind.len(), 3);
    for wait in behind {
        let ran: u64 = wait.culprits.iter().filter(|of| of.tid == 0).map(|of| of.ran_ns).sum();
        assert!(ran <= wait.lateness_ns.unsigned_abs(), "{wait:?}");
    }
    // Where more is known, it is told from what came before.
    assert!(!waits(TRACE_6).iter().any(|wait| idle(&wait)));
}
