//! Waits whose end follows from arithmetic, and from one draw at most. Code inside a program can compute those itself. This
//! module has only the figures: the rules are the machine's (`Plan::end`), and a test checks the injected code against them.

use oversleep_model::sim::{Overshoot, TickBase, WaitModel};
use oversleep_record::Nanos;
use oversleep_system::SlackRule;
use oversleep_system::runtime_calls::Rule;

use super::{Plan, StandsFor};

/// The figures of a wait: how its span is rounded, and where it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedForm {
    /// The unit that a span is rounded down to, at least one; 0 if it isn't rounded.
    pub floor: Nanos,
    /// The call's own unit.
    pub step: Nanos,
    /// Whether the call rounds up to its unit.
    pub rounds_up: bool,
    /// The shortest span that the call waits for.
    pub least: Nanos,
    /// The shortest wait of the machine.
    pub shortest: Nanos,
    /// The machine's unit, which it rounds up to.
    pub unit: Nanos,
    /// Where it ends.
    pub ends: Ends,
}

/// Where a wait ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ends {
    /// At a tick.
    AtTick {
        /// Whether it counts from the tick before the call.
        is_from_last_tick: bool,
        /// How much too early a tick may come and still end the wait.
        margin: Nanos,
        /// The share of waits that such a tick doesn't end.
        p_not: f64,
    },
    /// By a timer of its own.
    ByTimer(ByTimer),
}

/// A timer that ignores the tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByTimer {
    /// It ends on multiples of this.
    pub grid: Nanos,
    /// The longest span whose timer keeps to the grid of others.
    pub aligned_max: Nanos,
    /// The share of timers that end later than others.
    pub p_late: f64,
    /// By how much these do.
    pub late: Nanos,
    /// By how much every timer is late.
    pub slack: Nanos,
}

impl ByTimer {
    /// One that ends on multiples of that span.
    fn on_grid(grid: Nanos) -> ByTimer {
        ByTimer { grid, aligned_max: Nanos(i64::MAX), p_late: 0.0, late: Nanos::ZERO, slack: Nanos::ZERO }
    }
}

impl Plan {
    /// The figures of that wait; `None` if it was learned, or if its rule needs more than these.
    pub fn closed_form(&self, of: StandsFor<'_>) -> Option<ClosedForm> {
        let StandsFor { wait, passes, .. } = of;
        let floor = match passes.rounds {
            Rule::Exact => Nanos::ZERO,
            Rule::TruncatesToAtLeastOne => Nanos::from_millis(1),
            _ => return None,
        };
        if of.may_hold() || !passes.is_unlimited() || passes.counts().is_some() {
            return None;
        }
        let granularity = wait.info.granularity;
        let least =
            if !granularity.rounds_up && granularity.is_a_step_at_least { granularity.step } else { Nanos::ZERO };
        Some(ClosedForm {
            floor,
            step: granularity.step,
            rounds_up: granularity.rounds_up,
            least,
            shortest: wait.shortest_ns,
            unit: wait.unit_ns,
            ends: self.ends(wait)?,
        })
    }

    fn ends(&self, wait: &WaitModel) -> Option<Ends> {
        let timing = &self.machine.timing;
        if matches!(wait.overshoot, Overshoot::Learned(_)) {
            return None;
        }
        if wait.grid_ns > Nanos::ZERO && wait.info.slack != SlackRule::Tick {
            return Some(Ends::ByTimer(ByTimer::on_grid(wait.grid_ns)));
        }
        if let Some(tick) = timing.tick.as_ref().filter(|_| self.ends_at_tick(wait)) {
            return (wait.tolerance_ns == Nanos::ZERO).then_some(Ends::AtTick {
                is_from_last_tick: tick.base == TickBase::LastTick,
                margin: tick.margin_ns,
                p_not: tick.p_two_tick,
            });
        }
        let one_shot = &timing.one_shot;
        let is_one_shot = match wait.info.slack {
            SlackRule::None | SlackRule::NoTimer | SlackRule::OfItsWaits | SlackRule::TimerResolution => true,
            SlackRule::Tick => timing.wheel_ns <= Nanos(1),
            _ => false,
        };
        is_one_shot.then_some(Ends::ByTimer(ByTimer {
            aligned_max: Some(one_shot.aligned_max_ns).filter(|&max| max > Nanos::ZERO).unwrap_or(Nanos(i64::MAX)),
            p_late: one_shot.p_late,
            late: if one_shot.grid_ns > Nanos(1) { one_shot.grid_ns } else { Nanos::ZERO },
            slack: one_shot.slack_ns,
            ..ByTimer::on_grid(if one_shot.ends_when_due { Nanos(1) } else { one_shot.grid_ns })
        }))
    }
}
