//! What was requested of this emulation; nothing changes it while the program runs.

use crate::Request;
use crate::linux::process::status;
use crate::plan::{ClockChoice, Plan, Stepped};
use crate::report::OwnWakeUp;

/// What was requested of this emulation.
pub struct Settings {
    /// The program and its arguments as typed.
    pub typed: Vec<String>,
    /// The emulated machine; `None` if programs wait natively.
    pub plan: Option<Plan>,
    /// This machine's own wake-up, which was taken off the plan's learned lateness.
    pub own_wake_up: Option<OwnWakeUp>,
    /// Whether setuid programs gain no privileges because they are traced by an unprivileged user.
    pub is_unprivileged: bool,
    /// Whether programs have their memory locked.
    pub locks_memory: bool,
    /// Whether programs of 32 bits run with native timing.
    pub allows_32_bit: bool,
    /// Whether a filter of system calls was in force before the program started.
    pub is_filtered: bool,
    /// Which clocks a program gets.
    pub choice: ClockChoice,
    /// The stepped clocks of a program without adapters.
    pub stepped: Vec<Stepped>,
    /// Whether programs of known runtimes get the behaviour of their ports.
    pub has_adapters: bool,
    /// The calls that the programs' sleeps are said to stand for.
    pub stands_for: Vec<String>,
}

impl Settings {
    pub fn new(request: Request, stepped: Vec<Stepped>, own_wake_up: Option<OwnWakeUp>) -> Settings {
        Settings {
            typed: request.program.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            plan: request.plan,
            own_wake_up,
            // SAFETY: takes nothing.
            is_unprivileged: unsafe { libc::geteuid() } != 0,
            locks_memory: request.locks_memory,
            allows_32_bit: request.allows_32_bit,
            is_filtered: status::is_filtered(std::process::id() as i32),
            choice: request.clocks,
            stepped,
            has_adapters: request.has_adapters,
            stands_for: request.stands_for,
        }
    }

    /// The machine's name.
    pub fn machine(&self) -> &str {
        self.plan.as_ref().map_or("this machine", Plan::machine)
    }
}
