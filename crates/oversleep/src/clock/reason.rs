//! Which clock was chosen, and why each other one wasn't, in texts that users see.

use std::fmt;

/// A clock that [`Clock`](super::Clock) can read.
///
/// ```
/// use oversleep::clock::{Clock, Source};
///
/// if Clock::source() == Source::Os {
///     println!("each read costs as much as one of the operating system's clock");
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// The time-stamp counter of x86-64.
    Tsc,
    /// The virtual counter of AArch64's generic timer.
    Cntvct,
    /// The operating system's monotonic clock.
    Os,
}

impl Source {
    /// A short name: `tsc`, `cntvct` or `os`.
    ///
    /// ```
    /// assert_eq!(oversleep::clock::Source::Tsc.name(), "tsc");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::Cntvct => "cntvct",
            Self::Os => "os",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tsc => "the time-stamp counter",
            Self::Cntvct => "the generic timer's counter",
            Self::Os => "the operating system's clock",
        })
    }
}

/// The name of the clock source that the kernel uses, such as `tsc`, `kvm-clock` or `hpet`.
///
/// ```
/// use oversleep::clock::{Clock, Reason};
///
/// for (source, reason) in Clock::why().rejected {
///     if let Reason::KernelPrefers { clocksource } = reason {
///         println!("{source}: the kernel uses {} instead", clocksource.name());
///     }
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Clocksource {
    // Stored inline, because choosing a clock must not allocate. The kernel's names have at most 31 bytes.
    bytes: [u8; 32],
    len: u8,
}

impl Clocksource {
    /// The name that the kernel wrote, trimmed and cut to what fits.
    #[allow(dead_code, reason = "not every kernel names its clock source")]
    pub(crate) fn new(written: &[u8]) -> Self {
        let mut bytes = [0; 32];
        let mut len = 0;
        for &byte in written.trim_ascii().iter().filter(|byte| byte.is_ascii_graphic()).take(bytes.len()) {
            bytes[len] = byte;
            len += 1;
        }
        Self { bytes, len: len as u8 }
    }

    /// The kernel's name for the clock source.
    ///
    /// ```
    /// use oversleep::clock::{Clock, Reason};
    ///
    /// let why = Clock::why();
    /// let names = why.rejected.iter().filter_map(|(_, reason)| match reason {
    ///     Reason::HypervisorUnstable { clocksource } => Some(clocksource.name().to_owned()),
    ///     _ => None,
    /// });
    /// names.for_each(|name| println!("{name}"));
    /// ```
    pub fn name(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl fmt::Debug for Clocksource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.name(), f)
    }
}

/// Why a clock isn't used here.
///
/// ```
/// use oversleep::clock::{Clock, Reason};
///
/// for (source, reason) in Clock::why().rejected {
///     match reason {
///         Reason::CrossCoreSkew { ticks } => println!("{source}: cores differ by {ticks} ticks"),
///         reason => println!("{source} isn't used: {reason}"),
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// Processors of this architecture have no such counter.
    AnotherArchitecture,
    /// The environment variable `OVERSLEEP_CLOCK` requests the operating system's clock.
    Forced,
    /// This process may not read the counter and would be killed if it did (`PR_SET_TSC`).
    ReadForbidden,
    /// Neither the processor nor the hypervisor guarantees a constant rate in every power state.
    InvariantTscMissing,
    /// In this virtual machine the kernel keeps time by another clock source, because the counter may jump or change
    /// its rate when the machine is migrated.
    HypervisorUnstable {
        /// What the kernel uses instead.
        clocksource: Clocksource,
    },
    /// The kernel keeps time by another clock source, because it found the counter unstable or was configured so.
    KernelPrefers {
        /// What the kernel uses instead.
        clocksource: Clocksource,
    },
    /// The kernel's clock source can't be read, and the cores couldn't be compared either.
    Unverifiable,
    /// One core's counter is behind another's.
    CrossCoreSkew {
        /// The difference in ticks, at least.
        ticks: u64,
    },
    /// No processor has a counter of the measured frequency.
    FrequencyImplausible {
        /// Ticks per second; 0 if two readings barely differed, which means less than 30.5 kHz.
        hz: u64,
    },
    /// The counter's rate differs too much from the operating system's clock.
    DriftTooHigh {
        /// Parts per million; positive if the counter ran ahead.
        ppm: f64,
    },
    /// A read of the counter costs more than one of the operating system's clock, so the kernel or a hypervisor emulates
    /// it.
    Emulated {
        /// The cost of a read of the counter.
        read_ns: u64,
        /// The cost of a read of the operating system's clock.
        os_ns: u64,
    },
    /// While it was in use, the counter jumped or changed its rate relative to the operating system's clock.
    CounterJumped {
        /// How far it was off; positive if it was ahead.
        ns: i64,
        /// Over this time.
        over_ns: u64,
        /// The processors where it was read before and after. If they differ, it may be a skew between the two. Both are
        /// `u32::MAX` where the system doesn't say.
        cpus: [u32; 2],
    },
    /// While it was in use, a reading of the counter was below an earlier one, of another core or the same.
    CounterWentBack {
        /// How far below.
        ns: u64,
    },
    /// While it was in use, the counter stopped.
    CounterStopped {
        /// How long it hadn't advanced when that was found.
        ns: u64,
    },
}

impl Reason {
    /// Whether the counter itself still works as well as before.
    pub(crate) fn leaves_counter_sound(&self) -> bool {
        matches!(self, Self::HypervisorUnstable { .. } | Self::KernelPrefers { .. })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnotherArchitecture => write!(f, "this processor's architecture has no such counter"),
            Self::Forced => write!(f, "OVERSLEEP_CLOCK requests the operating system's clock"),
            Self::ReadForbidden => write!(f, "this process may not read it (PR_SET_TSC)"),
            Self::InvariantTscMissing => {
                write!(f, "the processor doesn't guarantee a constant rate in every power state (no invariant TSC)")
            }
            Self::HypervisorUnstable { clocksource } => write!(
                f,
                "this virtual machine's kernel keeps time by {} instead: the counter may jump in a migration",
                clocksource.name()
            ),
            Self::KernelPrefers { clocksource } => write!(f, "the kernel keeps time by {} instead", clocksource.name()),
            Self::Unverifiable => {
                write!(f, "neither the kernel's clock source nor a comparison of the cores is available")
            }
            Self::CrossCoreSkew { ticks } => write!(f, "one core's counter is {ticks} ticks behind another's"),
            Self::FrequencyImplausible { hz } => write!(f, "its measured frequency of {hz} Hz is implausible"),
            Self::DriftTooHigh { ppm } => {
                write!(f, "its rate is {ppm:.0} ppm off the operating system's clock")
            }
            Self::Emulated { read_ns, os_ns } => {
                write!(f, "a read costs {read_ns} ns, and one of the operating system's clock {os_ns} ns")
            }
            Self::CounterJumped { ns, over_ns, cpus } => {
                let (direction, us) = (if *ns < 0 { "back" } else { "ahead" }, ns.unsigned_abs() as f64 / 1e3);
                let ms = *over_ns as f64 / 1e6;
                write!(f, "it moved {us:.0} µs {direction} against the operating system's clock within {ms:.1} ms")?;
                match cpus {
                    [before, after] if before != after => write!(f, ", from processor {before} to {after}"),
                    _ => Ok(()),
                }
            }
            Self::CounterWentBack { ns } => write!(f, "a reading was {:.0} µs below an earlier one", *ns as f64 / 1e3),
            Self::CounterStopped { ns } => write!(f, "it stopped for {:.0} µs", *ns as f64 / 1e3),
        }
    }
}

/// The clock that was chosen, and why each faster one wasn't.
///
/// ```
/// let choice = oversleep::clock::Clock::why();
/// if let Some(hz) = choice.hz {
///     println!("{}: {hz} ticks per second", choice.source);
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// The clock in use.
    pub source: Source,
    /// The counter's measured frequency in ticks per second; `None` for the operating system's clock.
    pub hz: Option<u64>,
    /// Every faster clock that was rejected, with the check it failed.
    pub rejected: Vec<(Source, Reason)>,
    /// Whether a counter was in use and failed. `rejected` has the reason.
    pub is_demoted: bool,
    /// What the kernel keeps the operating system's clock by, where it says so. It may be the counter that was rejected,
    /// because a kernel may trust a counter that this process can't.
    pub clocksource: Option<Clocksource>,
    /// What was observed of a counter that fails, even before it was taken out of use.
    pub faults: Faults,
}

/// What was observed of a counter that fails.
///
/// ```
/// let faults = oversleep::clock::Clock::why().faults;
/// println!("{} readings behind an earlier one, by up to {} ns", faults.backward, faults.backward_max_ns);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// How often the counter wasn't where it was predicted, or a reading was below an earlier one. Fewer than five small
    /// ones within 40 s are tolerated.
    pub suspected: u64,
    /// How many readings of the counter were more than 1 µs below an earlier one. No caller got them: a read returned
    /// the earlier time instead.
    pub backward: u64,
    /// The largest of these differences.
    pub backward_max_ns: u64,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is in use", self.source)?;
        if let Some(hz) = self.hz {
            write!(f, " at {:.6} MHz", hz as f64 / 1e6)?;
        }
        if let Some(clocksource) = self.clocksource.filter(|_| self.source == Source::Os) {
            write!(f, ", which the kernel keeps by {}", clocksource.name())?;
        }
        for (source, reason) in &self.rejected {
            let verb = if self.is_demoted && !matches!(reason, Reason::AnotherArchitecture) {
                "no longer is"
            } else {
                "isn't"
            };
            write!(f, "; {source} {verb}, because {reason}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clocksource_is_trimmed_and_bounded() {
        assert_eq!(Clocksource::new(b"kvm-clock \n").name(), "kvm-clock");
        assert_eq!(Clocksource::new(&[b'x'; 50]).name().len(), 32);
        assert_eq!(Clocksource::new(b"\xff\n").name(), "");
    }

    #[test]
    fn a_choice_reads_as_a_sentence() {
        let reason = Reason::KernelPrefers { clocksource: Clocksource::new(b"hpet\n") };
        let choice = Choice {
            source: Source::Os,
            hz: None,
            rejected: vec![(Source::Tsc, reason)],
            is_demoted: false,
            clocksource: Some(Clocksource::new(b"hpet\n")),
            faults: Faults::default(),
        };
        assert_eq!(
            choice.to_string(),
            "the operating system's clock is in use, which the kernel keeps by hpet; \
             the time-stamp counter isn't, because the kernel keeps time by hpet instead"
        );
        let jumped = Reason::CounterJumped { ns: -30_000, over_ns: 92_000_000, cpus: [0, 1] };
        let skewed = vec![(Source::Tsc, jumped)];
        let demoted = Choice { rejected: skewed, is_demoted: true, clocksource: None, ..choice };
        assert_eq!(
            demoted.to_string(),
            "the operating system's clock is in use; \
             the time-stamp counter no longer is, because it moved 30 µs back against the operating system's clock \
             within 92.0 ms, from processor 0 to 1"
        );
    }
}
