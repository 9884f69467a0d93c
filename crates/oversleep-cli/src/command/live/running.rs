//! Samples in a thread of its own, while this one shows what happens, until Ctrl-C or for the time that was given.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use oversleep_lab::live::Live;
use oversleep_measure::StopFlag;
use oversleep_record::file::Completion;
use oversleep_record::{Distribution, Nanos, ResultFile, Unavailable};
use oversleep_sampler::{Kind, LateWait, Sampler, Wait};
use serde_json::{Value, json};

use super::screen::Screen;
use super::table;
use crate::exit::Failure;
use crate::message;
use crate::output::stdout::{self, Reader};

/// How often late waits are looked for.
const LOOK: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);

/// What is shown meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Whether there is a table on the terminal.
    pub has_table: bool,
    /// Whether the table has a histogram.
    pub has_histogram: bool,
    /// Whether each second and each late wait is a line of JSON on standard output.
    pub has_json_lines: bool,
    /// Whether standard output is another document's, so that late waits are notes.
    pub is_stdout_taken: bool,
}

/// Samples until the flag is raised, the time is over or a late wait breaks it, and returns the result.
///
/// # Errors
/// The wait can't be used here, or standard output can't be written.
pub fn sample(live: &Arc<Live>, stop: &StopFlag, time: Option<Nanos>, shown: Shown) -> Result<ResultFile, Failure> {
    let sampling = Arc::clone(live);
    let main = thread::current();
    let sampler = thread::Builder::new().name("sampler".to_owned()).spawn(move || {
        let ended = sampling.run();
        main.unpark();
        ended
    });
    let sampler = sampler.map_err(|error| Failure::failed(format!("can't start a thread: {error}")))?;
    let mut view = View::new(shown);
    let (began, time) = (Instant::now(), time.and_then(Nanos::to_std));
    let mut ended_in_time = false;
    let mut second = 1;
    let mut failed = None;
    while !sampler.is_finished() && !stop.is_raised() && failed.is_none() {
        let now = began.elapsed();
        ended_in_time = time.is_some_and(|time| now >= time);
        if ended_in_time {
            break;
        }
        let is_due = now >= SECOND * second;
        second += u32::from(is_due);
        failed = view.look(&live.sampler(), is_due, now).err();
        thread::park_timeout(LOOK.min(time.map_or(LOOK, |time| time.saturating_sub(now))));
    }
    let is_interrupted = stop.is_raised();
    stop.raise();
    while !sampler.is_finished() {
        oversleep_native::end_waits();
        thread::park_timeout(Duration::from_millis(5));
    }
    let ended: Result<(), Unavailable> = sampler.join().map_err(|_| Failure::failed("the sampler panicked"))?;
    ended.map_err(|reason| Failure::failed(format!("nothing could be measured: {reason}")))?;
    // However long this thread was kept from looking, a second that passed has its line.
    let now = began.elapsed();
    let last = view.look(&live.sampler(), now >= SECOND * second, now).err();
    view.screen.clear();
    failed.or(last).map_or(Ok(()), Err)?;
    let mut file = live.result();
    // Where nothing else ends it, Ctrl-C is its regular end.
    if is_interrupted && time.is_some() && !ended_in_time {
        file.completion = Completion::Interrupted;
    }
    Ok(file)
}

/// What was shown so far.
struct View {
    shown: Shown,
    screen: Screen,
    late_seen: u64,
    late_by_second: Vec<Option<i64>>,
    counts: [u64; 2],
    is_reader_gone: bool,
}

impl View {
    fn new(shown: Shown) -> View {
        let screen = Screen::new(shown.has_table && !shown.has_json_lines);
        View { shown, screen, late_seen: 0, late_by_second: Vec::new(), counts: [0; 2], is_reader_gone: false }
    }

    fn look(&mut self, sampler: &Sampler, is_due: bool, now: Duration) -> Result<(), Failure> {
        let late: Vec<LateWait> = sampler.late_after(self.late_seen).cloned().collect();
        self.late_seen = sampler.late_count();
        if !late.is_empty() {
            self.screen.clear();
        }
        for late in &late {
            match self.shown.has_json_lines {
                true => self.line(&of_late(late).to_string())?,
                false => self.line(&format!("{:>10}  {late}", late.wait.end))?,
            }
        }
        if is_due && self.shown.has_json_lines {
            let line = of_second(sampler, now).to_string();
            self.line(&line)?;
        }
        if is_due {
            let counts = Kind::ALL.map(|kind| sampler.tally(kind).lateness.count());
            let fresh = counts.iter().sum::<u64>() - self.counts.iter().sum::<u64>();
            self.counts = counts;
            self.late_by_second.push(sampler.recent().largest_of(usize::try_from(fresh).unwrap_or(usize::MAX)));
        }
        if self.screen.is_shown() && (is_due || !late.is_empty()) {
            self.screen.draw(&table::table(sampler, &self.late_by_second, self.shown.has_histogram));
        }
        Ok(())
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        if self.is_reader_gone {
            return Ok(());
        }
        if self.shown.is_stdout_taken {
            message::note(line);
            return Ok(());
        }
        self.is_reader_gone = stdout::text(&format!("{line}\n"))? == Reader::Gone;
        Ok(())
    }
}

fn figures(values: &Distribution) -> Value {
    json!({
        "count": values.count(),
        "min_ns": values.min(),
        "p50_ns": values.safe_quantile(0.5),
        "p99_ns": values.safe_quantile(0.99),
        "max_ns": values.max(),
    })
}

/// A second: the figures of the last ten and since the start.
fn of_second(sampler: &Sampler, now: Duration) -> Value {
    let of = |kind| {
        let recent = sampler.recent().distribution(kind);
        json!({ "last_10s": figures(&recent), "all": figures(&sampler.tally(kind).lateness) })
    };
    let sums = sampler.sums();
    json!({
        "event": "second",
        "at_s": now.as_secs(),
        "burst": of(Kind::Burst),
        "pause": of(Kind::Pause),
        "steal_ns": sums.steal,
        "cpu_pressure_ns": sums.cpu_pressure,
        "throttled_ns": sums.throttled,
        "suspended_ns": sums.suspended,
        "late": sampler.late_count(),
    })
}

fn of_late(late: &LateWait) -> Value {
    let Wait { kind, requested, end, lateness, .. } = late.wait;
    let causes: Vec<Value> =
        late.causes.iter().map(|(cause, time)| json!({ "cause": cause.as_str(), "ns": time })).collect();
    json!({
        "event": "late",
        "at_ns": end,
        "wait": if kind == Kind::Pause { "pause" } else { "burst" },
        "requested_ns": requested,
        "lateness_ns": lateness,
        "causes": causes,
        "window_ns": late.window,
    })
}
