//! Which timer resolution was requested by whom, and which one the system had: a time line of changes.

use std::collections::BTreeMap;

use oversleep_record::Nanos;
use oversleep_record::change::Change;

/// The most entries that are kept; later ones are counted.
const ENTRIES_MAX: usize = 10_000;
/// The unit of a period, in ns.
const UNIT_NS: i64 = 100;
/// The longest period that a clock of a PC has. Who requests it requests nothing.
const COARSEST: u32 = 156_250;
/// The name of the granted resolution among the changes, as `resolution watch` calls it.
const RESOLUTION: &str = "resolution";
const NOTHING: &str = "requests nothing";

/// What a period belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Period {
    /// The request of a process.
    Process(u32),
    /// The request of the kernel and its drivers.
    Kernel,
    /// What the system has: the distance of its ticks.
    Tick,
}

#[derive(Clone, Debug)]
struct Entry {
    t: u64,
    of: Period,
    /// In units of 100 ns; 0 is no request.
    period: u32,
    /// It was so already when it was told.
    is_rundown: bool,
}

/// Collects what a recording tells of timer resolutions, in any order.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    entries: Vec<Entry>,
    beyond: u64,
    coarsest: Option<u32>,
}

impl Timeline {
    /// Adds what a record tells: of whom, how many units of 100 ns, and whether it was so before.
    pub fn add(&mut self, t: u64, of: Period, period: u32, is_rundown: bool) {
        if self.entries.len() >= ENTRIES_MAX {
            self.beyond += 1;
            return;
        }
        self.entries.push(Entry { t, of, period, is_rundown });
    }

    /// States the longest period of this system's clock.
    pub fn longest(&mut self, period: u32) {
        self.coarsest = Some(period).filter(|&period| period != 0);
    }

    /// The changes since `origin`, and how many aren't listed.
    pub fn changes(mut self, origin: u64, name: impl Fn(u32) -> Option<String>) -> (Vec<Change>, u64) {
        let coarsest = self.coarsest.unwrap_or(COARSEST);
        self.entries.sort_by_key(|entry| entry.t);
        // What was so before anything changed has been so since the beginning.
        let changed = self.entries.iter().find(|entry| !entry.is_rundown).map(|entry| entry.t);
        let mut seen: Vec<Period> = Vec::new();
        for entry in &mut self.entries {
            let is_first = !seen.contains(&entry.of);
            let is_before = changed.is_none_or(|t| entry.t <= t) || is_first && entry.of != Period::Tick;
            if entry.is_rundown && is_before {
                entry.t = origin;
            }
            if is_first {
                seen.push(entry.of);
            }
        }
        self.entries.sort_by_key(|entry| (entry.t, !entry.is_rundown));
        let is_told = self.entries.iter().any(|entry| entry.of == Period::Tick && !entry.is_rundown);
        let mut levels: BTreeMap<Period, u32> = BTreeMap::new();
        let mut changes = Vec::new();
        let mut tick: Option<String> = None;
        for entry in &self.entries {
            let period = if entry.of != Period::Tick && entry.period >= coarsest { 0 } else { entry.period };
            let at_ns = Nanos(i64::try_from(entry.t.saturating_sub(origin)).unwrap_or(i64::MAX));
            let before = levels.insert(entry.of, period);
            if before != Some(period) && entry.of != Period::Tick {
                let what = match entry.of {
                    Period::Process(pid) => {
                        name(pid).map_or(format!("process {pid}"), |name| format!("{name} ({pid})"))
                    }
                    _ => "the kernel".to_owned(),
                };
                changes.push(Change { at_ns, what, before: before.map(requests), after: requests(period) });
            }
            let now = match entry.of {
                Period::Tick => Some(period),
                // Until Windows 10 1909 the lowest request holds for all; since then, the clock still ticks that often.
                _ if !is_told => {
                    let requests = levels.iter().filter(|(of, period)| **of != Period::Tick && **period != 0);
                    Some(requests.map(|(_, period)| *period).min().unwrap_or(coarsest))
                }
                _ => None,
            };
            let now = now.map(|period| in_words(period.min(coarsest)));
            if let Some(now) = now.filter(|now| tick.as_ref() != Some(now)) {
                let before = tick.replace(now.clone());
                changes.push(Change { at_ns, what: RESOLUTION.to_owned(), before, after: now });
            }
        }
        (changes, self.beyond)
    }
}

fn in_words(period: u32) -> String {
    Nanos(i64::from(period) * UNIT_NS).to_string()
}

fn requests(period: u32) -> String {
    if period == 0 { NOTHING.to_owned() } else { format!("requests {}", in_words(period)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(entries: &[(u64, Period, u32, bool)]) -> Vec<(i64, String)> {
        let mut timeline = Timeline::default();
        entries.iter().for_each(|&(t, of, period, is_rundown)| timeline.add(t, of, period, is_rundown));
        let (changes, _) = timeline.changes(1_000, |pid| (pid == 7).then(|| "game.exe".to_owned()));
        let words = |change: Change| {
            let before = change.before.map(|before| format!("{before} → ")).unwrap_or_default();
            (change.at_ns.0, format!("{}: {before}{}", change.what, change.after))
        };
        changes.into_iter().map(words).collect()
    }

    fn is(found: &[(i64, String)], expected: &[(i64, &str)]) {
        let found: Vec<(i64, &str)> = found.iter().map(|(at, words)| (*at, &**words)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_lowest_request_is_the_tick_where_no_record_states_it() {
        let (game, other) = (Period::Process(7), Period::Process(8));
        let found = lines(&[
            (9_000, game, 156_250, false),
            (5_000, game, 10_000, false),
            (3_000, other, 20_000, false),
            (9_500, other, 0, false),
        ]);
        is(
            &found,
            &[
                (2_000, "process 8: requests 2 ms"),
                (2_000, "resolution: 2 ms"),
                (4_000, "game.exe (7): requests 1 ms"),
                (4_000, "resolution: 2 ms → 1 ms"),
                (8_000, "game.exe (7): requests 1 ms → requests nothing"),
                (8_000, "resolution: 1 ms → 2 ms"),
                (8_500, "process 8: requests 2 ms → requests nothing"),
                (8_500, "resolution: 2 ms → 15.6 ms"),
            ],
        );
    }

    #[test]
    fn what_was_held_when_the_recording_ended_was_held_before_it_began() {
        let found = lines(&[
            (90_000, Period::Process(7), 5_000, true),
            (90_000, Period::Tick, 5_000, true),
            (90_000, Period::Kernel, 10_000, true),
        ]);
        is(
            &found,
            &[(0, "game.exe (7): requests 500 µs"), (0, "resolution: 500 µs"), (0, "the kernel: requests 1 ms")],
        );
    }

    #[test]
    fn a_record_of_the_tick_is_believed_more_than_the_lowest_request() {
        let found = lines(&[
            (2_000, Period::Process(7), 10_000, false),
            (2_100, Period::Tick, 9_765, false),
            (8_000, Period::Process(7), 0, false),
            // Told again when the recording ends.
            (9_000, Period::Process(7), 0, true),
        ]);
        is(
            &found,
            &[
                (1_000, "game.exe (7): requests 1 ms"),
                (1_100, "resolution: 976 µs"),
                (7_000, "game.exe (7): requests 1 ms → requests nothing"),
            ],
        );
    }

    #[test]
    fn entries_beyond_the_bound_are_counted() {
        let mut timeline = Timeline::default();
        (0..10_003).for_each(|t| timeline.add(t, Period::Process(7), t as u32 % 2, false));
        let (changes, beyond) = timeline.changes(0, |_| None);
        assert!(beyond == 3 && changes.len() >= 10_000);
    }
}
