//! The command line of cyclictest, as far as it says what was measured.
//! <https://git.kernel.org/pub/scm/utils/rt-tests/rt-tests.git/tree/src/cyclictest/cyclictest.c>

use oversleep_record::Nanos;
use oversleep_record::environment::FactValue;
use oversleep_record::fact::FactName;

use crate::draft::Draft;

/// The interval of the first thread, unless stated.
const INTERVAL_US: i64 = 1_000;
/// By how much each further thread's interval is longer, unless stated.
const DISTANCE_US: i64 = 500;

/// What the options say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether the file has a command line.
    pub is_stated: bool,
    pub interval_us: Option<i64>,
    distance_us: Option<i64>,
    pub priority: i64,
    policy: Option<String>,
    /// The number of microseconds that its histograms have.
    pub histogram: Option<i64>,
    is_relative: bool,
    is_posix_timer: bool,
    is_nanosleep: bool,
    is_real_time_clock: bool,
    locks_memory: bool,
}

impl Options {
    /// Of a file without a command line.
    pub fn unstated() -> Options {
        Options::default()
    }

    /// `cyclictest -q -m -p 80 -t 2 -i 1000 -h 400`
    pub fn of(line: &str) -> Options {
        let mut options = Options { is_stated: true, interval_us: Some(INTERVAL_US), ..Options::default() };
        let mut words = line.split_whitespace().skip(1).peekable();
        while let Some(word) = words.next() {
            let (name, joined) = match word.strip_prefix("--") {
                Some(long) => long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value))),
                None => match word.strip_prefix('-').filter(|rest| rest.is_char_boundary(1) && !rest.is_empty()) {
                    Some(short) => (&short[..1], Some(&short[1..]).filter(|rest| !rest.is_empty())),
                    None => continue,
                },
            };
            // Flags may stand together: `-qm`.
            if joined.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_alphabetic())) && !word.starts_with("--")
            {
                word[1..]
                    .char_indices()
                    .for_each(|(at, letter)| options.flag(&word[1 + at..1 + at + letter.len_utf8()]));
                continue;
            }
            let value = joined.or_else(|| words.peek().copied().filter(|next| !next.starts_with('-')));
            options.flag(name);
            if let Some(value) = value {
                options.set(name, value);
            }
        }
        options
    }

    fn flag(&mut self, name: &str) {
        match name {
            "r" | "relative" => self.is_relative = true,
            "x" | "posix_timers" => self.is_posix_timer = true,
            "s" | "system" => self.is_nanosleep = true,
            "m" | "mlockall" => self.locks_memory = true,
            _ => {}
        }
    }

    fn set(&mut self, name: &str, value: &str) {
        let number = value.parse::<i64>().ok();
        match name {
            "i" | "interval" => self.interval_us = number,
            "d" | "distance" => self.distance_us = number,
            "p" | "prio" | "priority" => self.priority = number.unwrap_or(0),
            "policy" => self.policy = Some(value.to_owned()),
            "h" | "histogram" | "H" | "histofall" => self.histogram = number,
            "c" | "clock" => self.is_real_time_clock = number == Some(1),
            _ => {}
        }
    }

    /// By how much each further thread's interval is longer: with histograms, not at all.
    pub fn distance_us(&self) -> i64 {
        if self.histogram.is_some() || !self.is_stated { 0 } else { self.distance_us.unwrap_or(DISTANCE_US) }
    }

    /// Whether the next wait begins when the last one ended.
    pub fn is_relative(&self) -> bool {
        self.is_relative || self.is_nanosleep
    }

    /// The wait, by the name that oversleep's own results have.
    pub fn subject(&self) -> &'static str {
        match (self.is_posix_timer, self.is_nanosleep, self.is_relative) {
            (true, ..) => "timer-create",
            (_, true, _) => "nanosleep",
            (_, _, true) => "clock-nanosleep",
            _ => "clock-nanosleep-abs",
        }
    }

    /// The clock of its timestamps likewise.
    pub fn clock(&self) -> &'static str {
        if self.is_real_time_clock { "realtime" } else { "monotonic" }
    }

    /// Adds the facts that follow.
    pub fn state(&self, draft: &mut Draft) {
        const PLACE: &str = "its options";
        let policy = self.policy.as_deref().or((self.priority > 0).then_some("fifo"));
        if let Some(policy) = policy {
            let policy = policy.trim_start_matches("SCHED_").to_ascii_lowercase();
            if matches!(policy.as_str(), "fifo" | "rr") {
                // https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html
                draft.fact(FactName::TimerSlack, FactValue::Nanos(Nanos(0)), "real-time threads have no timer slack");
            }
            draft.fact(FactName::SchedPolicy, FactValue::Text(policy), PLACE);
        } else if self.is_stated {
            draft.fact(FactName::SchedPolicy, FactValue::Text("other".to_owned()), PLACE);
        }
        if self.is_stated && !self.locks_memory {
            draft.note("Memory wasn't locked (-m), so a page fault may be among its values.");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_every_form() {
        for line in [
            "cyclictest -q -m -p 80 -t 2 -i 1000 -D 4 -h 400 --json=cyclictest.json",
            "cyclictest -qm -p80 -t2 -i1000 -D4 -h400",
            "cyclictest --quiet --mlockall --priority=80 --interval=1000 --histogram=400",
        ] {
            let options = Options::of(line);
            assert_eq!(
                (options.interval_us, options.priority, options.histogram),
                (Some(1_000), 80, Some(400)),
                "{line}"
            );
            assert!(options.locks_memory && options.distance_us() == 0, "{line}");
            assert_eq!(options.subject(), "clock-nanosleep-abs");
        }
        assert_eq!(Options::of("cyclictest -t 4").distance_us(), 500);
        assert_eq!(Options::of("cyclictest -r").subject(), "clock-nanosleep");
        assert_eq!(Options::of("cyclictest -x -c 1").clock(), "realtime");
        assert_eq!(Options::of("cyclictest - -é -").subject(), "clock-nanosleep-abs");
    }
}
