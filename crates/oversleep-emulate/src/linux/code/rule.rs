//! What a site has besides its stub, as the injected code reads it; must match `rule.s` and `sites.s`.

use super::trampoline::Entry;
use crate::plan::{ByTimer, ClosedForm, Ends};

/// Where a site has the address of the call that stops, that of the head of its region, and its rules for spans and for
/// deadlines.
pub const SLOW: usize = 0x40;
pub const HEAD: usize = 0x48;
pub const SPAN: usize = 0x60;
pub const DEADLINE: usize = 0xf0;
/// The length of a site.
pub const SITE: u64 = 0x180;

/// Where a rule has the addresses of its counter and of its entry, and which sleep that is.
pub const COUNTER: usize = 96;
pub const ENTRY: usize = 104;
pub const SLEEPS: usize = 120;

/// The one of 256 waits that still stops, and a number that none has.
pub const SAMPLED: i64 = 255;
pub const NO_SAMPLE: i64 = 256;

/// The kinds of rules.
const AT_TICK: i64 = 0;
const FROM_LAST_TICK: i64 = 1;
const BY_TIMER: i64 = 2;

/// What the waits of a rule lead to.
#[derive(Clone, Copy)]
pub struct Target {
    /// The addresses of their counter and of the code that waits.
    pub counter: u64,
    pub entry: u64,
    /// The number that the code takes.
    pub number: i64,
    /// Which of the waits still stops.
    pub sample: i64,
}

/// Which sleep an entry is; 0 for every other wait.
fn sleep(entry: Entry) -> i64 {
    match entry {
        Entry::Nanosleep => 1,
        Entry::ClockNanosleep => 2,
        _ => 0,
    }
}

/// A rule.
pub fn rule(form: &ClosedForm, entry: Entry, target: Target) -> Vec<u8> {
    let rest = [target.counter as i64, target.entry as i64, target.number, sleep(entry), target.sample, 1];
    figures(form).iter().chain(&rest).flat_map(|word| word.to_le_bytes()).collect()
}

/// The figures of a rule.
pub fn figures(form: &ClosedForm) -> [i64; COUNTER / 8] {
    let (kind, p, rest) = match form.ends {
        Ends::AtTick { is_from_last_tick, margin, p_not } => {
            (if is_from_last_tick { FROM_LAST_TICK } else { AT_TICK }, p_not, [margin.0, 0, 0, 0])
        }
        Ends::ByTimer(ByTimer { grid, aligned_max, p_late, late, slack }) => {
            (BY_TIMER, p_late, [grid.0, aligned_max.0, late.0, slack.0])
        }
    };
    // Of all numbers of 64 bits, that share is below it.
    let chance = (p * 2_f64.powi(64)) as u64 as i64;
    let ClosedForm { floor, step, rounds_up, least, shortest, unit, .. } = form;
    let [a, b, c, d] = rest;
    [floor.0, step.0, i64::from(*rounds_up), least.0, shortest.0, unit.0, kind, chance, a, b, c, d]
}
