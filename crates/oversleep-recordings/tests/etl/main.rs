//! Traces of Windows, written record by record.

mod broken;
mod losses;
mod model;
mod real;
mod resolutions;
#[path = "../shared/mod.rs"]
mod shared;
mod support;
mod wakes;
mod write;

use oversleep_record::observed::wait::{Outcome, Wait};
use oversleep_record::part::Part;
use oversleep_recordings::{recognise, replay};

use support::{APP, GAME, HOG, game, named, open, result, sleep, sleeps, waits};
use write::{Header, LOST_CPU, PERF_INFO, SLEEPS, THREAD, Trace, WAITS};

fn is_split(wait: &Wait) {
    assert_eq!((wait.tid, wait.tgid, wait.outcome), (APP, GAME, Outcome::Timer));
    assert_eq!((wait.call.as_deref(), wait.requested_ns), (Some("NtDelayExecution"), None));
    let parts = &wait.parts;
    let split = (parts.slack, parts.irqbody, parts.wake, parts.runq, parts.ret, parts.unattributed);
    assert_eq!((wait.lateness_ns, split), (510_000, (0, 8_000, 2_000, 500_000, 0, 0)));
    let culprit = &wait.culprits[0];
    assert_eq!((culprit.tid, &*culprit.name, culprit.ran_ns), (HOG, "worker", 500_000));
    assert_eq!(culprit.process.as_deref(), Some("hog.exe"));
}

#[test]
fn a_sleep_is_split_whichever_clock_and_whether_it_is_compressed() {
    for (clock, is_packed) in [(1, false), (2, false), (3, false), (1, true)] {
        let all = waits(&sleeps(Trace { clock, is_packed, ..Trace::default() }).write(&[]));
        assert_eq!(all.len(), 40, "{clock}");
        all.iter().for_each(is_split);
    }
}

#[test]
fn a_program_is_named_in_full_and_its_system_and_time_are_told() {
    let file = result(&sleeps(Trace::default()).write(&[]), None);
    let observation = file.observation.as_ref().unwrap();
    assert_eq!((&*file.platform.os, file.taken_unix_s), ("windows", Some(1_655_526_400)));
    assert_eq!(observation.recorder.as_deref(), Some("ETW"));
    assert!(observation.processes.iter().any(|named| named.name == "a game with a long name.exe"));
    let program = file.series[0].labels.iter().find(|(name, _)| name.contains("program")).unwrap();
    assert!(format!("{program:?}").contains("a game with a long name.exe"), "{program:?}");
    assert!(!observation.losses.is_truncated);
}

#[test]
fn what_the_user_says_was_meant_counts_from_the_call() {
    let file = result(&sleeps(Trace::default()).write(&[]), Some(1_000_000));
    let observation = file.observation.unwrap();
    assert!(!observation.unseen.contains(&Part::Slack) && observation.unseen.contains(&Part::Ret));
    for wait in &observation.worst {
        // From 1 ms after the call to the tick.
        assert_eq!((wait.lateness_ns, wait.parts.slack, wait.parts.runq), (1_510_000, 1_000_000, 500_000));
        assert_eq!(wait.requested_ns, Some(1_000_000));
    }
}

#[test]
fn a_call_belongs_to_the_thread_that_its_cpu_runs() {
    let mut trace = named(Trace::default());
    // A wait for an object with a timeout, and one that the object ends.
    for (at, status) in [(1_000.0, 0x102), (5_000.0, 0)] {
        trace.call(1, at, None);
        trace.switch(1, at + 2.0, HOG, WAITS);
        trace.ready(1, at + 900.0, APP);
        trace.switch(1, at + 950.0, APP, LOST_CPU);
        trace.call(1, at + 953.0, Some(status));
    }
    let all = waits(&trace.write(&[]));
    let told: Vec<_> = all.iter().map(|wait| (wait.tid, wait.call.as_deref(), wait.outcome)).collect();
    assert_eq!(told, [(APP, Some("NtWaitFor"), Outcome::Timer), (APP, Some("NtWaitFor"), Outcome::Event)], "{all:#?}");
    assert_eq!((all[0].parts.runq, all[0].parts.ret, all[0].lateness_ns), (50_000, 3_000, 53_000));
}

#[test]
fn without_calls_only_a_sleep_is_a_timer_s() {
    let mut trace = named(Trace::default());
    for (at, state) in [(1_000.0, WAITS), (3_000.0, SLEEPS), (5_000.0, LOST_CPU)] {
        trace.switch(1, at, HOG, state);
        trace.ready(1, at + 900.0, APP);
        trace.switch(1, at + 950.0, APP, LOST_CPU);
    }
    let all = waits(&trace.write(&[]));
    assert_eq!(all.iter().map(|wait| wait.call.as_deref()).collect::<Vec<_>>(), [Some("NtDelayExecution")]);
}

#[test]
fn a_thread_that_was_made_ready_while_it_left_waits_for_a_cpu_at_once() {
    for state in [2, 3, 7] {
        let mut trace = named(Trace::default());
        trace.switch(1, 1_000.0, HOG, (state, 4));
        // It lost its CPU, which is no wait, though its state says that it is next.
        trace.switch(1, 1_300.0, APP, LOST_CPU);
        trace.switch(1, 1_400.0, HOG, (3, 30));
        trace.switch(1, 1_500.0, APP, LOST_CPU);
        trace.ready(0, 9_000.0, HOG);
        let all = waits(&trace.write(&[]));
        assert_eq!((all.len(), all[0].parts.runq, all[0].lateness_ns), (1, 300_000, 300_000), "{state}");
        assert_eq!(all[0].culprits[0].tid, HOG);
    }
}

#[test]
fn a_record_is_read_whatever_its_header() {
    for header in [Header::System, Header::Compact, Header::PerfInfo] {
        let mut trace = named(Trace::default());
        let ready = [APP.to_le_bytes(), [0; 4]].concat();
        trace.switch(1, 1_000.0, HOG, SLEEPS);
        trace.kernel(1, 2_000.0, header, (THREAD, 50, 2), &ready);
        trace.switch(1, 2_100.0, APP, WAITS);
        assert_eq!(waits(&trace.write(&[]))[0].parts.runq, 100_000, "{header:?}");
    }
}

#[test]
fn compact_switches_are_named_and_what_lacks_is_told() {
    let fault = |trace: &Trace| {
        let file = trace.write(&[]);
        replay(recognise(&file).unwrap(), &&file[..]).unwrap_err().to_string()
    };
    let mut trace = named(Trace::default());
    trace.ready(1, 3_000.0, APP);
    trace.kernel(1, 4_000.0, Header::PerfInfo, (THREAD, 37, 2), &[0; 40]);
    let mut without = Trace::default();
    without.kernel(1, 4_000.0, Header::PerfInfo, (THREAD, 37, 2), &[0; 40]);
    let message = fault(&without);
    assert!(message.contains("CompactCSwitch") && message.contains("--how-to-record windows"), "{message}");
    let lacks = open(&&trace.write(&[])[..]).losses.missing;
    let compact = "1 context switches, which are CompactCSwitch records";
    assert_eq!(lacks, ["Interrupt", "DPC", "Microsoft-Windows-Kernel-Power", compact]);
    let mut without = Trace::default();
    without.process(1.0, GAME, "game.exe");
    let message = fault(&without);
    assert!(
        message.contains("no CSwitch events") && message.contains("it has 2 records, of them Process 1"),
        "{message}"
    );
    without.switch(1, 2.0, APP, WAITS);
    assert!(fault(&without).contains("no ReadyThread events"));
}

#[test]
fn no_wait_claims_a_part_whose_events_are_missing() {
    let whole = sleeps(Trace::default());
    for (lacks, parts) in [
        ((PERF_INFO, 68), &[Part::Slack, Part::Ret][..]),
        ((PERF_INFO, 67), &[Part::Slack, Part::Ret]),
        ((THREAD, 3), &[Part::Slack, Part::Ret]),
    ] {
        let file = whole.without(lacks).write(&[]);
        let all = waits(&file);
        assert_eq!(all.len(), 40);
        for wait in &all {
            assert!(parts.iter().all(|part| wait.parts.get(*part) == 0), "{lacks:?}: {wait:?}");
            assert_eq!((wait.parts.sum(), wait.parts.runq), (wait.lateness_ns, 500_000));
        }
    }
    let file = whole.without((PERF_INFO, 67)).without((PERF_INFO, 68)).write(&[]);
    let opened = open(&&file[..]).meta;
    for part in [Part::Irqbody, Part::Wake, Part::Ret, Part::Slack, Part::Api] {
        assert!(opened.unseen.contains(&part), "{part:?}");
    }
    assert!(waits(&file).iter().all(|wait| wait.lateness_ns == wait.parts.runq));
}

#[test]
fn one_sleep_after_another_is_in_the_order_of_time_whatever_the_order_of_buffers() {
    let mut trace = named(Trace::default());
    (0..200).for_each(|n| sleep(&mut trace, 1_000.0 + 3_000.0 * f64::from(n)));
    // The other CPU is busy, too, and its buffers lie between.
    for n in 0..3_000 {
        trace.switch(0, 500.0 + 200.0 * f64::from(n), 300 + n % 2, LOST_CPU);
    }
    let all = waits(&trace.write(&[]));
    assert_eq!(all.len(), 200);
    all.iter().for_each(is_split);
    assert!(all.is_sorted_by_key(|wait| wait.end));
}

#[test]
fn the_processor_is_told_by_the_machine_s_configuration() {
    let arch = |trace: &Trace| result(&trace.write(&[]), None).platform.arch;
    assert_eq!(arch(&sleeps(Trace::default())), "unknown");
    for (number, name) in [(9_u16, "x86_64"), (12, "aarch64"), (5, "unknown")] {
        let mut cpu = vec![0; 828];
        cpu[816..818].copy_from_slice(&number.to_le_bytes());
        let mut trace = sleeps(Trace::default());
        trace.kernel(0, 1.0, Header::System, (11, 10, 3), &cpu);
        assert_eq!(arch(&trace), name);
    }
}

#[test]
fn the_file_that_other_tests_read_is_kept() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/game.etl");
    let file = game();
    if std::env::var_os("OVERSLEEP_UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &file).unwrap();
    }
    assert!(std::fs::read(path).unwrap() == file, "set OVERSLEEP_UPDATE_GOLDEN to write it anew");
}
