//! The traced child: makes every wait for every request, and says so by a system call that does nothing.

use oversleep_record::Nanos;
use oversleep_system::{SharedPlatform, Target, WaitEnd};

/// Requests on both sides of every unit.
pub const REQUESTS: [Nanos; 6] =
    [Nanos(1), Nanos(999), Nanos(300_000), Nanos(1_000_000), Nanos(1_500_000), Nanos(2_000_100)];

/// The first argument of a call of `getppid`, which takes none, that carries a message.
pub const MESSAGE: u64 = 0x6f76_6572_736c_6565;

/// What the child says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// The wait of that index is not available.
    Missing { wait: u64 },
    /// A wait begins.
    Begin { wait: u64, requested: Nanos, deadline: Nanos },
    /// It ended; whether it failed.
    End { failed: bool },
}

impl Message {
    fn send(self) {
        let [kind, a, b, c] = match self {
            Message::Missing { wait } => [0, wait, 0, 0],
            Message::Begin { wait, requested, deadline } => [1, wait, requested.0 as u64, deadline.0 as u64],
            Message::End { failed } => [2, u64::from(failed), 0, 0],
        };
        // SAFETY: the call takes nothing and ignores what its registers hold.
        unsafe { libc::syscall(libc::SYS_getppid, MESSAGE, kind, a, b, c) };
    }

    /// The message that the arguments of a call of `getppid` carry.
    pub fn of(arguments: &[u64; 6]) -> Option<Message> {
        match *arguments {
            [MESSAGE, 0, wait, ..] => Some(Message::Missing { wait }),
            [MESSAGE, 1, wait, requested, deadline, _] => {
                Some(Message::Begin { wait, requested: Nanos(requested as i64), deadline: Nanos(deadline as i64) })
            }
            [MESSAGE, 2, failed, ..] => Some(Message::End { failed: failed != 0 }),
            _ => None,
        }
    }
}

/// Makes all the waits.
pub fn run() {
    let platform: SharedPlatform = oversleep_native::here();
    for (wait, entry) in platform.waits().iter().enumerate() {
        let wait = wait as u64;
        let Ok(mut waiter) = entry.open(&platform) else {
            Message::Missing { wait }.send();
            continue;
        };
        for requested in REQUESTS {
            let deadline = platform.now() + requested;
            Message::Begin { wait, requested, deadline }.send();
            let end = waiter.wait(Target { remaining: requested, deadline });
            Message::End { failed: matches!(end, WaitEnd::Failed(_)) }.send();
        }
    }
}
