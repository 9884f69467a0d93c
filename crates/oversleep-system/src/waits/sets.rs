//! Sets of waits by properties of their descriptions. They are constants, so that other constants can be derived from them.

use super::{LINUX, MACOS, WINDOWS};
use crate::{Family, SlackRule, Takes, WaitInfo, ZeroMeans};

/// The names of the waits that satisfy each of these conditions in turn, in the order of the list.
macro_rules! names_where {
    ($waits:path, $($fits:path),+) => {{
        const LENGTH: usize = {
            let (mut at, mut length) = (0, 0);
            $(while at < $waits.len() {
                length += $fits(&$waits[at]) as usize;
                at += 1;
            }
            at = 0;)+
            length + at
        };
        const NAMES: [&str; LENGTH] = {
            let (mut names, mut at, mut length) = ([""; LENGTH], 0, 0);
            $(while at < $waits.len() {
                if $fits(&$waits[at]) {
                    names[length] = $waits[at].name;
                    length += 1;
                }
                at += 1;
            }
            at = 0;)+
            assert!(length + at == LENGTH);
            names
        };
        &NAMES
    }};
}

/// Sleeps of Linux by its ordinary timer, the simplest first.
pub const LINUX_SLEEPS: &[&str] = names_where!(LINUX, is_sleep_by_timer);
/// Sleeps of Windows by its ordinary timer, the simplest first. The standard library's uses another timer.
pub const WINDOWS_SLEEPS: &[&str] = names_where!(WINDOWS, is_sleep_by_timer);
/// Sleeps of macOS by its ordinary timer, the simplest first.
pub const MACOS_SLEEPS: &[&str] = names_where!(MACOS, is_sleep_by_timer);

/// Waits of Linux whose timer has no slack. Timers that a program arms come first, since they can replace a sleep.
pub const LINUX_EXACT: &[&str] = names_where!(LINUX, is_exact_timer, is_exact_otherwise);
/// Timers of macOS that the kernel doesn't coalesce.
pub const MACOS_EXACT: &[&str] = names_where!(MACOS, is_exact_timer, is_exact_otherwise);

/// Waits of Linux whose slack grows with the timeout.
pub const LINUX_TIMEOUT_SHARE: &[&str] = names_where!(LINUX, has_share_of_timeout);
/// Waits of Linux whose end is a time of day.
pub const LINUX_TO_TIME_OF_DAY: &[&str] = names_where!(LINUX, ends_at_time_of_day);
/// Waits of Linux for descriptors that count in whole milliseconds.
pub const LINUX_MILLISECOND_POLLS: &[&str] = names_where!(LINUX, is_poll_in_milliseconds);
/// Sleeps of Windows, and its waits for another thread, that end at a timer interrupt.
pub const WINDOWS_TICK_WAITS: &[&str] = names_where!(WINDOWS, is_sleep_by_timer, is_lock_at_tick);

/// The sleeps by the ordinary timer of a system by its name in results; for an unknown system, those of Linux.
pub fn plain_sleeps(os: &str) -> &'static [&'static str] {
    match os {
        "windows" => WINDOWS_SLEEPS,
        "macos" => MACOS_SLEEPS,
        _ => LINUX_SLEEPS,
    }
}

const fn is_sleep_by_timer(info: &WaitInfo) -> bool {
    matches!(info.family, Family::Sleep) && !matches!(info.slack, SlackRule::None | SlackRule::OfItsWaits)
}

const fn is_exact_timer(info: &WaitInfo) -> bool {
    matches!(info.zero, ZeroMeans::Disarms) && info.ignores_slack()
}

const fn is_exact_otherwise(info: &WaitInfo) -> bool {
    !matches!(info.family, Family::Sleep) && info.ignores_slack() && !is_exact_timer(info)
}

const fn ends_at_time_of_day(info: &WaitInfo) -> bool {
    matches!(info.takes, Takes::TimeOfDay)
}

const fn has_share_of_timeout(info: &WaitInfo) -> bool {
    matches!(info.slack, SlackRule::ThreadSlackOrShare)
}

const fn is_poll_in_milliseconds(info: &WaitInfo) -> bool {
    matches!(info.family, Family::Poll) && info.granularity.step.0 == 1_000_000
}

const fn is_lock_at_tick(info: &WaitInfo) -> bool {
    matches!(info.family, Family::Lock) && info.ends_at_tick()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_follow_from_the_descriptions() {
        assert_eq!(LINUX_SLEEPS[0], "nanosleep");
        assert_eq!(WINDOWS_SLEEPS, ["sleep", "sleep-ex", "nt-delay-execution"]);
        assert_eq!(LINUX_EXACT[0], "timerfd");
        assert!(LINUX_EXACT.contains(&"mq-timedreceive") && !LINUX_EXACT.contains(&"oversleep-sleep-until"));
        assert_eq!(LINUX_MILLISECOND_POLLS, ["poll", "epoll-wait"]);
        assert!(LINUX_TIMEOUT_SHARE.contains(&"ppoll") && !LINUX_TIMEOUT_SHARE.contains(&"so-rcvtimeo"));
        assert!(WINDOWS_TICK_WAITS.starts_with(WINDOWS_SLEEPS) && WINDOWS_TICK_WAITS.len() > WINDOWS_SLEEPS.len());
        assert_eq!(LINUX_TO_TIME_OF_DAY, ["sem-timedwait", "mq-timedreceive"]);
        assert!(MACOS_EXACT.contains(&"dispatch-source-strict"));
    }
}
