//! Shows what another machine serves.

use std::thread;
use std::time::{Duration, Instant};

use oversleep_measure::StopFlag;
use oversleep_record::file::Completion;
use oversleep_record::{Nanos, ResultFile};
use oversleep_serve::client;

use super::lines::{Line, Named, Second, Seen};
use super::view::{Shown, View};
use crate::exit::Failure;
use crate::message;

/// How often keys are looked for.
const LOOK: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);
/// How often the result is fetched meanwhile.
const KEPT_EVERY: Duration = Duration::from_secs(60);

/// What a server knows now.
struct State {
    second: Second,
    late: Vec<Named>,
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
    let base = client::base(base);
    let next = "start `oversleep serve` there, or the tunnel to it";
    let first = state(base).map_err(|why| Failure::failed(format!("{why}; {next}")))?;
    if first.others > 0 {
        let (wait, others) = (&first.second.wait, first.others);
        message::note(&format!("{wait} is the first of {} samplers there; the result has all of them", others + 1));
    }
    let least = first.second.late_from_ns.unwrap_or(Nanos::MAX);
    if late_from.is_some_and(|from| from < least) {
        return Err(Failure::usage(format!(
            "that machine names waits that end {least} late or more; --late takes more"
        )));
    }
    let mut known = Known { newest: newest(&first), count: first.second.count() };
    // Where the server is away at the end, what it had a minute before is kept.
    let mut kept = result(base).map_err(Failure::failed)?;
    let mut view = View::new(shown);
    view.show(&[seen(&first, Vec::new())], true)?;
    let (began, time) = (Instant::now(), time.and_then(Nanos::to_std));
    let (mut second, mut failed) = (1, None);
    let (mut ended_in_time, mut kept_at) = (false, 1);
    while !stop.is_raised() && !view.is_over() && !ended_in_time {
        let next = (SECOND * second).min(time.unwrap_or(Duration::MAX));
        view.obey_keys()?;
        thread::park_timeout(LOOK.min(next.saturating_sub(began.elapsed())));
        ended_in_time = time.is_some_and(|time| began.elapsed() >= time);
        if stop.is_raised() || began.elapsed() < next {
            continue;
        }
        second = u32::try_from(began.elapsed().as_secs()).unwrap_or(u32::MAX).saturating_add(1);
        match state(base) {
            Ok(state) => {
                let late = known.fresh(&state, late_from);
                view.show(&[seen(&state, late)], true)?;
                failed = None;
                if began.elapsed() >= KEPT_EVERY * kept_at {
                    kept_at += 1;
                    kept = result(base).unwrap_or(kept);
                }
            }
            Err(why) if failed.as_ref() != Some(&why) => {
                view.warn(&format!("{why}; trying again"));
                failed = Some(why);
            }
            Err(_) => {}
        }
    }
    view.resume()?;
    view.leave();
    let mut file = result(base).unwrap_or_else(|why| {
        message::warning(&format!("{why}; the result is that of a minute before at most"));
        kept
    });
    if stop.is_raised() && time.is_some() && !ended_in_time {
        file.completion = Completion::Interrupted;
    }
    Ok(file)
}

/// What was known of the server when it last answered.
struct Known {
    /// The end of the newest late wait.
    newest: Option<Nanos>,
    count: u64,
}

impl Known {
    /// The late waits since then. A server that started again begins at zero.
    fn fresh(&mut self, state: &State, late_from: Option<Nanos>) -> Vec<Named> {
        if state.second.count() < self.count {
            self.newest = None;
        }
        let before = self.newest;
        let is_fresh = |late: &&Named| before.is_none_or(|before| late.wait.wait.end > before);
        let is_late = |late: &&Named| late_from.is_none_or(|from| late.wait.wait.lateness >= from);
        let late = state.late.iter().filter(is_fresh).filter(is_late).cloned().collect();
        self.count = state.second.count();
        self.newest = newest(state).or(before);
        late
    }
}

fn result(base: &str) -> Result<ResultFile, String> {
    let bytes = client::get(base, "/result.json")?;
    ResultFile::read(&bytes).map_err(|error| format!("{base}/result.json: {error}"))
}

fn seen(state: &State, late: Vec<Named>) -> Seen {
    Seen { second: state.second.clone(), late, late_seen: state.second.late, histogram: None }
}

fn newest(state: &State) -> Option<Nanos> {
    state.late.iter().map(|late| late.wait.wait.end).max()
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
            Line::Late(of) if seconds == 1 => late.push(of.named()),
            Line::Late(_) => {}
        }
    }
    let second = first.ok_or_else(|| unknown("it has no state".to_owned()))?;
    Ok(State { second, late, others: seconds - 1 })
}

#[cfg(test)]
mod tests {
    use oversleep_sampler::{Burst, Ended, Kind, MachineState, Sampler, Sampling, Wait};
    use oversleep_system::CounterReading;

    use super::*;

    /// A server that has seen waits which ended then, each 2 ms late.
    fn server(ends_ms: &[i64]) -> State {
        let mut sampler = Sampler::new(Sampling::of("nanosleep"), CounterReading::default(), MachineState::default());
        let ms = Nanos::from_millis;
        let wait = |end: &i64| Wait {
            kind: Kind::Burst,
            requested: ms(1),
            end: ms(*end),
            lateness: ms(2),
            ended: Ended::TimedOut,
            run_delay: None,
        };
        let waits = ends_ms.iter().map(wait).collect();
        sampler.add(&Burst { waits, after: CounterReading::default(), unix_s: Some(1_764_424_985) });
        let second = Second::of(&sampler, None, Duration::ZERO);
        let late = sampler.late_after(0).map(|wait| Named { wait: wait.clone(), kernel: None });
        State { second, late: late.collect(), others: 0 }
    }

    #[test]
    fn each_late_wait_is_shown_once_also_after_a_restart() {
        let first = server(&[10, 20, 30_000]);
        let mut known = Known { newest: newest(&first), count: first.second.count() };
        let mut fresh = |ends: &[i64]| known.fresh(&server(ends), None).len();
        assert_eq!((fresh(&[10, 20, 30_000]), fresh(&[10, 20, 30_000, 31_000])), (0, 1));
        // It started again: what it has seen since is new, once, although it was up for less time than before.
        assert_eq!((fresh(&[15]), fresh(&[15]), fresh(&[15, 16]), fresh(&[15, 16, 17])), (1, 0, 1, 1));
        assert_eq!(known.fresh(&server(&[15, 16, 17, 18]), Some(Nanos::from_millis(3))).len(), 0, "not late enough");
    }
}
