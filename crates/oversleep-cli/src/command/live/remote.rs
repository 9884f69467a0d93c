//! Shows what another machine serves.

use std::thread;
use std::time::{Duration, Instant};

use oversleep_measure::StopFlag;
use oversleep_record::file::Completion;
use oversleep_record::{Nanos, ResultFile};
use oversleep_sampler::LateWait;
use oversleep_serve::client;

use super::lines::{Line, Second, Seen};
use super::view::{Shown, View};
use crate::exit::Failure;
use crate::message;

const SECOND: Duration = Duration::from_secs(1);

/// What a server knows now.
struct State {
    second: Second,
    late: Vec<LateWait>,
    /// How many samplers it has besides.
    others: usize,
}

/// Shows the server's state each second until the flag is raised or the time is over, and returns its result: the last hour.
/// Late waits are shown from `late_from` on.
///
/// # Errors
/// It doesn't answer at the beginning or at the end, or standard output can't be written.
pub fn follow(
    base: &str,
    stop: &StopFlag,
    time: Option<Nanos>,
    late_from: Option<Nanos>,
    shown: Shown,
) -> Result<ResultFile, Failure> {
    let first = state(base).map_err(Failure::failed)?;
    if first.others > 0 {
        let (wait, others) = (&first.second.wait, first.others);
        message::note(&format!("{wait} is the first of {} samplers there; the result has all of them", others + 1));
    }
    let mut newest = newest(&first);
    let mut view = View::new(shown);
    view.show(&[seen(&first, Vec::new())], true)?;
    let (began, time) = (Instant::now(), time.and_then(Nanos::to_std));
    let (mut second, mut failed) = (1, None);
    let mut ended_in_time = false;
    while !stop.is_raised() && !ended_in_time {
        let next = (SECOND * second).min(time.unwrap_or(Duration::MAX));
        thread::park_timeout(next.saturating_sub(began.elapsed()));
        ended_in_time = time.is_some_and(|time| began.elapsed() >= time);
        if stop.is_raised() || began.elapsed() < next {
            continue;
        }
        second = u32::try_from(began.elapsed().as_secs()).unwrap_or(u32::MAX).saturating_add(1);
        match state(base) {
            Ok(state) => {
                // A server that started again begins at zero.
                if state.second.count() < first.second.count() {
                    newest = None;
                }
                let is_fresh = |late: &&LateWait| newest.is_none_or(|newest| late.wait.end > newest);
                let is_late = |late: &&LateWait| late_from.is_none_or(|from| late.wait.lateness >= from);
                let late: Vec<LateWait> = state.late.iter().filter(is_fresh).filter(is_late).cloned().collect();
                newest = self::newest(&state).or(newest);
                view.show(&[seen(&state, late)], true)?;
                failed = None;
            }
            Err(why) if failed.as_ref() != Some(&why) => {
                view.clear();
                message::warning(&format!("{why}; trying again"));
                failed = Some(why);
            }
            Err(_) => {}
        }
    }
    view.clear();
    let bytes = client::get(base, "/result.json").map_err(Failure::failed)?;
    let mut file = ResultFile::read(&bytes).map_err(|error| Failure::failed(format!("{base}/result.json: {error}")))?;
    if stop.is_raised() && time.is_some() && !ended_in_time {
        file.completion = Completion::Interrupted;
    }
    Ok(file)
}

fn seen(state: &State, late: Vec<LateWait>) -> Seen {
    Seen { cpu: None, second: state.second.clone(), late, histogram: None }
}

fn newest(state: &State) -> Option<Nanos> {
    state.late.iter().map(|late| late.wait.end).max()
}

fn state(base: &str) -> Result<State, String> {
    let bytes = client::get(base, "/watch.jsonl")?;
    let unknown = |why: String| format!("{base} doesn't serve what `oversleep serve` does: {why}");
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let lines: Vec<Line> =
        lines.map(serde_json::from_slice).collect::<Result<_, _>>().map_err(|error| unknown(error.to_string()))?;
    let mut seconds = 0;
    let (mut first, mut late) = (None, Vec::new());
    for line in lines {
        match line {
            Line::Second(second) => {
                seconds += 1;
                first = first.or(Some(*second));
            }
            Line::Late(of) if seconds == 1 => late.push(LateWait::from(&of)),
            Line::Late(_) => {}
        }
    }
    let second = first.ok_or_else(|| unknown("it has no state".to_owned()))?;
    Ok(State { second, late, others: seconds - 1 })
}
