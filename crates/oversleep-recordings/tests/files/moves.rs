//! Threads that move to another CPU while they wait for one, and tasks that become others: who ran is who ran there then.

use oversleep_recordings::{recognise, replay};
use oversleep_why::Wait;

use crate::support::{results, without};

/// A thread that slept is woken for CPU 0, where a hog runs, moves to CPU 1 after 4 ms and runs there 1 ms later.
const MOVES: &str = "\
# tracer: nop
          <idle>-0       (      0) [000] d..2.  1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 \
prev_state=R ==> next_comm=hog next_pid=20 next_prio=120
          <idle>-0       (      0) [001] d..2.  1.000000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 \
prev_state=R ==> next_comm=victim next_pid=40 next_prio=120
          victim-40      (     40) [001] d..2.  1.000100: sched_switch: prev_comm=victim prev_pid=40 prev_prio=120 \
prev_state=S ==> next_comm=other next_pid=30 next_prio=120
           other-30      (     30) [001] d..4.  1.001000: WAKING: comm=victim pid=40 prio=120 target_cpu=000
           other-30      (     30) [001] d..3.  1.005000: sched_migrate_task: comm=victim pid=40 prio=120 orig_cpu=0 \
dest_cpu=1
           other-30      (     30) [001] d..2.  1.006000: sched_switch: prev_comm=other prev_pid=30 prev_prio=120 \
prev_state=S ==> next_comm=victim next_pid=40 next_prio=120
             hog-20      (     20) [000] d..2.  1.007000: sched_switch: prev_comm=hog prev_pid=20 prev_prio=120 \
prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
          victim-40      (     40) [001] d..2.  1.008000: sched_switch: prev_comm=victim prev_pid=40 prev_prio=120 \
prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
";

fn moves(waking: &str) -> Vec<u8> {
    MOVES.replace("WAKING", waking).into_bytes()
}

/// The only wait, and who ran for how many µs.
fn ran(text: &[u8]) -> (Wait, Vec<(String, u64)>) {
    let wait = results(text).1.remove(0);
    let ran = wait.culprits.iter().map(|of| (of.name.clone(), of.ran_ns / 1_000)).collect();
    (wait, ran)
}

fn named(ran: &[(&str, u64)]) -> Vec<(String, u64)> {
    ran.iter().map(|(name, us)| ((*name).to_owned(), *us)).collect()
}

fn lacks_moves(text: &[u8]) -> bool {
    let file = replay(recognise(text).unwrap(), &text).unwrap();
    file.observation.unwrap().losses.missing.iter().any(|missing| missing == "sched:sched_migrate_task")
}

#[test]
fn who_ran_is_whoever_ran_where_the_thread_waited() {
    let text = moves("sched_wakeup");
    let (wait, culprits) = ran(&text);
    assert_eq!(wait.parts.runq, 5_000_000);
    assert_eq!(culprits, named(&[("hog", 4_000), ("other", 1_000)]));
    assert!(!lacks_moves(&text));
}

/// Whoever wakes a thread chooses its CPU, and the thread never waited on the one before.
#[test]
fn a_thread_that_is_woken_for_another_cpu_waits_there_only() {
    let text = str::from_utf8(&moves("sched_waking")).unwrap().replace("1.005000: sched_mig", "1.001003: sched_mig");
    assert_eq!(ran(text.as_bytes()).1, named(&[("other", 5_000)]));
}

#[test]
fn where_no_move_is_recorded_nobody_is_blamed() {
    for waking in ["sched_wakeup", "sched_waking"] {
        let text = without(&moves(waking), "sched_migrate_task");
        assert_eq!(ran(&text).1, named(&[("tasks on CPU 0 or 1", 5_000)]), "{waking}");
        assert!(lacks_moves(&text));
        // A thread that ran where it was woken for didn't move.
        let stays = str::from_utf8(&text).unwrap().replace("target_cpu=000", "target_cpu=001");
        assert_eq!(ran(stays.as_bytes()).1, named(&[("other", 5_000)]), "{waking}");
        assert!(!lacks_moves(stays.as_bytes()));
    }
}

#[test]
fn a_task_that_executes_another_program_is_two() {
    let text = str::from_utf8(&moves("sched_wakeup")).unwrap().replace("target_cpu=000", "target_cpu=001");
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.contains("migrate")).collect();
    lines[5] = "           rustc-30      (     30) [001] d..2.  1.006000: sched_switch: prev_comm=rustc prev_pid=30 \
                prev_prio=130 prev_state=S ==> next_comm=victim next_pid=40 next_prio=120";
    let of = |lines: &[&str]| ran(format!("{}\n", lines.join("\n")).as_bytes());
    for event in [
        "sched_process_exec: filename=/usr/lib/rust/bin/rustc pid=30 old_pid=30",
        "task_rename: pid=30 \
                   oldcomm=other newcomm=rustc oom_score_adj=0",
        "task_rename: oldcomm=other newcomm=rustc oom_score_adj=0",
    ] {
        let line = format!("           rustc-30      (     30) [001] .....  1.003000: {event}");
        let mut with = lines.clone();
        with.insert(5, &line);
        let (wait, culprits) = of(&with);
        assert_eq!(culprits, named(&[("rustc", 3_000), ("other", 2_000)]), "{event}");
        let prios: Vec<i32> = wait.culprits.iter().map(|of| of.prio).collect();
        assert_eq!(prios, [130, 120], "{event}");
    }
}
