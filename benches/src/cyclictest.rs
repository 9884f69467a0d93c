//! The peer `cyclictest` of rt-tests: its options for equal conditions, and its output.
//!
//! What it does unasked, and what we do about it: it holds `/dev/cpu_dma_latency` at 0 unless `--default-system` is
//! given, which it is, as the command leaves that device alone as well; it locks memory only with `-m`, and leaves
//! timer slack as found, as the command does. It pins its main thread, which wakes up every 10 ms, to the CPU it
//! measures on unless `--mainaffinity` names another, which it does; the command pins the measuring thread only. Its
//! histogram counts whole microseconds, rounded down, unless `-N` makes it nanoseconds: then up to 1 ms, which is
//! enough for p99 and avoids comparing figures of 15 us in steps of 7 %. A period that passed while it was away is
//! skipped; the command's calls are therefore compared without the deadlines it recorded as missed.

use std::path::{Path, PathBuf};

use crate::lab::Conditions;
use crate::{Reason, pairs, program};

/// What is said where it is not installed.
pub const NOT_INSTALLED: &str = "cyclictest is not installed (Debian package rt-tests)";
/// Its longest histogram, in its unit.
const HISTOGRAM_MAX: u32 = 1_000_000;

/// Where it stands; `None` where it isn't installed.
pub fn find() -> Option<PathBuf> {
    program::find("cyclictest")
}

/// What it calls itself: `cyclictest V 2.40`.
pub fn version(cyclictest: &Path) -> String {
    let help = program::output(cyclictest, &program::words("--help")).unwrap_or_default();
    help.lines().next().unwrap_or("cyclictest, version unknown").trim().to_owned()
}

/// Its options for such conditions.
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

/// Options for that many cycles one interval apart, told as a histogram in ns.
pub fn histogram_arguments(conditions: &Conditions, interval_us: u64, count: u64) -> Vec<String> {
    let mut arguments = under(conditions);
    arguments.push(format!("--interval={interval_us}"));
    arguments.push(format!("--loops={count}"));
    arguments.push("--nsecs".to_owned());
    arguments.push(format!("--histogram={HISTOGRAM_MAX}"));
    arguments
}

/// Options for that long at an interval, told in one line.
pub fn rate_arguments(conditions: &Conditions, interval_us: u64, seconds: u64) -> Vec<String> {
    let mut arguments = under(conditions);
    arguments.push(format!("--interval={interval_us}"));
    arguments.push(format!("--duration={seconds}"));
    arguments
}

/// A histogram as it prints one.
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
    /// What is missing in the text.
    pub fn read(text: &str) -> Result<Histogram, Reason> {
        let mut histogram = Histogram::default();
        let mut told_overflows = false;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# Histogram Overflows:") {
                histogram.overflows =
                    rest.trim().parse().map_err(|_| format!("cyclictest's overflows are no number: {rest}"))?;
                told_overflows = true;
            } else if !line.starts_with('#')
                && let Some((value, count)) = line.split_once(' ')
                && let (Ok(value), Ok(count)) = (value.parse(), count.trim().parse::<u64>())
                && count > 0
            {
                histogram.buckets.push((value, count));
            }
        }
        if !told_overflows || histogram.count() == 0 {
            return Err("cyclictest printed no histogram".to_owned());
        }
        Ok(histogram)
    }

    /// How many values.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum::<u64>() + self.overflows
    }

    /// The smallest value that at least that share of all doesn't exceed; `None` where it lies beyond the last bucket.
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

/// The cycles in the line `T: 0 (22292) P:80 I:1 C: 133354 Min: …` of one thread.
///
/// # Errors
/// That there is no such line.
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
    fn quantiles_count_what_overflowed() {
        let histogram = Histogram::read(PRINTED).unwrap();
        assert_eq!(histogram.count(), 10);
        assert_eq!((histogram.quantile(0.3), histogram.quantile(0.31)), (Some(12), Some(14)));
        assert_eq!((histogram.quantile(0.9), histogram.quantile(0.99)), (Some(14), None));
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        for text in ["", "# Histogram\n000001 000000\n# Histogram Overflows: 00000\n", "000001 000002\n"] {
            assert!(Histogram::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cycles_are_read_whether_the_figures_touch_or_not() {
        assert_eq!(cycles("\nT: 0 (22292) P:80 I:1 C: 133354 Min:     11 Act:   14\n"), Ok(133_354));
        assert_eq!(cycles("T: 0 (2) P: 0 I:1 C:1546988 Min: 1"), Ok(1_546_988));
        assert!(cycles("policy: fifo").is_err());
    }

    #[test]
    fn options_say_the_conditions() {
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
