//! Whether rules decide a row, or the machine: whether all machines with these rules have the same figure.

use super::judge::{self, figures_of, has, varied};
use super::{Kind, Observation};
use crate::ask::{Question, Subject, ask};

/// The largest difference between machines for a figure that rules decide, unless its source rounded it further.
const MOVES_MAX: f64 = 0.02;
/// Enough waits to distinguish the means of mixtures.
const WAITS: u64 = 200;

/// Decides what determines a row. Rules do if its figure stays within 2 %, or within its source's rounding, on machines
/// that obey the same rules and differ in their own properties: wake-ups that cost half or twice as much; near misses
/// of an interrupt, or late steps of a timer, that never or always happen; any of the published timers behind the
/// interrupt; and, where other interrupts end a wait within its leeway, none of these or many. The cost of a read or a
/// yield is always the machine's own. The published figures aren't used.
///
/// # Errors
/// What is wrong with the row or its machine.
pub fn decides(observation: &Observation) -> Result<Kind, String> {
    let question = observation.question()?;
    let request = match question.subject {
        Subject::Cost { .. } | Subject::Yield { .. } => return Ok(Kind::Cost),
        Subject::Wait { request, .. } => Some(request),
        Subject::Resolution => None,
        _ => return Ok(Kind::Rule),
    };
    let expect = observation.expect.as_ref().ok_or("it expects nothing")?;
    let question = Question { count: question.count.min(WAITS), ..question };
    let chances = |share: &str| chances_of(observation, share);
    let mut machines = vec![(1.0, Vec::new()), (0.5, Vec::new()), (2.0, Vec::new())];
    machines.extend([(1.0, chances("0")?), (1.0, chances("1")?)]);
    // Only Wine states that its tick ends no waits.
    if has(observation, "timers.timer-hz")? && !has(observation, "timers.tick-ends-waits")? {
        machines.extend(TIMERS.map(|timer| (1.0, timer.map(str::to_owned).to_vec())));
    }
    if has(observation, judge::OTHERS)? {
        machines.extend(["0", "5000"].map(|hz| (1.0, vec![format!("{}={hz}", judge::OTHERS)])));
    }
    let mut figures = Vec::new();
    for (times, changes) in machines {
        let answer = ask(&varied(observation, None, times, &changes)?, &question).map_err(|error| error.to_string())?;
        figures.push(expect.figures_of(&answer, request));
    }
    let (base, others) = figures.split_first().ok_or("it names no figure")?;
    let rounded = expect.rounded_by_ns();
    let is_near = |(one, other): (&f64, &f64)| (one - other).abs() <= rounded.max(MOVES_MAX * one.abs());
    let is_rule = others.iter().all(|other| base.iter().zip(other).all(is_near));
    Ok(if is_rule { Kind::Rule } else { Kind::Cost })
}

/// Timers behind the interrupt of machines with published grants: 24 MHz (djdallmann-timermicroadjust), 100 MHz and
/// exact ones (pc-tuning), and one that grants 0.5108 ms for 0.5 (trickybits-2024).
const TIMERS: [[&str; 2]; 4] = [
    ["timers.timer-hz=24000000", "timers.tick-shortest=500us"],
    ["timers.timer-hz=100000000", "timers.tick-shortest=500us"],
    ["timers.timer-hz=0", "timers.tick-shortest=500us"],
    ["timers.timer-hz=100000000", "timers.tick-shortest=510.8us"],
];

/// Changes that set each probability of the row's machine to this value.
fn chances_of(observation: &Observation, share: &str) -> Result<Vec<String>, String> {
    let is_chance = |path: &str| ["timers.p-two-tick", "timers.grid-p-late"].contains(&path);
    let figures = figures_of(observation)?.figures;
    let paths = figures.iter().map(|figure| figure.path.as_str()).filter(|path| is_chance(path));
    Ok(paths.map(|path| format!("{path}={share}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::observations;

    #[test]
    fn the_kind_of_each_row_is_what_decides_it() {
        let mut wrong = Vec::new();
        for observation in observations().expect("the files are well-formed") {
            if observation.ask.is_some() {
                let decided = decides(&observation).unwrap_or_else(|error| panic!("{}: {error}", observation.id));
                if observation.kind != Some(decided) {
                    wrong.push(format!("{} {}", observation.id, decided.id()));
                }
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    }
}
