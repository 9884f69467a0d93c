//! Every call that waits for a time, made by a small program that measures itself: who waited, for what, why it ended, and
//! that the collector's time from begin to end is the program's own.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use oversleep_why::wait::Request;
use oversleep_why::{Outcome, Wait};

use crate::system::observe::{collector, judge, median, watch_until};
use crate::system::program::{self, Dir};

const PROGRAM: &str = include_str!("../../../programs/waits.c");
const SPAN_NS: u64 = 2_000_000;
const COUNT: usize = 150;
/// The program reads its clock before it enters the call and after it left.
const APART_NS: i64 = 15_000;
/// `accept` makes a file before it waits. The kernel frees it after the end of the call, on the way back to the program.
const APART_ACCEPT_NS: i64 = 30_000;

/// A way to wait, as `waits.c` names it, and what must be seen of it: the call, also by the name that 32-bit programs
/// have for it; the timer, if it is one of its own; how it is requested.
struct Way {
    name: &'static str,
    calls: &'static [&'static str],
    timer: Option<&'static str>,
    request: Request,
}

const fn way(name: &'static str, calls: &'static [&'static str], request: Request) -> Way {
    Way { name, calls, timer: None, request }
}

const fn timer(name: &'static str, calls: &'static [&'static str], timer: &'static str) -> Way {
    Way { name, calls, timer: Some(timer), request: Request::Timer }
}

const CLOCK_NANOSLEEP: &[&str] = &["clock_nanosleep", "clock_nanosleep_time64"];
const FUTEX: &[&str] = &["futex", "futex_time64"];

const WAYS: &[Way] = &[
    way("nanosleep", &["nanosleep"], Request::Span),
    way("clock_nanosleep", CLOCK_NANOSLEEP, Request::Span),
    way("deadline", CLOCK_NANOSLEEP, Request::Deadline),
    way("deadline realtime", CLOCK_NANOSLEEP, Request::Deadline),
    way("deadline boottime", CLOCK_NANOSLEEP, Request::Deadline),
    way("deadline tai", CLOCK_NANOSLEEP, Request::Deadline),
    way("poll", &["poll"], Request::Span),
    way("ppoll", &["ppoll", "ppoll_time64"], Request::Span),
    way("select", &["select", "pselect6", "pselect6_time64"], Request::Span),
    way("pselect", &["pselect6", "pselect6_time64"], Request::Span),
    way("epoll_wait", &["epoll_wait"], Request::Span),
    way("epoll_pwait2", &["epoll_pwait2"], Request::Span),
    way("futex", FUTEX, Request::Span),
    way("futex bitset", FUTEX, Request::Deadline),
    way("futex realtime", FUTEX, Request::Deadline),
    way("futex_wait", &["futex_wait"], Request::Deadline),
    way("futex_waitv", &["futex_waitv"], Request::Deadline),
    way("sem_timedwait", FUTEX, Request::Deadline),
    way("condition", FUTEX, Request::Deadline),
    way("mutex", FUTEX, Request::Deadline),
    way("mutex pi", FUTEX, Request::Deadline),
    way("semtimedop", &["semtimedop", "semtimedop_time64", "ipc"], Request::Span),
    way("mq_timedreceive", &["mq_timedreceive", "mq_timedreceive_time64"], Request::Deadline),
    way("mq_timedsend", &["mq_timedsend", "mq_timedsend_time64"], Request::Deadline),
    way("sigtimedwait", &["rt_sigtimedwait", "rt_sigtimedwait_time64"], Request::Span),
    timer("timerfd", &["read"], "timerfd_settime"),
    timer("timerfd once", &["read"], "timerfd_settime"),
    timer("timerfd absolute", &["read"], "timerfd_settime"),
    timer("timerfd epoll", &["epoll_wait"], "timerfd_settime"),
    timer("timer pause", &["pause"], "timer_settime"),
    timer("timer sigwaitinfo", &["rt_sigtimedwait", "rt_sigtimedwait_time64"], "timer_settime"),
    timer("itimer pause", &["pause"], "setitimer"),
    timer("itimer sigsuspend", &["rt_sigsuspend"], "setitimer"),
    timer("itimer nanosleep", CLOCK_NANOSLEEP, "setitimer"),
    way("socket recv", &["recvfrom", "socketcall"], Request::Unknown),
    way("socket recvmsg", &["recvmsg", "socketcall"], Request::Unknown),
    way("socket read", &["read"], Request::Unknown),
    way("socket send", &["sendto", "socketcall"], Request::Unknown),
    way("socket accept", &["accept", "accept4", "socketcall"], Request::Unknown),
    way("io_uring wait", &["io_uring_enter"], Request::Span),
    timer("io_uring timeout", &["io_uring_enter"], "io_uring_enter"),
];

/// Runs those that are named, by programs of 64 and of 32 bits.
pub fn calls(is_named: impl Fn(&str) -> bool) -> Vec<(String, Result<String, String>)> {
    let mut ended = Vec::new();
    for (bits, flags) in [("", &[][..]), ("32-bit ", &["-m32"])] {
        let named: Vec<(String, &Way)> =
            WAYS.iter().map(|way| (format!("{bits}{}", way.name), way)).filter(|(name, _)| is_named(name)).collect();
        if named.is_empty() {
            continue;
        }
        let built = Dir::new().and_then(|dir| Ok((program::c(&dir, "waits", PROGRAM, flags)?, dir)));
        for (name, way) in named {
            let result = match &built {
                Ok((program, dir)) => check(program, dir, way),
                Err(why) => Err(why.clone()),
            };
            ended.push((name, result));
        }
    }
    ended
}

fn check(program: &Path, dir: &Dir, way: &Way) -> Result<String, String> {
    let measured = dir.0.join("measured");
    let _ = std::fs::remove_file(&measured);
    let mut collector = collector()?;
    let mut command = Command::new(program);
    command.args([way.name, &(SPAN_NS / 1_000).to_string(), &COUNT.to_string()]).arg(&measured);
    let (waits, status) = watch_until(&mut collector, &mut command, Duration::from_secs(20))?;
    if status.code() == Some(2) {
        return Err("SKIPPED: this system has no such call".to_owned());
    }
    let text = std::fs::read_to_string(&measured).map_err(|error| format!("it measured nothing: {error}"))?;
    let measured: i64 = text.trim().parse().map_err(|_| format!("it measured {text:?}"))?;
    let is_call = |wait: &&Wait| wait.call.as_deref().is_some_and(|call| way.calls.contains(&call));
    let waits: Vec<Wait> = waits.iter().filter(is_call).filter(|wait| wait.lateness_ns > -1_000_000).cloned().collect();
    let all = waits.len();
    let right: Vec<&Wait> = waits
        .iter()
        .filter(|wait| wait.outcome == Outcome::Timer)
        // 32-bit programs set the same timers by calls with longer times.
        .filter(|wait| wait.timer.as_deref().map(|name| name.trim_end_matches("64")) == way.timer)
        .filter(|wait| wait.request == way.request)
        .collect();
    let requested = median(right.iter().filter_map(|wait| Some(wait.requested_ns? as i64)));
    let whole = right.iter().filter(|wait| wait.is_attributed()).count();
    let lateness = median(right.iter().map(|wait| wait.lateness_ns));
    // From the entry into the call to its end, which is what the program measured but for its own steps.
    let took = median(right.iter().filter_map(|wait| Some(wait.end as i64 - wait.marks.entered? as i64)));
    let text = format!(
        "{} of {all} waits by {}{}, requested {requested} ns, {lateness} ns late at p50, took {took} ns, by the program \
         {measured} ns",
        right.len(),
        right.first().and_then(|wait| wait.call.as_deref()).unwrap_or("none"),
        right.first().and_then(|wait| wait.timer.as_deref()).map(|timer| format!(" and {timer}")).unwrap_or_default(),
    );
    let is_requested = match way.request {
        Request::Span | Request::Timer => (requested - SPAN_NS as i64).abs() <= 2_000,
        // The program's own way from its clock to the call is missing.
        Request::Deadline => (SPAN_NS as i64 * 9 / 10..=SPAN_NS as i64).contains(&requested),
        // A timeout of a socket is counted in ticks.
        Request::Unknown => requested % 1_000_000 == 0,
    };
    let once = way.name == "timerfd once" || way.name == "timerfd absolute";
    let apart = if way.name == "socket accept" { APART_ACCEPT_NS } else { APART_NS };
    let is_measured = once || (measured - took).abs() <= apart;
    let is_seen = right.len() * 100 >= COUNT * 98 && whole * 100 >= right.len() * 95;
    judge(is_seen && is_requested && is_measured && lateness >= 0, text)
}
