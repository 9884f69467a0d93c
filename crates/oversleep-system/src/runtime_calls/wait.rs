//! A runtime's call as a wait of a platform: it passes on what its record says, and holds what it holds.

use std::sync::{Arc, LazyLock};

use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, Unavailable};

use super::{HELD, HIGH_RESOLUTION, Passes, Record, Rule, find, known};
use crate::tunables::names::RESOLUTION;
use crate::waits;
use crate::{
    Clock, Family, Granularity, Platform, Restore, SharedPlatform, Takes, Target, Wait, WaitEnd, WaitInfo, Waiter,
    ZeroMeans,
};

/// One record as a wait.
pub struct CallWait {
    record: Record,
    info: WaitInfo,
}

static WAITS: LazyLock<Vec<CallWait>> = LazyLock::new(|| known::all().iter().cloned().map(CallWait::of).collect());

/// The wait of a runtime's call on that platform: by its name among waits, or as programmers write it, of the newest
/// version. A name of the platform's own waits never means a runtime's call.
pub fn wait<'a>(platform: &'a dyn Platform, name: &str) -> Option<&'a CallWait> {
    let own = platform.runtime_calls();
    let os = platform.id().os;
    let has_name = |one: &&CallWait| one.record.system == os && one.info.name == name;
    if let Some(found) = own.iter().chain(WAITS.iter()).find(has_name) {
        return Some(found);
    }
    let records: Vec<Record> = own.iter().map(|one| one.record.clone()).collect();
    let id = find(&records, &os, name, None).first()?.id.clone();
    own.iter().chain(WAITS.iter()).find(|one| one.record.id == id)
}

impl CallWait {
    /// The wait of a record.
    pub fn of(record: Record) -> CallWait {
        let record = known::with_all_names(record);
        let beneath = waits::of(&record.system).iter().find(|info| info.name == record.wait);
        // Descriptions have names of the program's lifetime. A record of a result is kept as long, which is some 100 bytes.
        let name: &'static str = record.wait_name().leak();
        let call: &'static str = format!("{} of {}", record.names[0], record.version_words()).leak();
        let granularity = match record.rounds {
            Rule::Exact => Granularity::NANOSECOND,
            Rule::RoundsUp
            | Rule::RoundsUpToGrid
            | Rule::RoundsUpAndOne
            | Rule::TruncatesAndOne
            | Rule::RoundsToNearestAtLeastOne => Granularity::MILLISECOND,
            Rule::TruncatesToAtLeastOne | Rule::TruncatesRest => Granularity::MILLISECOND_DOWN,
            Rule::Truncates | Rule::RoundsToNearest => {
                Granularity { is_a_step_at_least: false, ..Granularity::MILLISECOND_DOWN }
            }
        };
        let info = WaitInfo {
            name,
            call,
            doc: "A call of a language runtime, as a record translates it. The runtime is not run.",
            family: beneath.map_or(Family::Sleep, |info| info.family),
            slack: beneath.map_or(WaitInfo::BLANK.slack, |info| info.slack),
            takes: Takes::Span,
            granularity,
            zero: ZeroMeans::ReturnsAtOnce,
            ..WaitInfo::BLANK
        };
        CallWait { record, info }
    }

    /// Its record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// What it passes on, on that platform.
    pub fn passes(&self, platform: &SharedPlatform) -> Passes<'_> {
        self.record.passes(|name| is_there(platform, name))
    }

    /// How it refuses that request on that platform, if it does: `throws ArgumentOutOfRangeException`.
    pub fn refused(&self, platform: &SharedPlatform, requested: Nanos) -> Option<&str> {
        self.record.refuses(requested, self.passes(platform).wait != self.record.wait)
    }

    /// The clock by which it decides on that platform whether it waits again.
    pub fn due_by<'a>(&self, platform: &'a SharedPlatform) -> Option<&'a dyn Clock> {
        self.record.due_by(&**platform, self.passes(platform).wait != self.record.wait)
    }
}

/// Whether the platform has a wait of that name that works.
fn is_there(platform: &SharedPlatform, name: &str) -> bool {
    platform.wait(name).is_some_and(|wait| wait.open(platform).is_ok())
}

impl Wait for CallWait {
    fn info(&self) -> &WaitInfo {
        &self.info
    }

    fn refuses(&self, platform: &SharedPlatform, requested: Nanos) -> Option<String> {
        Some(format!("{} {}", self.record.names[0], self.refused(platform, requested)?))
    }

    fn open(&self, platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        let record = self.record.clone();
        let wait = self.passes(platform).wait.to_owned();
        let beneath = platform.wait(&wait).ok_or(Unavailable::NotOnThisPlatform)?.open(platform)?;
        let is_otherwise = wait != record.wait;
        let always = self.passes(platform).always_holds().then(|| platform.tunable(RESOLUTION)).flatten();
        let _held = always.and_then(|tunable| tunable.apply(&Setting::Nanos(HELD)).1);
        let due_clock = record.due_by(&**platform, is_otherwise).map(|clock| clock.info().name);
        let (platform, has_high_resolution) = (Arc::clone(platform), is_there(platform, HIGH_RESOLUTION));
        Ok(Box::new(CallWaiter { platform, record, is_otherwise, has_high_resolution, due_clock, beneath, _held }))
    }
}

struct CallWaiter {
    platform: SharedPlatform,
    record: Record,
    is_otherwise: bool,
    has_high_resolution: bool,
    /// Registry name of the clock by which it decides whether it waits again.
    due_clock: Option<&'static str>,
    beneath: Box<dyn Waiter>,
    /// What its library holds all the time.
    _held: Option<Box<dyn Restore>>,
}

impl Waiter for CallWaiter {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let passes = self.record.passes(|name| match name {
            HIGH_RESOLUTION => self.has_high_resolution,
            _ => !self.is_otherwise,
        });
        let now = target.deadline - target.remaining;
        let span = passes.span(target.remaining, now);
        // Runtimes don't call the system for a request that is rounded to zero.
        if span <= Nanos::ZERO {
            return WaitEnd::TimedOut;
        }
        let held = passes.holds(span).filter(|_| !passes.always_holds()).and_then(|period| {
            let tunable = self.platform.tunable(RESOLUTION)?;
            tunable.apply(&Setting::Nanos(period)).1
        });
        let due_by = self.due_clock.and_then(|clock| self.platform.clock(clock));
        let due = passes.due(self.record.counts, target.remaining, now);
        let hz = due_by.and_then(Clock::stated_frequency_hz).unwrap_or(1).max(1);
        let shown = || due_by.map(Clock::read);
        let (mut seen, mut at, mut passed) = (shown(), Nanos::ZERO, Nanos::ZERO);
        at += seen.map_or(Nanos::ZERO, |seen| of_second(seen, hz));
        let (mut left, mut from) = (span, now);
        let ended = loop {
            let ended = self.beneath.wait(Target { remaining: left, deadline: from + left });
            let read = shown();
            let after = at + read.zip(seen).map_or(Nanos::ZERO, |(read, seen)| between(seen, read, hz));
            passed += self.record.counts.passed(at, after);
            if due_by.is_none() || passed >= due || !matches!(ended, WaitEnd::TimedOut) {
                break ended;
            }
            (seen, at, left, from) = (read, after, passes.again(due - passed), self.platform.now());
        };
        drop(held);
        ended
    }
}

/// Where in its second a clock stands. A time of day since 1601 has more nanoseconds than [`Nanos`] holds.
fn of_second(count: u64, hz: u64) -> Nanos {
    let second = 1_000_000_000;
    Nanos(i64::try_from(i128::from(count) * second / i128::from(hz) % second).unwrap_or_default())
}

/// What passed between two reads of a clock. One that went back has begun again after its 32 bits.
fn between(earlier: u64, later: u64, hz: u64) -> Nanos {
    let counts = match later >= earlier {
        true => later - earlier,
        false => u64::from((later as u32).wrapping_sub(earlier as u32)),
    };
    Nanos(i64::try_from(i128::from(counts) * 1_000_000_000 / i128::from(hz)).unwrap_or(i64::MAX))
}
