//! Lines of each writer, and what they tell.

use super::line::Line;
use crate::linux::What;
use crate::linux::format::name;
use crate::linux::point::Task;

fn what(line: &str) -> Option<What> {
    Line::of(line.as_bytes())?.what().map(|(_, what)| what)
}

fn task(of: &str, tid: u32, prio: i32) -> Task {
    Task { tid, name: name(of.as_bytes()), prio }
}

#[test]
fn only_the_letter_r_is_runnable() {
    for (state, is_runnable) in [("R", true), ("R+", true), ("S", false), ("D|K", false), ("0x100", true), ("1", false)]
    {
        let expected = What::Switch { from: task("a b", 1, 120), is_runnable, to: task("c [1]", 2, -1) };
        let from = format!("prev_comm=a b prev_pid=1 prev_prio=120 prev_state={state}");
        let long = format!("{from} ==> next_comm=c [1] next_pid=2 next_prio=-1");
        let short = format!("a b:1 [120] {state} ==> c [1]:2 [-1]");
        for line in [
            format!("a b-1 ( 1) [001] d..2. 5.000001: sched_switch: {long}"),
            format!("a b 1 [001] 5.000001000: sched:sched_switch: {long}"),
            format!("a b-1 [001] 5.000001: sched_switch:   {short}"),
        ] {
            assert_eq!(what(&line), Some(expected), "{line}");
        }
    }
}

#[test]
fn numbers_have_the_base_of_their_field() {
    let call = |rest: &str| what(&format!("a-1 [001] 5.000001: {rest}"));
    let registers = Some([0xb, 1, 0x55e8_a432_49bc, 0, 7, 0x10]);
    assert_eq!(call("sys_enter: NR 33 (b, 1, 55e8a43249bc, 0, 7, 10)"), Some(What::Enter { number: 33, registers }));
    assert_eq!(call("sys_exit: NR 59 = -2"), Some(What::Exit { result: -2 }));
    assert_eq!(call("cpu_idle: state=4294967295 cpu_id=0"), Some(What::Idle { state: None }));
    assert_eq!(call("softirq_entry: vec=9 [action=RCU]"), Some(What::SoftIn { vector: 9 }));
    assert_eq!(call("hrtimer_expire_entry: hrtimer=00000010 now=12"), Some(What::Expire { timer: 16, now: 12 }));
    assert_eq!(
        call("sched_wakeup: a b:7 [98] success=1 CPU:003"),
        Some(What::Wakeup { task: task("a b", 7, 98), cpu: 3 })
    );
    assert_eq!(call("sched_switch: prev_comm=a"), None);
    let renamed = |tid| Some(What::Renamed { tid, name: name(b"b c"), is_program: false });
    assert_eq!(call("task_rename: pid=7 oldcomm=a newcomm=b c oom_score_adj=0"), renamed(7));
    assert_eq!(call("task_rename: oldcomm=a newcomm=b c oom_score_adj=0"), renamed(0));
    assert_eq!(what("a 1 [001] 5.000001: other:sys_exit: NR 1 = 0"), None);
}

#[test]
fn a_head_says_where_and_when() {
    let line = Line::of(b" my [x] task-0-12 (   7) [003] d.h2. 5.000001: sys_exit: NR 1 = 0").unwrap();
    assert_eq!((line.tid, line.tgid, line.cpu, line.t), (12, Some(7), 3, 5_000_001_000));
    assert_eq!(line.name, name(b"my [x] task-0"));
    let line = Line::of(b"foo-1  7/12 [003] 5.000000001: raw_syscalls:sys_exit: NR 1 = 0").unwrap();
    assert_eq!((line.tid, line.tgid, line.t, line.name), (12, Some(7), 5_000_000_001, name(b"foo-1")));
    for none in ["a-1 [001] 5: sys_exit: x", "a-1 [9999] 5.000001: sys_exit: x", "[001] 5.000001: sys_exit: x"] {
        assert_eq!(Line::of(none.as_bytes()), None, "{none}");
    }
}
