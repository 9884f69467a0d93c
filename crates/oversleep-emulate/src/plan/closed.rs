//! Waits whose end follows from arithmetic alone: nothing is drawn at random, and nothing was learned. Code inside a
//! program can compute those itself. This module has only the figures: the rules are the machine's (`Plan::end`), and a
//! test checks the injected code against them.

use oversleep_model::sim::{Overshoot, TickBase, WaitModel};
use oversleep_record::Nanos;

use super::Plan;

/// The figures of a wait that ends at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Whether it counts from the tick before the call.
    pub is_from_last_tick: bool,
    /// How much too early a tick may come and still end the wait.
    pub margin: Nanos,
}

impl Plan {
    /// The figures of that wait; `None` if chance, a distribution or a rule other than the tick's decides.
    pub fn closed_form(&self, (wait, truncates): (&WaitModel, bool)) -> Option<ClosedForm> {
        let tick = self.machine.timing.tick.as_ref()?;
        let is_learned = matches!(wait.overshoot, Overshoot::Learned(_));
        let is_on_own_grid = wait.grid_ns > Nanos::ZERO;
        if is_learned
            || is_on_own_grid
            || !tick.ends_waits
            || !wait.info.ends_at_tick()
            || wait.tolerance_ns > Nanos::ZERO
        {
            return None;
        }
        let margin = match tick.p_two_tick {
            share if share >= 1.0 => Nanos::ZERO,
            share if share <= 0.0 => tick.margin_ns,
            _ => return None,
        };
        let granularity = wait.info.granularity;
        let least =
            if !granularity.rounds_up && granularity.is_a_step_at_least { granularity.step } else { Nanos::ZERO };
        Some(ClosedForm {
            floor: if truncates { Nanos::from_millis(1) } else { Nanos::ZERO },
            step: granularity.step,
            rounds_up: granularity.rounds_up,
            least,
            shortest: wait.shortest_ns,
            unit: wait.unit_ns,
            is_from_last_tick: tick.base == TickBase::LastTick,
            margin,
        })
    }
}
