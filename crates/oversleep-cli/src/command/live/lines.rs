//! What a sampler shows now: lines of JSON, here or from another machine, and what a table has.

use std::time::Duration;

use oversleep_record::date::Utc;
use oversleep_record::{Distribution, Nanos};
use oversleep_sampler::{Cause, Ended, Kind, LateWait, Sampler, Wait};
use serde::{Deserialize, Serialize};

use super::who::Account;

/// The time that the newest figure is about.
const NEWEST: Nanos = Nanos::from_millis(1_000);

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Line {
    /// The state in some second.
    Second(Box<Second>),
    /// A late wait.
    Late(Box<Late>),
}

/// The figures of the last ten seconds and since the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Second {
    pub at_s: u64,
    pub wait: String,
    /// The CPU that its sampler stays on.
    pub cpu: Option<u32>,
    pub requested_ns: Nanos,
    pub burst: Part,
    pub pause: Part,
    /// The largest lateness of the last second.
    pub max_last_1s_ns: Option<i64>,
    pub steal_ns: Option<Nanos>,
    pub cpu_pressure_ns: Option<Nanos>,
    pub throttled_ns: Option<Nanos>,
    pub suspended_ns: Option<Nanos>,
    /// How many waits ended too late.
    pub late: u64,
    /// What is too late; nothing is where none is named.
    pub late_from_ns: Option<Nanos>,
}

/// Those of one kind of wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub newest_ns: Option<Nanos>,
    pub last_10s: Figures,
    pub all: Figures,
}

/// What is known of a distribution. A quantile that too few values support isn't.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub count: u64,
    pub min_ns: Option<i64>,
    pub p50_ns: Option<i64>,
    pub p99_ns: Option<i64>,
    pub max_ns: Option<i64>,
}

impl Figures {
    fn of(values: &Distribution) -> Figures {
        Figures {
            count: values.count(),
            min_ns: values.min(),
            p50_ns: values.safe_quantile(0.5),
            p99_ns: values.safe_quantile(0.99),
            max_ns: values.max(),
        }
    }
}

impl Second {
    /// That of a sampler now.
    pub fn of(sampler: &Sampler, cpu: Option<u32>, now: Duration) -> Second {
        let (recent, sums) = (sampler.recent(), sampler.sums());
        let part = |kind| Part {
            newest_ns: recent.newest(kind),
            last_10s: Figures::of(&recent.distribution(kind)),
            all: Figures::of(&sampler.tally(kind).lateness),
        };
        Second {
            at_s: now.as_secs(),
            wait: sampler.sampling().wait.clone(),
            cpu,
            requested_ns: sampler.sampling().requested,
            burst: part(Kind::Burst),
            pause: part(Kind::Pause),
            max_last_1s_ns: recent.largest_within(NEWEST),
            steal_ns: sums.steal,
            cpu_pressure_ns: sums.cpu_pressure,
            throttled_ns: sums.throttled,
            suspended_ns: sums.suspended,
            late: sampler.late_count(),
            late_from_ns: Some(sampler.sampling().late_from).filter(|from| *from < Nanos::MAX),
        }
    }

    /// How many waits have ended.
    pub fn count(&self) -> u64 {
        self.burst.all.count + self.pause.all.count
    }
}

/// What is known of one sampler now.
pub struct Seen {
    /// Its figures.
    pub second: Second,
    /// Late waits since the last time.
    pub late: Vec<Named>,
    /// How many were known at all when these were.
    pub late_seen: u64,
    /// The lateness of the short waits, where a histogram is shown.
    pub histogram: Option<Distribution>,
}

/// A late wait with what the kernel's events say of it.
#[derive(Clone, Debug)]
pub struct Named {
    /// The wait.
    pub wait: LateWait,
    /// What they say.
    pub kernel: Option<Account>,
}

impl Named {
    /// When it ended: by the clock on the wall, as logs have it, or else since sampling began.
    pub fn when(&self) -> String {
        let utc = self.wait.unix_s.and_then(Utc::of_unix);
        let clock = utc.map(|Utc { hour, minute, second, .. }| format!("{hour:02}:{minute:02}:{second:02}Z"));
        clock.unwrap_or_else(|| self.wait.wait.end.to_string())
    }
}

/// A late wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Late {
    /// Since sampling began.
    pub at_ns: Nanos,
    /// The same moment of the wall clock.
    #[serde(default)]
    unix_s: Option<i64>,
    wait: String,
    cpu: Option<u32>,
    /// `burst` or `pause`.
    kind: String,
    requested_ns: Nanos,
    lateness_ns: Nanos,
    /// Whether its deadline had passed before the call could be made.
    missed: bool,
    /// How many deadlines after it passed because of it.
    #[serde(default)]
    missed_after: u64,
    causes: Vec<CauseTime>,
    window_ns: Nanos,
    /// What the kernel's events say of it, where they were followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kernel: Option<Account>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CauseTime {
    cause: String,
    ns: Nanos,
}

const PAUSE: &str = "pause";

impl Late {
    /// That of a sampler on that CPU.
    pub fn of(late: &LateWait, wait: &str, cpu: Option<u32>) -> Late {
        let Wait { kind, requested, end, lateness, ended, .. } = late.wait;
        let cause = |(cause, ns): &(Cause, Nanos)| CauseTime { cause: cause.as_str().to_owned(), ns: *ns };
        Late {
            at_ns: end,
            unix_s: late.unix_s,
            wait: wait.to_owned(),
            cpu,
            kind: if kind == Kind::Pause { PAUSE } else { "burst" }.to_owned(),
            requested_ns: requested,
            lateness_ns: lateness,
            missed: ended == Ended::Missed,
            missed_after: late.missed_after,
            causes: late.causes.iter().map(cause).collect(),
            window_ns: late.window,
            kernel: None,
        }
    }

    /// With what the kernel's events say of it.
    pub fn with(self, kernel: Option<Account>) -> Late {
        Late { kernel, ..self }
    }

    /// As one that is shown here.
    pub fn named(&self) -> Named {
        Named { wait: LateWait::from(self), kernel: self.kernel.clone() }
    }
}

/// What another machine says is shown as what this one sees.
impl From<&Late> for LateWait {
    fn from(late: &Late) -> LateWait {
        let known = |of: &CauseTime| Some((Cause::ALL.into_iter().find(|cause| cause.as_str() == of.cause)?, of.ns));
        let wait = Wait {
            kind: if late.kind == PAUSE { Kind::Pause } else { Kind::Burst },
            requested: late.requested_ns,
            end: late.at_ns,
            lateness: late.lateness_ns,
            ended: if late.missed { Ended::Missed } else { Ended::TimedOut },
            run_delay: None,
        };
        let causes = late.causes.iter().filter_map(known).collect();
        let (missed_after, window, unix_s) = (late.missed_after, late.window_ns, late.unix_s);
        LateWait { wait, missed_after, causes, window, unix_s }
    }
}

impl Line {
    /// As JSON.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_wait_reads_back_as_it_was() {
        let wait = Wait {
            kind: Kind::Pause,
            requested: Nanos::from_millis(900),
            end: Nanos(5_000),
            lateness: Nanos::from_millis(3),
            ended: Ended::TimedOut,
            run_delay: None,
        };
        let causes = vec![(Cause::Throttled, Nanos(7)), (Cause::Preempted, Nanos(2))];
        let late = LateWait { wait, missed_after: 2, causes, window: Nanos(9), unix_s: Some(1_764_424_985) };
        let text = Line::Late(Box::new(Late::of(&late, "nanosleep", Some(3)))).text();
        assert!(
            text.starts_with(r#"{"event":"late","at_ns":5000,"unix_s":1764424985,"wait":"nanosleep","cpu":3,"#),
            "{text}"
        );
        let Ok(Line::Late(read)) = serde_json::from_str(&text) else { panic!("{text}") };
        assert_eq!(LateWait::from(&*read), late);
        let named = Named { wait: late, kernel: None };
        assert_eq!(named.when(), "14:03:05Z");
        let undated = LateWait { unix_s: None, ..named.wait };
        assert_eq!(Named { wait: undated, kernel: None }.when(), "5 µs");
    }
}
