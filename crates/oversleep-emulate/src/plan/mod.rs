//! What the rules of a modelled machine say about the waits of a program on this one. Pure: the figures and rules are
//! the model's own.

mod adapters;
#[cfg(test)]
mod agreement;
mod classes;
mod clocks;
mod closed;
mod own;
mod ports;
mod recognised;
mod resolution;
#[cfg(test)]
mod tests;

use oversleep_model::sim::{Machine, Overshoot, Random, WaitModel};
use oversleep_record::{Nanos, ResultFile};
use oversleep_system::rules::SleepingThread;
use oversleep_system::runtime_calls::{Passes, Rule};

pub use adapters::{Adapted, Described, Origin};
pub use classes::Class;
pub use clocks::{ClockChoice, LinuxClock, Stepped};
pub use closed::{ByTimer, ClosedForm, Ends};
pub use own::{Measured, Own};
pub use recognised::{Executed, version};
pub use resolution::{Holder, Resolution, Ticks};

/// What a plain port passes on: the request.
const AS_IS: Passes<'static> = Passes::rounding(Rule::Exact);

/// The waits of one machine, by the calls of this system's programs.
pub struct Plan {
    machine: Machine,
    /// Indices into the machine's waits, by class.
    waits: [Option<usize>; Class::COUNT],
    random: Random,
    /// How much earlier than it is seen a call begins, at least.
    until_seen: Nanos,
}

/// What a call of a program is on the machine.
#[derive(Clone, Copy)]
pub struct StandsFor<'a> {
    /// The machine's wait.
    pub wait: &'a WaitModel,
    /// What is passed on to it.
    pub passes: Passes<'a>,
    /// The clock that decides whether it is made again, if that moves in steps.
    pub due_by: Option<&'a Stepped>,
}

impl<'a> StandsFor<'a> {
    /// A wait that a plain port makes of a request as it is.
    pub fn plain(wait: &'a WaitModel) -> StandsFor<'a> {
        StandsFor { wait, passes: AS_IS, due_by: None }
    }

    /// Whether it or its runtime may request a resolution while it waits.
    fn may_hold(self) -> bool {
        self.passes.may_hold() || self.wait.raises_to_ns.is_some()
    }
}

/// The end of a wait as the program requested it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requested {
    /// A span from the call on.
    Span(Nanos),
    /// A time on the monotonic clock.
    Deadline(Nanos),
}

/// A wait that gets another end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The requested span, from the call on.
    pub requested: Nanos,
    /// The earliest end that it would have here.
    pub native: Nanos,
    /// Its end on the machine.
    pub end: Nanos,
}

impl Plan {
    /// The plan for that machine.
    ///
    /// # Errors
    /// The machine has no wait that stands for a call of Linux.
    pub fn on(machine: Machine) -> Result<Plan, String> {
        let mut waits = [None; Class::COUNT];
        let at = |class: Class| {
            let name = class.wait_of(&machine.os)?;
            machine.waits.iter().position(|wait| wait.info.name == name && wait.unavailable.is_none())
        };
        for &class in Class::ALL {
            // A program that finds no poll there uses select instead.
            waits[class as usize] = at(class).or_else(|| at(Class::Select).filter(|_| class == Class::Poll));
        }
        if waits.iter().all(Option::is_none) {
            return Err(format!("no wait of {} is known to be what a program of Linux calls", machine.name));
        }
        let random = Random::seeded(machine.seed);
        Ok(Plan { machine, waits, random, until_seen: Nanos::ZERO })
    }

    /// The plan of the modelled machine of that name, with overrides as [`oversleep_model::platform`] takes them.
    ///
    /// # Errors
    /// There is no such machine, an override can't be made, or there is nothing to emulate.
    pub fn named(name: &str, overrides: &[String], seed: Option<u64>) -> Result<Plan, String> {
        let machine = oversleep_model::machine(name, overrides, seed.unwrap_or(oversleep_model::SEED));
        Plan::on(machine.map_err(|error| error.to_string())?)
    }

    /// The plan for a machine like the one of the result: each wait is as late as it was there.
    ///
    /// # Errors
    /// As [`oversleep_model::like`].
    pub fn like(result: &ResultFile, overrides: &[String], seed: Option<u64>) -> Result<Plan, String> {
        let machine = oversleep_model::learned(result, overrides, seed.unwrap_or(oversleep_model::SEED));
        Plan::on(machine.map_err(|error| error.to_string())?)
    }

    /// Whether it has a timer interrupt whose period programs can request.
    pub fn has_tick(&self) -> bool {
        self.machine.timing.tick.is_some()
    }

    /// Its name, with its overrides.
    pub fn machine(&self) -> &str {
        &self.machine.name
    }

    /// The initial state of its timer resolution.
    pub fn resolution(&self, now: Nanos) -> Resolution {
        Resolution::new(self.machine.timing.tick.clone(), now)
    }

    /// The machine's wait that stands for calls of that class; `None` if it has none.
    pub fn wait(&self, class: Class) -> Option<&WaitModel> {
        self.waits[class as usize].map(|at| &self.machine.waits[at])
    }

    /// All of the machine's waits.
    #[cfg(test)]
    pub fn waits(&self) -> &[WaitModel] {
        &self.machine.waits
    }

    /// The wait that stands for calls of that class in a program whose runtime has adapters, and what the runtime's port
    /// passes on to it.
    pub fn wait_of<'a>(&'a self, class: Class, adapted: Option<(&'a Adapted, &Origin)>) -> Option<StandsFor<'a>> {
        let own = adapted.and_then(|(adapted, origin)| adapted.wait(class, origin));
        match own {
            Some(own) => {
                Some(StandsFor { wait: &self.machine.waits[own.at], passes: own.passes, due_by: own.due_by.as_ref() })
            }
            None => self.wait(class).map(StandsFor::plain),
        }
    }

    /// Whether the timer interrupt ends such a wait.
    fn ends_at_tick(&self, wait: &WaitModel) -> bool {
        wait.info.ends_at_tick() && self.machine.timing.tick.as_ref().is_some_and(|tick| tick.ends_waits)
    }

    /// When such a wait began that is seen `now`. Ticks end others, so it matters for learned ones alone.
    pub fn began(&self, wait: &WaitModel, is_as_found: bool, now: Nanos) -> Nanos {
        let is_learned = matches!(wait.overshoot, Overshoot::Learned(_)) && is_as_found;
        if is_learned { now - self.until_seen } else { now }
    }

    /// The span that a port hands to the system for a requested one. A program converts a span to a deadline, and takes
    /// time until it waits for that, which must not make a whole millisecond less.
    fn passed_on(&self, passes: Passes<'_>, requested: Requested, span: Nanos, now: Nanos) -> Nanos {
        const CONVERSION: Nanos = Nanos(100_000);
        let is_less = matches!(passes.rounds, Rule::Truncates | Rule::TruncatesToAtLeastOne);
        match requested {
            Requested::Deadline(_) if is_less => passes.span(span + CONVERSION, now),
            _ => passes.span(span, now),
        }
    }

    /// The resolution that a wait, or its runtime for this wait alone, requests while it waits for that.
    pub fn holds(&self, of: StandsFor<'_>, requested: Requested, now: Nanos) -> Option<Nanos> {
        let passes = of.passes;
        let span = match requested {
            Requested::Span(span) => span,
            Requested::Deadline(at) => at - now,
        };
        let passes_on = (span > Nanos::ZERO).then(|| self.passed_on(passes, requested, span, now))?;
        let by_runtime = passes.holds(passes_on).filter(|_| !passes.always_holds());
        by_runtime.or(of.wait.raises_to_ns).filter(|_| passes_on > Nanos::ZERO)
    }

    /// Whether a wait may request a resolution while it waits.
    pub fn may_hold(&self, of: StandsFor<'_>) -> bool {
        self.has_tick() && of.may_hold()
    }

    /// The end of a wait that begins `now`. `None` if it is over at once, so that the call is made unchanged.
    ///
    /// A deadline that passed after the last tick counts as the shortest wait. A program of this system converts a span
    /// to a deadline and takes time until it waits for that, while the machine's own calls take the span; emulation has
    /// to correct for this.
    pub fn end(
        &self,
        StandsFor { wait, passes, due_by }: StandsFor<'_>,
        requested: Requested,
        now: Nanos,
        Ticks { grid, interrupts, is_as_found }: Ticks,
    ) -> Option<Planned> {
        let span = match requested {
            Requested::Span(span) => span,
            Requested::Deadline(at) => {
                let is_past = match grid.filter(|_| self.ends_at_tick(wait)) {
                    Some(grid) => at <= grid.at_or_before(now),
                    None => at <= now,
                };
                if is_past { Nanos::ZERO } else { (at - now).max(Nanos(1)) }
            }
        };
        if span <= Nanos::ZERO {
            return None;
        }
        let timing = &self.machine.timing;
        let scheduler = &self.machine.scheduler;
        let is_real_time =
            scheduler.policies.iter().any(|policy| policy.name == scheduler.initial.0 && policy.is_real_time);
        let slack = if is_real_time { Nanos::ZERO } else { timing.default_slack_ns };
        let thread = SleepingThread { slack, is_real_time, is_nice: false, tier: 0 };
        let passed_on = self.passed_on(passes, requested, span, now);
        // The port doesn't call the system for a request that is rounded to zero.
        if passed_on <= Nanos::ZERO {
            return Some(Planned { requested: span, native: now + span, end: now });
        }
        let wait_from = |from: Nanos, span: Nanos| {
            wait.end(timing, grid, &thread, (from, span), (is_as_found, &self.random)).max(from)
        };
        let mut end = wait_from(now, passed_on);
        if let Some(counts) = passes.counts() {
            let shown = |at| due_by.map_or(at, |clock| clock.reading(at, interrupts));
            let (due, mut passed) = (passes.due(counts, span, now), counts.passed(shown(now), shown(end)));
            while passed < due {
                let from = end;
                end = wait_from(from, passes.again(due - passed));
                passed += counts.passed(shown(from), shown(end));
            }
        }
        Some(Planned { requested: span, native: now + span, end })
    }
}
