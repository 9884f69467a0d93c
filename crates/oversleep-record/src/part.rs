//! The named parts of a wait's lateness, from its deadline to its end. They are differences of adjacent times of one clock,
//! so they add up to it exactly.

use serde::{Deserialize, Serialize};

macro_rules! parts {
    ($($(#[doc = $doc:literal])* $part:ident $field:ident $about:literal,)+) => {
        /// A named part of a wait's lateness.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "lowercase")]
        pub enum Part {
            $($(#[doc = $doc])* $part,)+
        }

        impl Part {
            /// All of them, in the order of time.
            pub const ALL: &[Part] = &[$(Part::$part),+];

            /// Its name in tables and JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $(Part::$part => stringify!($field),)+
                }
            }

            /// What it means, in a few words.
            pub fn about(self) -> &'static str {
                match self {
                    $(Part::$part => $about,)+
                }
            }
        }

        /// The duration of each part of one wait's lateness, in nanoseconds.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct Parts {
            $($(#[doc = $doc])* #[serde(default, skip_serializing_if = "crate::is_zero")] pub $field: i64,)+
        }

        impl Parts {
            /// The duration of this part.
            pub fn get(&self, part: Part) -> i64 {
                match part {
                    $(Part::$part => self.$field,)+
                }
            }

            /// The duration of this part, mutably.
            pub fn get_mut(&mut self, part: Part) -> &mut i64 {
                match part {
                    $(Part::$part => &mut self.$field,)+
                }
            }
        }
    };
}

parts! {
    /// From the program's deadline to the timer's: rounding, and the cost of entering the call.
    Api api "rounding, and entering the call",
    /// Stopped while its time ran out.
    Stop stop "stopped",
    /// Interrupted by signals, and started again with the rest of its time.
    Signal signal "interrupted by signals and started again",
    /// What a supervisor can't tell apart: from the program's deadline to waking the thread.
    Timer timer "timer slack, the interrupt and waking together",
    /// The kernel let the timer expire later, to share an interrupt.
    Slack slack "timer slack",
    /// From the last permitted time to the timer interrupt.
    Irq irq "the timer interrupt came late",
    /// The interrupt's handler ran something else first.
    Irqbody irqbody "the interrupt did something else first",
    /// From the timer's callback to waking the thread.
    Wake wake "from the timer to waking the thread",
    /// From waking the thread to its run queue, on another CPU by an interrupt.
    Ipi ipi "from waking to the run queue",
    /// Runnable, without a CPU.
    Runq runq "waiting for a CPU",
    /// From getting a CPU to the end of the call.
    Ret ret "returning from the call",
    /// Stopped by a CPU quota.
    Quota quota "stopped by a CPU quota",
    /// From the end of the call to the program's own clock read, if that was observed.
    User user "back in the program",
    /// Not observed.
    Unattributed unattributed "not observed",
    /// Of a period: waiting, as long as was requested.
    Requested requested "waiting, as requested",
    /// Of a period: waiting for longer, as the split of the waits says.
    Late late "late from a wait",
    /// Of a period: on a CPU, between waits.
    Work work "the thread's own work",
    /// Of a period: in page faults, between waits.
    Fault fault "page faults",
    /// Of a period: asleep in calls that are no timed waits, or that an event ended.
    Blocked blocked "asleep in other calls",
}

impl Parts {
    /// The sum of all parts: the lateness.
    pub fn sum(&self) -> i64 {
        Part::ALL.iter().fold(0, |sum: i64, &part| sum.saturating_add(self.get(part)))
    }

    /// The largest part.
    pub fn largest(&self) -> Part {
        Part::ALL.iter().copied().max_by_key(|&part| self.get(part)).unwrap_or(Part::Unattributed)
    }

    /// Parts and their values, in the order of time.
    pub fn iter(&self) -> impl Iterator<Item = (Part, i64)> + '_ {
        Part::ALL.iter().map(|&part| (part, self.get(part)))
    }
}

/// A stretch of a wait's lateness that belongs to one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Segment {
    /// The part.
    pub part: Part,
    /// Its begin, on the clock of the deadlines.
    pub from_ns: i64,
    /// Its end.
    pub to_ns: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_part_is_the_longest() {
        assert_eq!(Parts { slack: 5, runq: 9, ret: 7, ..Parts::default() }.largest(), Part::Runq);
    }
}
