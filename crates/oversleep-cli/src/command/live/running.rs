//! Samples in a thread of its own, while this one shows what happens, until Ctrl-C or for the time that was given.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use oversleep_lab::live::Live;
use oversleep_measure::StopFlag;
use oversleep_record::file::Completion;
use oversleep_record::{Nanos, ResultFile};
use oversleep_sampler::{Kind, LateWait, Sampler};

use super::screen::Screen;
use super::threads::Threads;
use super::{lines, table};
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
    let threads = Threads::start(std::slice::from_ref(live))?;
    let mut view = View::new(shown);
    let (began, time) = (Instant::now(), time.and_then(Nanos::to_std));
    let mut ended_in_time = false;
    let mut second = 1;
    let mut failed = None;
    while !threads.is_any_over() && !stop.is_raised() && failed.is_none() {
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
    threads.end(stop)?;
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
                true => self.line(&lines::of_late(late).to_string())?,
                false => self.line(&format!("{:>10}  {late}", late.wait.end))?,
            }
        }
        if is_due && self.shown.has_json_lines {
            let line = lines::of_second(sampler, now).to_string();
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
