//! Samples in a thread of its own, while this one shows what happens, until Ctrl-C or for the time that was given.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use oversleep_lab::live::Live;
use oversleep_measure::StopFlag;
use oversleep_record::file::Completion;
use oversleep_record::{Nanos, ResultFile};
use oversleep_sampler::{Ended, Kind};

use super::lines::{Named, Second, Seen};
use super::threads::{self, Threads};
use super::view::{Shown, View};
use super::who::Witness;
use crate::exit::Failure;

/// How often late waits are looked for.
const LOOK: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);
/// How long a late wait may wait for its events: they are read some milliseconds after it.
const EVENTS_WITHIN: Nanos = Nanos::from_millis(500);

/// Samples until the flag is raised, the time is over or a late wait breaks it, and returns the result. Late waits are shown
/// with what the witness knows of them.
///
/// # Errors
/// The wait can't be used here, or standard output can't be written.
pub fn sample(
    lives: &[Arc<Live>],
    stop: &StopFlag,
    time: Option<Nanos>,
    shown: Shown,
    witness: &mut Option<Witness>,
) -> Result<ResultFile, Failure> {
    let threads = Threads::start(lives)?;
    let mut view = View::new(shown);
    let (began, time) = (Instant::now(), time.and_then(Nanos::to_std));
    let mut ended_in_time = false;
    let mut second = 1;
    let mut failed = None;
    while !threads.is_any_over() && !stop.is_raised() && !view.is_over() && failed.is_none() {
        let now = began.elapsed();
        ended_in_time = time.is_some_and(|time| now >= time);
        if ended_in_time {
            break;
        }
        let is_due = now >= SECOND * second;
        second += u32::from(is_due);
        witness.iter_mut().for_each(|witness| witness.look(false));
        failed = look(&mut view, lives, (is_due, false), now, witness.as_ref()).and_then(|()| view.obey_keys()).err();
        thread::park_timeout(LOOK.min(time.map_or(LOOK, |time| time.saturating_sub(now))));
    }
    let is_interrupted = stop.is_raised();
    if is_interrupted {
        // What was said to the signal stands below the table.
        view.leave();
    }
    threads.end(stop)?;
    view.resume()?;
    // However long this thread was kept from looking, a second that passed has its line.
    let now = began.elapsed();
    witness.iter_mut().for_each(|witness| witness.look(true));
    let last = look(&mut view, lives, (now >= SECOND * second, true), now, witness.as_ref()).err();
    view.leave();
    failed.or(last).map_or(Ok(()), Err)?;
    let mut file = Live::result_of(lives.iter().map(AsRef::as_ref));
    // Where nothing else ends it, Ctrl-C is its regular end.
    if is_interrupted && time.is_some() && !ended_in_time {
        file.completion = Completion::Interrupted;
    }
    Ok(file)
}

fn look(
    view: &mut View,
    lives: &[Arc<Live>],
    (is_due, is_last): (bool, bool),
    now: Duration,
    witness: Option<&Witness>,
) -> Result<(), Failure> {
    let has_late = |(place, live): (usize, &Arc<Live>)| live.sampler().stop_count() > view.late_seen(place);
    // Figures are only drawn up where they are shown: looks are frequent.
    if !is_due && !lives.iter().enumerate().any(has_late) {
        return Ok(());
    }
    let seen = |(place, live): (usize, &Arc<Live>)| {
        let sampler = live.sampler();
        let mut left = sampler.late_after(view.late_seen(place)).peekable();
        let mut late = Vec::new();
        while let Some(wait) = left.peek() {
            let (end, lateness) = (wait.wait.end, wait.wait.lateness);
            let account = |of: &Witness| of.account(&threads::name(live.cpu()), live.on_clock(end), lateness);
            let kernel = witness.filter(|_| wait.wait.ended != Ended::Missed).and_then(account);
            let may_come = witness.is_some() && !is_last && live.since(end) < EVENTS_WITHIN;
            if kernel.is_none() && may_come && wait.wait.ended != Ended::Missed {
                break;
            }
            late.push(Named { wait: (*wait).clone(), kernel });
            left.next();
        }
        let late_seen = sampler.stop_count() - left.count() as u64;
        let histogram = view.has_histogram().then(|| sampler.tally(Kind::Burst).lateness.clone());
        Seen { second: Second::of(&sampler, live.cpu(), now), late, late_seen, histogram }
    };
    let seen: Vec<Seen> = lives.iter().enumerate().map(seen).collect();
    view.show(&seen, is_due)
}
