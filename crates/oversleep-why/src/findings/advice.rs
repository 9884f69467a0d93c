//! The advice for one program and one cause.

use crate::culprit::Why;
use crate::group::{Group, Key};
use crate::summary::Summary;
use crate::wait::signed;

use super::ns;

/// Calls whose slack is a share of the timeout, if that exceeds the thread's slack.
const POLLING: &[&str] = &["poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"];

pub fn slack(group: &Group) -> Vec<String> {
    let is_polling = POLLING.contains(&group.key.call.as_str());
    let requested = group.key.requested_ns.map_or(0, signed);
    let tid = group.tgid;
    let mut lines = Vec::new();
    if is_polling && group.p50(crate::Part::Slack) > 60_000 && requested > 0 {
        lines.push(format!(
            "For {} the slack is at least 0.1 % of the timeout (0.5 % for a nice process), here {}, whatever the \
             thread's slack is: wait for a timerfd that is set to the deadline instead.",
            group.key.call,
            ns(group.p50(crate::Part::Slack)),
        ));
        return lines;
    }
    lines.push(
        "In the program: prctl(PR_SET_TIMERSLACK, 1) in this thread, before it starts others, which inherit it."
            .to_owned(),
    );
    lines.push(format!(
        "Without changing it: echo 1 > /proc/{tid}/timerslack_ns, for each of its threads (needs CAP_SYS_NICE)."
    ));
    lines
}

pub fn unseen_slack() -> Vec<String> {
    vec![
        "To see how much, run the program with and without slack: oversleep run --slack 1ns --measure -- PROGRAM."
            .to_owned(),
    ]
}

pub fn rounding(key: &Key) -> Vec<String> {
    let precise = match key.call.as_str() {
        "epoll_wait" | "epoll_pwait" => "epoll_pwait2, which takes nanoseconds (Linux 5.11)",
        "poll" => "ppoll, which takes nanoseconds",
        "select" => "pselect, which takes nanoseconds",
        _ => "a finer unit: a runtime may round to whole milliseconds before it calls the kernel",
    };
    vec![format!("Use {precise}.")]
}

pub fn entry() -> Vec<String> {
    vec![
        "The thread was interrupted on its way into the call: use an absolute deadline, which that can't move."
            .to_owned(),
    ]
}

pub fn stop() -> Vec<String> {
    vec!["Find who sends SIGSTOP: a debugger, job control of a shell, or a container that is paused.".to_owned()]
}

pub fn wheel() -> Vec<String> {
    vec!["Timeouts of sockets end on a tick. Use poll or epoll with a timeout, which use precise timers.".to_owned()]
}

pub fn idle() -> Vec<String> {
    vec![
        "Keep the CPU from deep idle states: hold /dev/cpu_dma_latency open with 0 while it matters, or pin the thread to \
         a CPU that is kept busy."
            .to_owned(),
        "In a virtual machine the hypervisor decides when a halted CPU goes on; ask for dedicated CPUs.".to_owned(),
    ]
}

pub fn interrupts_off() -> Vec<String> {
    vec![
        "If it is the same task each time, it is the task; pin it to another CPU. If it is any task, it is the hypervisor: \
         compare with steal time."
            .to_owned(),
    ]
}

pub fn irq_unknown() -> Vec<String> {
    vec!["Run it again with --only '>1ms' and look at the worst waits.".to_owned()]
}

pub fn ipi() -> Vec<String> {
    vec!["Its run queue is on another CPU, which was idle or busy. Pin the thread, so that its timer fires where it runs.".to_owned()]
}

pub fn run_queue(group: &Group) -> Vec<String> {
    let Some(blame) = group.worst_blame() else {
        return vec![
            "Give the thread a CPU of its own (taskset, cpuset), or a real-time priority (chrt -f 10).".to_owned(),
        ];
    };
    let name = &blame.name;
    let rt = 99 - i64::from(blame.prio);
    let pin = if blame.is_pinned {
        format!("{name} is pinned to that CPU: pin this program to another one (taskset -c).")
    } else {
        format!("Keep {name} away from this program's CPUs: taskset or a cpuset for either of them.")
    };
    let raise = match blame.why {
        Why::HigherPolicy | Why::HigherPriority if blame.prio < 0 => {
            format!("{name} goes before every other policy; give it less run time, or another CPU.")
        }
        Why::HigherPolicy | Why::HigherPriority => {
            format!("Or give this thread more than priority {rt} (chrt -f {}), or {name} less.", (rt + 1).min(99))
        }
        Why::TurnNotOver => {
            format!("Or let this thread go first: chrt -f 1 PID (needs CAP_SYS_NICE), or nice -n 19 for {name}.")
        }
        Why::NotYetPreempted => "Or use a kernel with PREEMPT or PREEMPT_RT, which switches sooner.".to_owned(),
    };
    vec![pin, raise]
}

pub fn quota(group: &Group, summary: &Summary) -> Vec<String> {
    let cgroup = summary.meta.processes.iter().find(|process| process.tgid == group.tgid);
    let path = cgroup.and_then(|process| process.cgroup.clone()).unwrap_or_else(|| "its group".to_owned());
    vec![
        format!("Raise the quota of {path} (cpu.max, or cpu.cfs_quota_us), or lengthen it with cpu.max.burst."),
        "Use fewer threads: together they use up the quota of a period in a fraction of it.".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::Request;

    #[test]
    fn advice_names_the_finer_call() {
        let key = |call: &str| Key {
            program: "p".to_owned(),
            thread: "p".to_owned(),
            call: call.to_owned(),
            timer: None,
            request: Request::Span,
            requested_ns: None,
        };
        assert!(rounding(&key("epoll_wait"))[0].contains("epoll_pwait2"));
        assert!(rounding(&key("nanosleep"))[0].contains("runtime"));
    }
}
