//! Who followed the waits, and what that shows.

use serde::{Deserialize, Serialize};

/// Who followed the waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// A program in the kernel, or the kernel's own logger.
    #[default]
    Kernel,
    /// A supervisor that stops the program at both ends of each wait, with the kernel's records of context switches.
    Supervisor,
    /// The same without these records, which not every kernel grants to every user.
    SupervisorWithoutSwitches,
}

impl By {
    /// Whether the kernel's events were followed.
    pub fn is_kernel(&self) -> bool {
        *self == By::Kernel
    }

    /// What the figures mean and which parts are missing, in sentences; none for the kernel's events.
    pub fn limits(self) -> &'static [&'static str] {
        match self {
            By::Kernel => &[],
            By::Supervisor => &[SPAN_WITH_SWITCHES, PARTS, CALLS],
            By::SupervisorWithoutSwitches => &[SPAN_WITHOUT_SWITCHES, SWITCHES, PARTS, CALLS],
        }
    }
}

const SPAN_WITH_SWITCHES: &str = "A supervisor saw these waits: it stops the program before and after each one. A span counts \
    from when the program goes on after the first stop, a deadline is the program's own; a wait ends when the program has \
    stopped again. Nothing is subtracted.";
const SPAN_WITHOUT_SWITCHES: &str = "A supervisor saw these waits: it stops the program before and after each one. A span \
    counts from when it lets the program go on after the first stop, a deadline is the program's own; a wait ends when the \
    supervisor notices the second stop, so its own waking is included. Nothing is subtracted.";
const SWITCHES: &str = "This process gets no records of context switches (perf_event_open), so only the time in the run queue \
    is told from the rest of the lateness, which is unattributed. With kernel.perf_event_paranoid at 2, or outside of a \
    container, it may get them.";
const PARTS: &str = "Timer slack, late interrupts, CPU quotas and who ran instead can be seen in the kernel's events only, \
    which need privileges.";
const CALLS: &str = "Not seen: timers that the program sets itself (timerfd, POSIX timers, setitimer), timeouts of sockets, \
    io_uring, and 32-bit programs.";
