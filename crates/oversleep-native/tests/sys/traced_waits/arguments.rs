//! What a system call's arguments say about when it ends.

use oversleep_record::Nanos;

use crate::ring;
use crate::tracer::Stopped;

/// What a call was given to end by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    Span(Nanos),
    /// On `CLOCK_MONOTONIC`.
    Deadline(Nanos),
    /// On `CLOCK_REALTIME`.
    TimeOfDay(Nanos),
}

/// Offset of `it_value` in `itimerspec` and `itimerval`.
const IT_VALUE: u64 = 16;

/// What the call that a traced child is about to make was given; nothing if it is no timed wait. `receive_timeout` is
/// what a socket was given last.
pub fn given(stopped: &Stopped, receive_timeout: &mut Option<Given>) -> Option<Given> {
    let args = &stopped.arguments;
    let millis = |argument: u64| Some(Given::Span(Nanos::from_millis(i64::from(argument as i32))));
    let span = |address| stopped.timespec(address).map(Given::Span);
    let deadline = |address, is_wall_clock| {
        stopped.timespec(address).map(if is_wall_clock { Given::TimeOfDay } else { Given::Deadline })
    };
    match stopped.call {
        libc::SYS_nanosleep => span(args[0]),
        libc::SYS_clock_nanosleep if args[1] as i32 & libc::TIMER_ABSTIME == 0 => span(args[2]),
        libc::SYS_clock_nanosleep => deadline(args[2], args[0] as i32 == libc::CLOCK_REALTIME),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_select => stopped.timeval(args[4]).map(Given::Span),
        libc::SYS_pselect6 => span(args[4]),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll => millis(args[2]),
        libc::SYS_ppoll => span(args[2]),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_epoll_wait => millis(args[3]),
        libc::SYS_epoll_pwait => millis(args[3]),
        libc::SYS_epoll_pwait2 => span(args[3]),
        libc::SYS_futex => match args[1] as i32 & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) {
            libc::FUTEX_WAIT => span(args[3]),
            libc::FUTEX_WAIT_BITSET => deadline(args[3], args[1] as i32 & libc::FUTEX_CLOCK_REALTIME != 0),
            _ => None,
        },
        libc::SYS_rt_sigtimedwait => span(args[2]),
        libc::SYS_mq_timedreceive => deadline(args[4], true),
        libc::SYS_timerfd_settime | libc::SYS_timer_settime if args[1] & 1 == 1 => deadline(args[2] + IT_VALUE, false),
        libc::SYS_timerfd_settime | libc::SYS_timer_settime => span(args[2] + IT_VALUE),
        libc::SYS_setitimer => stopped.timeval(args[1] + IT_VALUE).map(Given::Span),
        libc::SYS_setsockopt if args[1] as i32 == libc::SOL_SOCKET && args[2] as i32 == libc::SO_RCVTIMEO => {
            *receive_timeout = stopped.timeval(args[3]).map(Given::Span);
            None
        }
        libc::SYS_recvfrom => *receive_timeout,
        libc::SYS_io_uring_enter => ring::timeout_address(stopped).and_then(span),
        _ => None,
    }
}
