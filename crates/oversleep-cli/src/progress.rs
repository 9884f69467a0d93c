//! The progress bar. The thread that waits for the rounds draws it between them, so nothing ticks during a measurement.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use oversleep_measure::Progress;
use oversleep_record::Nanos;

use crate::message;
use crate::safe;

/// A run with a longer estimate is announced.
const LONG: Nanos = Nanos::from_secs(3_600);
/// The drawing rate is limited, because there may be a hundred rounds per second.
const DRAWINGS_PER_SECOND: u8 = 10;

/// Shows the progress of a run.
pub struct Meter {
    bar: Option<ProgressBar>,
    began: Instant,
    total: Nanos,
    /// Whether the run takes real time; on a model only virtual time passes.
    is_real: bool,
    warned: bool,
}

impl Meter {
    /// A meter, drawn if it is `wanted` and standard error is a terminal.
    pub fn new(wanted: bool, is_real: bool) -> Meter {
        let bar = (wanted && std::io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{bar:30} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
            let target = ProgressDrawTarget::stderr_with_hz(DRAWINGS_PER_SECOND);
            ProgressBar::with_draw_target(Some(0), target).with_style(style)
        });
        Meter { bar, began: Instant::now(), total: Nanos::ZERO, is_real, warned: false }
    }

    /// Removes the bar.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Meter {
    fn next(&mut self, done: Nanos, total: Nanos, label: &str) {
        if done == Nanos::ZERO {
            // The trials are a second plan with a separate estimate.
            self.began = Instant::now();
            self.total = total;
        }
        if total > LONG && self.is_real && !self.warned {
            self.warned = true;
            message::warning(&format!(
                "this will take about {}; press Ctrl-C to end it and keep what was measured",
                in_words(total)
            ));
        }
        let Some(bar) = &self.bar else { return };
        let label = safe::line(label);
        bar.set_length(total.0.unsigned_abs());
        bar.set_message(match remaining(done, total, self.began.elapsed()) {
            _ if !self.is_real => label,
            Some(left) => format!("{label} · about {} left", in_words(left)),
            None => label,
        });
        bar.set_position(done.0.unsigned_abs());
    }
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
    fn the_estimate_learns_from_what_is_done() {
        let (second, ten) = (Nanos::from_secs(1), Nanos::from_secs(10));
        assert_eq!(remaining(Nanos::ZERO, ten, Duration::ZERO), Some(ten));
        assert_eq!(remaining(second, ten, Duration::from_secs(2)), Some(Nanos::from_secs(18)));
        assert_eq!(remaining(ten, ten, Duration::from_secs(10)), Some(Nanos::ZERO));
    }
}
