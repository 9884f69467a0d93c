//! Which wait of a machine stands for a call of a program that was written for Linux.

use oversleep_system::runtime_calls::{self, Record, Rule};

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $windows:literal, $linux:literal, $macos:literal;)+) => {
        /// The kind of a wait in a Linux program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Class {
            $($(#[$doc])* $name,)+
        }

        impl Class {
            /// All of them.
            pub const ALL: &[Class] = &[$(Class::$name),+];
            /// The number of classes.
            pub const COUNT: usize = Class::ALL.len();

            /// The wait that stands for this class on a machine with that system.
            pub fn wait_of(self, os: &str) -> Option<&'static str> {
                let (windows, linux, macos) = match self {
                    $(Class::$name => ($windows, $linux, $macos),)+
                };
                match os {
                    "windows" => Some(windows),
                    "linux" => Some(linux),
                    "macos" => Some(macos),
                    _ => None,
                }
            }
        }
    };
}

// A port to Windows calls Sleep or waits for objects and completion ports, in whole milliseconds.
classes! {
    /// `nanosleep`, a relative `clock_nanosleep`.
    Sleep = "sleep", "nanosleep", "nanosleep";
    /// `clock_nanosleep` with an absolute time.
    SleepUntil = "sleep", "clock-nanosleep-abs", "mach-wait-until";
    /// A futex with a span.
    Futex = "wait-for-single-object", "futex", "cond-timedwait";
    /// A futex with a deadline: condition variables, locks, semaphores.
    FutexUntil = "wait-for-single-object", "futex-abs", "cond-timedwait";
    /// `select`, `pselect6`.
    Select = "select", "select", "select";
    /// `poll`, `ppoll`.
    Poll = "wsapoll", "poll", "poll";
    /// `epoll_wait`, `epoll_pwait`, `epoll_pwait2`, `io_getevents`.
    Epoll = "get-queued-completion-status", "epoll-wait", "kevent";
    /// `rt_sigtimedwait`, `semtimedop`.
    Signal = "wait-for-single-object", "sigtimedwait", "mach-semaphore";
    /// `mq_timedsend`, `mq_timedreceive`.
    Message = "wait-for-single-object", "mq-timedreceive", "mach-semaphore";
    /// `timerfd_settime`.
    TimerFd = "waitable-timer", "timerfd", "kevent-timer";
    /// `timer_settime`.
    Timer = "waitable-timer", "timer-create", "dispatch-source";
    /// `setitimer`, `alarm`.
    IntervalTimer = "waitable-timer", "setitimer", "dispatch-source";
    /// `SO_RCVTIMEO`, `SO_SNDTIMEO`.
    Socket = "select", "so-rcvtimeo", "select";
}

impl std::str::FromStr for Class {
    type Err = serde::de::value::Error;

    fn from_str(text: &str) -> Result<Class, Self::Err> {
        serde::Deserialize::deserialize(serde::de::value::StrDeserializer::new(text))
    }
}

/// The classes of a Linux program's calls that a record stands for if the user says so, and whether these requests are
/// rounded already: its sleeps, and what the same call makes on Linux.
pub(super) fn classes_of(record: &Record) -> Vec<(Class, bool)> {
    let mut classes = vec![(Class::Sleep, false), (Class::SleepUntil, false)];
    let is_same = |other: &&Record| {
        other.system == "linux" && other.family() == record.family() && other.names[0] == record.names[0]
    };
    for other in runtime_calls::all().iter().filter(is_same) {
        let is_rounded = other.rounds != Rule::Exact && other.rounds == record.rounds;
        let its = Class::ALL.iter().filter(|class| {
            class.wait_of("linux") == Some(&*other.wait)
                || other.wait == "cond-timedwait" && matches!(class, Class::Futex | Class::FutexUntil)
        });
        classes.extend(its.map(|&class| (class, is_rounded)));
    }
    classes.sort_by_key(|&(class, _)| class as usize);
    classes.dedup_by_key(|(class, _)| *class);
    classes
}
