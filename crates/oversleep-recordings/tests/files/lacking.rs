//! Recordings without some of their events, of every kind: no wait claims what they would have shown.

use oversleep_recordings::{recognise, replay};
use oversleep_why::part::Part;
use oversleep_why::{Outcome, Wait};

use crate::support::{
    PERF, PERF_SCRIPT, TRACE_6, TRACE_CMD, TRACEFS, lacking, lossy, lossy_perf, lossy_text, piped, results, version_7,
    waits, without, zipped,
};

/// Each tracepoint, and the parts that can't be told without it.
const NEEDS: [(&str, &[Part]); 8] = [
    ("sys_enter", &[Part::Api, Part::Ret]),
    ("sys_exit", &[Part::Api, Part::Ret]),
    ("hrtimer_start", &[Part::Api, Part::Slack, Part::Irq, Part::Irqbody, Part::Wake, Part::Ipi]),
    ("hrtimer_expire_entry", &[Part::Slack, Part::Irq, Part::Irqbody, Part::Wake]),
    ("hrtimer_expire_exit", &[]),
    ("local_timer_entry", &[Part::Irqbody]),
    ("sched_waking", &[Part::Wake, Part::Ipi]),
    ("sched_wakeup", &[Part::Ipi, Part::Runq]),
];

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
