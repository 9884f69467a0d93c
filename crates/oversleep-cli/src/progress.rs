//! The progress bar. The thread that waits for the rounds draws it: between them, and once a second during long ones.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use oversleep_measure::{Progress, RunningFigures, Step};
use oversleep_record::Nanos;
use oversleep_recordings::Source;

use crate::message;
use crate::safe;

/// A run with a longer estimate is announced.
const LONG: Nanos = Nanos::from_secs(3_600);
/// The drawing rate is limited, because there may be a hundred rounds per second.
const DRAWINGS_PER_SECOND: u8 = 10;

/// Shows the progress of a run.
pub struct Meter {
    bar: Option<ProgressBar>,
    is_wanted: bool,
    began: Instant,
    /// Whether the run takes real time; on a model only virtual time passes.
    is_real: bool,
    is_announced: bool,
}

impl Meter {
    /// A meter. If it `is_wanted`, it announces long runs, and is drawn if standard error is a terminal.
    pub fn new(is_wanted: bool, is_real: bool) -> Meter {
        let bar = (is_wanted && std::io::stderr().is_terminal()).then(|| {
            // The message is cut to the line: a line that wraps is drawn again and again.
            let style =
                ProgressStyle::with_template("{bar:10} {wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
            let target = ProgressDrawTarget::stderr_with_hz(DRAWINGS_PER_SECOND);
            ProgressBar::with_draw_target(Some(0), target).with_style(style)
        });
        Meter { bar, is_wanted, began: Instant::now(), is_real, is_announced: false }
    }

    /// Removes the bar.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Meter {
    /// What to say once of a run that takes this long.
    fn announcement(&mut self, total: Nanos) -> Option<String> {
        let is_due = self.is_wanted && self.is_real && total > LONG && !self.is_announced;
        self.is_announced |= is_due;
        is_due.then(|| {
            format!("this will take about {}; press Ctrl-C to end it and keep what was measured", in_words(total))
        })
    }
}

/// A file that takes long to read shows how far it is read, on a terminal.
const LARGE_BYTES: u64 = 64 << 20;
/// A recording is read once to learn what it has, and once more to understand it.
const PASSES: u64 = 2;

/// A recording that is read.
pub struct Reading<'a> {
    source: &'a dyn Source,
    bar: Option<ProgressBar>,
}

impl<'a> Reading<'a> {
    /// Of these bytes.
    pub fn new(source: &'a dyn Source) -> Reading<'a> {
        let bar = (source.size() >= LARGE_BYTES && std::io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("reading {bar:30} {percent} %, {eta} left")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let target = ProgressDrawTarget::stderr_with_hz(DRAWINGS_PER_SECOND);
            ProgressBar::with_draw_target(Some(PASSES * source.size()), target).with_style(style)
        });
        Reading { source, bar }
    }
}

impl Source for Reading<'_> {
    fn size(&self) -> u64 {
        self.source.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.source.read_at(at, into)?;
        // Some is read more often than that.
        self.bar.iter().for_each(|bar| bar.set_position((bar.position() + count as u64).min(PASSES * self.size())));
        Ok(count)
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

impl Progress for Meter {
    fn next(&mut self, step: &Step<'_>) {
        if step.done == Nanos::ZERO {
            // The trials are a second plan with a separate estimate.
            self.began = Instant::now();
        }
        if let Some(announcement) = self.announcement(step.total) {
            message::note(&announcement);
        }
        let Some(bar) = &self.bar else { return };
        bar.set_length(step.total.0.unsigned_abs());
        bar.set_message(match self.is_real {
            true => line(step, self.began.elapsed()),
            false => safe::line(step.label),
        });
        bar.set_position(step.done.0.unsigned_abs());
    }

    fn shows_figures(&self) -> bool {
        self.bar.is_some() && self.is_real
    }
}

/// What is being measured, its figures so far, and the time left.
fn line(step: &Step<'_>, elapsed: Duration) -> String {
    let figures = step.figures.map(|RunningFigures { min, newest, p99, max }| match p99 {
        Some(p99) => format!(" · min {min} now {newest} p99 {p99}"),
        None => format!(" · min {min} now {newest} max {max}"),
    });
    let left = remaining(step.done, step.total, elapsed).map(|left| format!(" · about {} left", in_words(left)));
    format!("{}{}{}", safe::line(step.label), figures.unwrap_or_default(), left.unwrap_or_default())
}

/// The time left: the estimate, corrected by its error so far.
fn remaining(done: Nanos, total: Nanos, elapsed: Duration) -> Option<Nanos> {
    let left = (total - done).0.max(0) as f64;
    if done <= Nanos::ZERO {
        return (left > 0.0).then_some(Nanos(left as i64));
    }
    let pace = (elapsed.as_nanos() as f64 / done.0 as f64).clamp(0.2, 20.0);
    Some(Nanos((left * pace) as i64))
}

/// A long duration in words: `40 s`, `12 min`, `3 h`, `11 days`.
fn in_words(span: Nanos) -> String {
    let seconds = span.as_secs_f64();
    match seconds {
        ..90.0 => format!("{} s", seconds.ceil()),
        ..5_400.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.0} h", seconds / 3_600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_durations_read_well() {
        for (span, words) in [
            (Nanos(1), "1 s"),
            (Nanos::from_secs(19), "19 s"),
            (Nanos::from_secs(720), "12 min"),
            (Nanos::from_secs(7_200), "2 h"),
            (Nanos::from_secs(1_000_000), "12 days"),
        ] {
            assert_eq!(in_words(span), words);
        }
    }

    #[test]
    fn a_long_run_is_announced_once_unless_it_is_quiet_or_modelled() {
        let announced = |is_wanted, is_real, total| Meter::new(is_wanted, is_real).announcement(total);
        let day = Nanos::from_secs(86_400);
        let text = "this will take about 24 h; press Ctrl-C to end it and keep what was measured";
        assert_eq!(announced(true, true, day).as_deref(), Some(text));
        for none in [announced(false, true, day), announced(true, false, day), announced(true, true, LONG)] {
            assert_eq!(none, None);
        }
        let mut meter = Meter::new(true, true);
        assert!(meter.announcement(day).is_some() && meter.announcement(day).is_none());
    }

    #[test]
    fn the_line_has_the_figures_and_the_time_left() {
        let figures =
            |p99| RunningFigures { min: Nanos(1_050_000), newest: Nanos(1_070_000), p99, max: Nanos(2_400_000) };
        let (done, total) = (Nanos::from_secs(2), Nanos::from_secs(14));
        let line =
            |done, figures| line(&Step { done, total, label: "nanosleep 1 ms", figures }, Duration::from_secs(2));
        for (done, figures, words) in [
            (
                done,
                Some(figures(Some(Nanos(1_120_000)))),
                "nanosleep 1 ms · min 1.05 ms now 1.07 ms p99 1.12 ms · about 12 s left",
            ),
            (done, Some(figures(None)), "nanosleep 1 ms · min 1.05 ms now 1.07 ms max 2.4 ms · about 12 s left"),
            (Nanos::ZERO, None, "nanosleep 1 ms · about 14 s left"),
        ] {
            assert_eq!(line(done, figures), words);
        }
    }

    #[test]
    fn the_estimate_learns_from_what_is_done() {
        let (second, ten) = (Nanos::from_secs(1), Nanos::from_secs(10));
        assert_eq!(remaining(Nanos::ZERO, ten, Duration::ZERO), Some(ten));
        assert_eq!(remaining(second, ten, Duration::from_secs(2)), Some(Nanos::from_secs(18)));
        assert_eq!(remaining(ten, ten, Duration::from_secs(10)), Some(Nanos::ZERO));
    }
}
