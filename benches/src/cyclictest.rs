//! The peer `cyclictest` of rt-tests: its options for equal conditions, and its output.
//!
//! Its defaults differ from those of the command, so these options make them equal:
//!
//! * `--default-system`: it otherwise holds `/dev/cpu_dma_latency` at 0, which the command doesn't. `-m` locks memory.
//!   Timer slack stays as found on both sides.
//! * `--mainaffinity`: it otherwise pins its main thread, which wakes up every 10 ms, to the CPU it measures on.
//! * `--nsecs`: its histogram otherwise counts whole microseconds, rounded down, which are steps of 7 % at 15 µs. A
//!   histogram of nanoseconds reaches to 1 ms, which is enough for p99.
//!
//! It skips a period that passed while it was away, so the command's missed deadlines are left out of the comparison.

use std::path::{Path, PathBuf};

use crate::lab::Conditions;
use crate::{Reason, pairs, program};

/// The reason if it isn't installed, with the next step.
pub const NOT_INSTALLED: &str = "cyclictest is not installed; install it, on Debian from package rt-tests";
/// Its longest histogram, in its unit.
const HISTOGRAM_MAX: u32 = 1_000_000;

/// Its path; `None` if it isn't installed.
pub fn find() -> Option<PathBuf> {
    program::find("cyclictest")
}

/// Its name and version: `cyclictest V 2.40`.
pub fn version(cyclictest: &Path) -> String {
    let help = program::output(cyclictest, &program::words("--help")).unwrap_or_default();
    help.lines().next().unwrap_or("cyclictest, version unknown").trim().to_owned()
}

/// Its options for these conditions.
fn under(conditions: &Conditions) -> Vec<String> {
    let mut arguments = program::words("--default-system --quiet --threads=1");
    arguments.push(format!("--affinity={}", conditions.cpu));
    if let Some(main_cpu) = conditions.main_cpu {
        arguments.push(format!("--mainaffinity={main_cpu}"));
    }
    if conditions.lock_memory {
        arguments.push("--mlockall".to_owned());
    }
    match conditions.fifo {
        Some(priority) => arguments.push(format!("--priority={priority}")),
        None => arguments.push("--policy=other".to_owned()),
    }
    arguments
}

/// Its options for this many cycles one interval apart, with a histogram in ns.
pub fn histogram_arguments(conditions: &Conditions, interval_us: u64, count: u64) -> Vec<String> {
    let mut arguments = under(conditions);
    arguments.push(format!("--interval={interval_us}"));
    arguments.push(format!("--loops={count}"));
    arguments.push("--nsecs".to_owned());
    arguments.push(format!("--histogram={HISTOGRAM_MAX}"));
    arguments
}

/// Its options for a duration at an interval, with a summary in one line.
pub fn rate_arguments(conditions: &Conditions, interval_us: u64, seconds: u64) -> Vec<String> {
    let mut arguments = under(conditions);
    arguments.push(format!("--interval={interval_us}"));
    arguments.push(format!("--duration={seconds}"));
    arguments
}

/// A histogram that it printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Value and count, ascending, filled buckets only.
    buckets: Vec<(i64, u64)>,
    /// Values beyond the last bucket.
    overflows: u64,
}

impl Histogram {
    /// Reads the histogram of one thread.
    ///
    /// # Errors
    /// A sentence that says what the text lacks.
    pub fn read(text: &str) -> Result<Histogram, Reason> {
        let mut histogram = Histogram::default();
        let mut has_overflows = false;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# Histogram Overflows:") {
                histogram.overflows =
                    rest.trim().parse().map_err(|_| format!("cyclictest's overflows are not a number: {rest}"))?;
                has_overflows = true;
            } else if !line.starts_with('#')
                && let Some((value, count)) = line.split_once(' ')
                && let (Ok(value), Ok(count)) = (value.parse(), count.trim().parse::<u64>())
                && count > 0
            {
                histogram.buckets.push((value, count));
            }
        }
        if !has_overflows || histogram.count() == 0 {
            return Err("cyclictest printed no histogram".to_owned());
        }
        Ok(histogram)
    }

    /// How many values it holds.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum::<u64>() + self.overflows
    }

    /// The smallest value that at least this fraction of all values doesn't exceed; `None` if it is beyond the last
    /// bucket.
    pub fn quantile(&self, share: f64) -> Option<i64> {
        let mut left = pairs::rank(self.count(), share)?;
        for &(value, count) in &self.buckets {
            if left <= count {
                return Some(value);
            }
            left -= count;
        }
        None
    }
}

/// The cycles in one thread's line `T: 0 (22292) P:80 I:1 C: 133354 Min: …`.
///
/// # Errors
/// A sentence if there is no such line.
pub fn cycles(text: &str) -> Result<u64, Reason> {
    let after = text.lines().find(|line| line.starts_with("T:")).and_then(|line| line.split_once(" C:"));
    let number = after.and_then(|(_, rest)| rest.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).ok_or_else(|| "cyclictest printed no cycles".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "# Histogram\n000000 000000\n000012 000003\n000014 000006\n000099 000000\n\
        # Total: 000000009\n# Min Latencies: 00012\n# Histogram Overflows: 00001\n\
        # Histogram Overflow at cycle number:\n# Thread 0: 00007\n\n";

    #[test]
    fn quantiles_count_overflows() {
        let histogram = Histogram::read(PRINTED).unwrap();
        assert_eq!(histogram.count(), 10);
        assert_eq!((histogram.quantile(0.3), histogram.quantile(0.31)), (Some(12), Some(14)));
        assert_eq!((histogram.quantile(0.9), histogram.quantile(0.99)), (Some(14), None));
    }

    #[test]
    fn text_without_a_histogram_is_refused() {
        for text in ["", "# Histogram\n000001 000000\n# Histogram Overflows: 00000\n", "000001 000002\n"] {
            assert!(Histogram::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cycles_are_read_with_and_without_spaces() {
        assert_eq!(cycles("\nT: 0 (22292) P:80 I:1 C: 133354 Min:     11 Act:   14\n"), Ok(133_354));
        assert_eq!(cycles("T: 0 (2) P: 0 I:1 C:1546988 Min: 1"), Ok(1_546_988));
        assert!(cycles("policy: fifo").is_err());
    }

    #[test]
    fn options_state_the_conditions() {
        let fifo = Conditions { cpu: 1, main_cpu: Some(0), fifo: Some(80), lock_memory: true };
        assert_eq!(
            histogram_arguments(&fifo, 1_000, 500).join(" "),
            "--default-system --quiet --threads=1 --affinity=1 --mainaffinity=0 --mlockall --priority=80 --interval=1000 --loops=500 \
             --nsecs --histogram=1000000"
        );
        let other = Conditions { cpu: 0, main_cpu: None, fifo: None, lock_memory: false };
        assert_eq!(
            rate_arguments(&other, 1, 2).join(" "),
            "--default-system --quiet --threads=1 --affinity=0 --policy=other --interval=1 --duration=2"
        );
    }
}
