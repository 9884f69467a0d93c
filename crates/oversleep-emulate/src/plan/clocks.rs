//! Which clock of a machine stands for a clock that a Linux program reads, and the steps in which it advances.

use oversleep_model::sim::{ClockModel, ClockSource};
use oversleep_record::Nanos;
use oversleep_system::rules::Grid;
use oversleep_system::runtime_calls;

use super::Plan;

macro_rules! clocks {
    ($($(#[$doc:meta])*
        $name:ident = $id:literal, $own:literal, reads $reads:ident, $windows:literal, $macos:literal;)+) => {
        /// A clock that Linux programs read without a system call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum LinuxClock {
            $($(#[$doc])* $name,)+
        }

        impl LinuxClock {
            /// All of them.
            pub const ALL: &[LinuxClock] = &[$(LinuxClock::$name),+];

            /// Its id for `clock_gettime`.
            pub fn id(self) -> i32 {
                match self { $(LinuxClock::$name => $id,)+ }
            }

            /// Its name among the clocks of Linux.
            pub fn name(self) -> &'static str {
                match self { $(LinuxClock::$name => $own,)+ }
            }

            /// The exact clock that a coarse clock is a reading of; an exact clock yields itself.
            pub fn reads(self) -> LinuxClock {
                match self { $(LinuxClock::$name => LinuxClock::$reads,)+ }
            }

            /// The clock that stands for it on a machine with that system.
            fn stands_for(self, os: &str) -> Option<&'static str> {
                let (windows, linux, macos) = match self { $(LinuxClock::$name => ($windows, $own, $macos),)+ };
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

// A port to Windows measures spans with the performance counter, and reads the time of day as of the last interrupt.
clocks! {
    /// `CLOCK_REALTIME`, `gettimeofday`, `time`.
    Realtime = 0, "realtime", reads Realtime, "system-time", "realtime";
    /// `CLOCK_MONOTONIC`.
    Monotonic = 1, "monotonic", reads Monotonic, "qpc", "monotonic";
    /// `CLOCK_MONOTONIC_RAW`.
    MonotonicRaw = 4, "monotonic-raw", reads MonotonicRaw, "qpc", "monotonic-raw";
    /// `CLOCK_REALTIME_COARSE`.
    RealtimeCoarse = 5, "realtime-coarse", reads Realtime, "system-time", "realtime";
    /// `CLOCK_MONOTONIC_COARSE`.
    MonotonicCoarse = 6, "monotonic-coarse", reads Monotonic, "get-tick-count-64", "monotonic";
    /// `CLOCK_BOOTTIME`.
    Boottime = 7, "boottime", reads Boottime, "interrupt-time", "mach-continuous";
    /// `CLOCK_TAI`.
    Tai = 11, "tai", reads Tai, "system-time", "realtime";
}

/// Which clocks show what the machine's clocks would show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClockChoice {
    /// None: all show this system's time.
    Off,
    /// Clocks that Linux calls coarse show the machine's; the others show this system's.
    Coarse,
    /// Each clock shows the machine's clock that stands for it.
    All,
    /// Only these show the machine's clock that stands for them, or the one that is named with it.
    These(Vec<(LinuxClock, Option<String>)>),
}

impl std::str::FromStr for ClockChoice {
    type Err = String;

    fn from_str(typed: &str) -> Result<ClockChoice, String> {
        let named = |one: &str| {
            let (name, stands_for) =
                one.split_once('=').map_or((one, None), |(name, other)| (name, Some(other.to_owned())));
            let clock = LinuxClock::ALL.iter().find(|clock| clock.name() == name);
            clock.map(|&clock| (clock, stands_for)).ok_or_else(|| unknown(name))
        };
        match typed {
            "off" => Ok(ClockChoice::Off),
            "coarse" => Ok(ClockChoice::Coarse),
            "all" => Ok(ClockChoice::All),
            _ => typed.split(',').map(named).collect::<Result<_, _>>().map(ClockChoice::These),
        }
    }
}

/// Why a clock can't be named so.
fn unknown(name: &str) -> String {
    let names: Vec<&str> = LinuxClock::ALL.iter().map(|clock| clock.name()).collect();
    let names = names.join(", ");
    match runtime_calls::find_clocks("linux", name, None).first() {
        Some(clock) => format!(
            "'{name}' is a clock of {}. With coarse, the default, it shows by itself what it shows on the machine's system, if \
             the program is recognised; the clocks that can be named are {names}",
            clock.runtime
        ),
        None => format!("'{name}' is no clock of Linux that can be emulated; there are {names}"),
    }
}

/// The steps in which a clock advances, independent of the timer resolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stepped {
    /// The clock that a program reads.
    pub clock: LinuxClock,
    /// The machine's clock that stands for it.
    pub stands_for: &'static str,
    /// Whether it shows the last timer interrupt.
    pub follows_interrupts: bool,
    /// The clock shows multiples of this.
    pub step: Nanos,
    /// Its reading is finally rounded down to this.
    pub unit: Nanos,
    /// Whether some functions of the program alone see it so.
    pub is_apart: bool,
}

/// A clock with shorter steps stays as smooth as this system's: 100 ns of a performance counter take three readings.
const COARSE: Nanos = Nanos(10_000);

impl Plan {
    /// The clocks whose steps differ from this system's.
    ///
    /// # Errors
    /// A chosen name is none of the machine's clocks.
    pub fn clocks(&self, choice: &ClockChoice) -> Result<Vec<Stepped>, String> {
        let is_coarse = |clock: &LinuxClock| clock.reads() != *clock;
        let of = |clocks: &mut dyn Iterator<Item = LinuxClock>| clocks.map(|clock| (clock, None)).collect();
        let chosen: Vec<(LinuxClock, Option<String>)> = match choice {
            ClockChoice::Off => Vec::new(),
            ClockChoice::Coarse => of(&mut LinuxClock::ALL.iter().copied().filter(is_coarse)),
            ClockChoice::All => of(&mut LinuxClock::ALL.iter().copied()),
            ClockChoice::These(these) => these.clone(),
        };
        let mut stepped = Vec::new();
        for (clock, named) in chosen {
            let name = named.as_deref().or_else(|| clock.stands_for(&self.machine.os));
            let model = self.machine.clocks.iter().find(|model| Some(model.info.name) == name);
            match model.filter(|model| model.unavailable.is_none()) {
                Some(model) => stepped.extend(self.stepped(clock, model)),
                None if named.is_some() => {
                    return Err(format!(
                        "{} has no clock '{}'; `oversleep clocks --list --on {}` lists those that it has",
                        self.machine.name,
                        name.unwrap_or_default(),
                        self.machine.name
                    ));
                }
                None => {}
            }
        }
        Ok(stepped)
    }

    /// That clock of the machine for a program that takes it for that one, if it moves in steps.
    pub(super) fn stepped(&self, clock: LinuxClock, model: &ClockModel) -> Option<Stepped> {
        let follows_interrupts = match model.source {
            ClockSource::Elapsed => false,
            ClockSource::LastInterrupt | ClockSource::DefaultTick => self.has_tick(),
            ClockSource::ThreadCpu | ClockSource::ProcessCpu => return None,
        };
        let step = model.step_ns.max(Nanos(1));
        let unit = Nanos(i64::try_from(1_000_000_000 / model.frequency_hz.max(1)).unwrap_or(1).max(1));
        let stepped = Stepped { clock, stands_for: model.info.name, follows_interrupts, step, unit, is_apart: false };
        // A coarse clock of this system advances with its own tick, even if its counterpart is exact.
        let is_coarse_here = clock.reads() != clock;
        (is_coarse_here || follows_interrupts || step >= COARSE || unit >= COARSE).then_some(stepped)
    }
}

impl Stepped {
    /// What it shows when the exact clock shows `at`, with interrupts on that grid of the exact clock.
    pub fn reading(&self, at: Nanos, interrupts: Option<Grid>) -> Nanos {
        let followed = match interrupts.filter(|grid| self.follows_interrupts && at >= grid.origin) {
            Some(grid) => grid.at_or_before(at),
            None => at,
        };
        followed.round_down_to(self.step).round_down_to(self.unit)
    }

    /// How long a reading stays the same, given the interrupt's period.
    pub fn shows_multiples_of(&self, interrupt: Nanos) -> Nanos {
        let followed = if self.follows_interrupts { interrupt } else { Nanos(1) };
        followed.max(self.step).max(self.unit)
    }
}
