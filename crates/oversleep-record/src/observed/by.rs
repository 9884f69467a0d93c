//! Who followed the waits.

use serde::{Deserialize, Serialize};

use crate::part::Part;

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
    /// A supervisor without these records, which not every kernel grants to every user.
    SupervisorWithoutSwitches,
    /// A recorder of another project.
    Recorder,
}

impl By {
    /// Whether the kernel's events were followed.
    pub fn is_kernel(&self) -> bool {
        *self == By::Kernel
    }

    /// Whether both see the same: the kernel's own events, whoever recorded them, or the same calls of a supervisor.
    pub fn sees_as(self, other: By) -> bool {
        let is_of_the_kernel = |by: By| matches!(by, By::Kernel | By::Recorder);
        self == other || is_of_the_kernel(self) && is_of_the_kernel(other)
    }

    /// Parts that this follower can't tell from the rest of the lateness.
    pub fn unseen(self) -> &'static [Part] {
        const BY_SUPERVISOR: [Part; 8] =
            [Part::Timer, Part::Ret, Part::Slack, Part::Irq, Part::Irqbody, Part::Wake, Part::Ipi, Part::Quota];
        match self {
            By::Kernel | By::Recorder => &[],
            By::Supervisor => &BY_SUPERVISOR[2..],
            By::SupervisorWithoutSwitches => &BY_SUPERVISOR,
        }
    }
}
