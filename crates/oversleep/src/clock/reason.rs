//! Which clock was chosen and why each other one wasn't, in words that users see.

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
    /// The counter's rate jumps relative to the operating system's clock.
    DriftTooHigh {
        /// Parts per million at the last jump; positive if the counter ran ahead.
        ppm: f64,
    },
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
                write!(f, "its rate jumps by {ppm:.0} ppm relative to the operating system's clock")
            }
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
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is in use", self.source)?;
        if let Some(hz) = self.hz {
            write!(f, " at {:.6} MHz", hz as f64 / 1e6)?;
        }
        for (source, reason) in &self.rejected {
            write!(f, "; {source} isn't, because {reason}")?;
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
        let choice = Choice { source: Source::Os, hz: None, rejected: vec![(Source::Tsc, reason)] };
        assert_eq!(
            choice.to_string(),
            "the operating system's clock is in use; \
             the time-stamp counter isn't, because the kernel keeps time by hpet instead"
        );
    }
}
