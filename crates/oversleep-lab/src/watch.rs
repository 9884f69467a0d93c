//! Watches a machine while people use it: reports every change of the granted resolution, of coarse clocks' steps, of a
//! sleep, and of the facts that decide them. A script may start and end neighbours meanwhile.

use std::collections::BTreeMap;

use oversleep_measure::{Bench, Looks, Observed, Plan, SLEEP, StopFlag};
use oversleep_record::change::Change;
use oversleep_record::conditions::Setting;
use oversleep_record::file::Completion;
use oversleep_record::{CommandName, FactName, Nanos, ResultFile, Unavailable};
use oversleep_system::{Neighbour, Scope};

use crate::session::{HOLDING, Laboratory, Request, RunError};

/// The most changes kept in a result. Later ones are only counted, so that a watch of weeks stays small.
pub const CHANGES_MAX: usize = 10_000;
/// A sleep or a step counts as changed if it differs by more than this share of its former value, ...
const CHANGED_PERCENT: i64 = 15;
/// ... and by more than this, which a busy moment may add.
const CHANGED_MIN: Nanos = Nanos(200_000);
/// Facts are read less often by this factor, because that takes a few ms.
const FACTS_EVERY: u64 = 5;

/// A neighbour that holds a setting for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// What it holds.
    pub setting: Setting,
    /// When it starts.
    pub from: Nanos,
    /// When it ends; `None` means at the end of the watch.
    pub until: Option<Nanos>,
}

/// What to watch.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The interval between observations.
    pub every: Nanos,
    /// The duration; `None` means until the flag is raised.
    pub duration: Option<Nanos>,
    /// Neighbours that start and end.
    pub script: Vec<Visit>,
    /// A name that the user gave the result.
    pub name: Option<String>,
}

impl Watched {
    /// When the script has ended.
    pub fn script_ends(&self) -> Nanos {
        let ends = self.script.iter().map(|visit| visit.until.unwrap_or(visit.from));
        ends.max().unwrap_or(Nanos::ZERO)
    }
}

/// The last observations, by name.
#[derive(Default)]
struct Seen {
    levels: BTreeMap<String, Nanos>,
    /// A level from the last observation, which the next one has to confirm.
    unconfirmed: BTreeMap<String, Nanos>,
    words: BTreeMap<String, String>,
}

impl Seen {
    /// Notes a text, and returns the change if it is new or different.
    fn word(&mut self, what: &str, now: String, at: Nanos) -> Option<Change> {
        let before = self.words.insert(what.to_owned(), now.clone());
        (before.as_ref() != Some(&now)).then(|| Change { at_ns: at, what: what.to_owned(), before, after: now })
    }

    /// Notes a figure, and returns the change if it left its level in two successive observations; one busy moment is no
    /// change.
    fn level(&mut self, what: &str, now: Nanos, at: Nanos) -> Option<Change> {
        let is_off = |from: Nanos, to: Nanos| {
            let difference = (to - from).0.abs();
            difference > CHANGED_MIN.0 && difference * 100 > from.0.abs() * CHANGED_PERCENT
        };
        let change = |before: Option<Nanos>| Change {
            at_ns: at,
            what: what.to_owned(),
            before: before.map(|before| before.to_string()),
            after: now.to_string(),
        };
        let Some(&level) = self.levels.get(what) else {
            self.levels.insert(what.to_owned(), now);
            return Some(change(None));
        };
        if !is_off(level, now) {
            self.unconfirmed.remove(what);
            return None;
        }
        match self.unconfirmed.insert(what.to_owned(), now) {
            Some(before) if !is_off(before, now) => {
                self.unconfirmed.remove(what);
                self.levels.insert(what.to_owned(), now);
                Some(change(Some(level)))
            }
            _ => None,
        }
    }
}

/// The running neighbours, by their index in the script.
type Present = BTreeMap<usize, Box<dyn Neighbour>>;

impl Laboratory {
    /// Watches this machine until the time is over or the flag is raised. `report` is called for each change at once.
    /// Everything that was held ends with the watch.
    ///
    /// # Errors
    /// The clock can't be used.
    pub fn watch(
        &self,
        watched: &Watched,
        stop: &StopFlag,
        report: &mut dyn FnMut(&Change),
    ) -> Result<ResultFile, RunError> {
        let bench = Bench::new(self.platform.clone(), stop.clone(), None)
            .map_err(|reason| RunError::Clock { clock: String::new(), reason })?;
        let request = Request {
            command: CommandName::ResolutionWatch,
            experiments: Vec::new(),
            plan: Plan::default(),
            name: watched.name.clone(),
            try_remedies: false,
        };
        let mut file = self.blank_result(&request, &bench);
        let platform = self.platform();
        let counters = platform.counters();
        let (mut looks, mut seen, mut present) = (Looks::new(&bench), Seen::default(), Present::new());
        let (mut changes, mut beyond) = (Vec::new(), 0_u64);
        let mut tell = |change: Change| {
            report(&change);
            if changes.len() < CHANGES_MAX { changes.push(change) } else { beyond += 1 }
        };
        let now = || bench.since_origin(bench.stamp());
        let mut count = 0_u64;
        loop {
            let at = now();
            self.follow(watched, at, &mut present).into_iter().for_each(&mut tell);
            if count.is_multiple_of(FACTS_EVERY) {
                self.facts(&mut seen, at).into_iter().for_each(&mut tell);
            }
            let look = looks.look(&bench);
            if stop.is_raised() {
                break;
            }
            of_look(&mut seen, &look).into_iter().for_each(&mut tell);
            count += 1;
            let next = next_look(watched, at);
            if watched.duration.is_some_and(|duration| next >= duration) {
                let until = watched.duration.unwrap_or(next);
                self.rest(&bench, until, stop);
                break;
            }
            self.rest(&bench, next, stop);
            if stop.is_raised() {
                break;
            }
        }
        drop(present);
        let window = counters.until(&platform.counters());
        file.series = looks.finish(window);
        file.changes = changes;
        file.changes_beyond = beyond;
        file.duration_ns = now();
        file.findings = oversleep_explain::findings(&file);
        // Ctrl-C is the regular end of a watch without a duration, not an interruption.
        if stop.is_raised() && watched.duration.is_some() {
            file.completion = Completion::Interrupted;
        }
        Ok(file)
    }

    /// Sleeps until then, in parts so that Ctrl-C is handled soon.
    fn rest(&self, bench: &Bench, until: Nanos, stop: &StopFlag) {
        const PART: Nanos = Nanos::from_millis(200);
        let Ok(mut sleep) = bench.open_simplest_sleep() else { return };
        while !stop.is_raised() {
            let left = until - bench.since_origin(bench.stamp());
            if left <= Nanos::ZERO {
                return;
            }
            let start = bench.stamp();
            sleep.wait(bench.target(start, start + left.min(PART)));
        }
    }

    /// Starts and ends neighbours whose time has come.
    fn follow(&self, watched: &Watched, at: Nanos, present: &mut Present) -> Vec<Change> {
        let mut changes = Vec::new();
        let change = |index: usize, before: Option<String>, after: String| Change {
            at_ns: at,
            what: format!("neighbour {}", index + 1),
            before,
            after,
        };
        for (index, visit) in watched.script.iter().enumerate() {
            let is_over = visit.until.is_some_and(|until| at >= until);
            if is_over && present.remove(&index).is_some() {
                changes.push(change(index, Some(format!("holds {}", visit.setting)), "has exited".to_owned()));
            } else if at >= visit.from && !is_over && !present.contains_key(&index) {
                match self.platform().neighbour(Some(&visit.setting)) {
                    Ok(neighbour) => {
                        present.insert(index, neighbour);
                        changes.push(change(index, None, format!("requests {}", visit.setting)));
                    }
                    Err(reason) if at < visit.from + watched.every => {
                        changes.push(change(index, None, format!("can't start: {reason}")));
                    }
                    Err(_) => {}
                }
            }
        }
        changes
    }

    /// Facts and settings of the whole machine that decide how timers end.
    fn facts(&self, seen: &mut Seen, at: Nanos) -> Vec<Change> {
        let facts = self.platform().environment();
        let is_first = seen.words.is_empty();
        let mut found: Vec<(String, String)> = Vec::new();
        for name in HOLDING.iter().filter(|name| !matches!(name, FactName::TimerPeriodNow)) {
            if let Some(value) = facts.known(*name) {
                found.push((name.as_str().to_owned(), words(value)));
            }
        }
        for tunable in self.platform().tunables().iter().filter(|tunable| tunable.info().scope != Scope::Thread) {
            let info = tunable.info();
            if let (false, Ok(setting)) = (info.sets_resolution, tunable.current()) {
                found.push((info.name.to_owned(), setting.to_string()));
            }
        }
        if let Ok(holders) = self.platform().resolution_holders() {
            let all =
                holders.settings.iter().map(|held| format!("{} in {} processes", held.setting, held.process_count));
            // Most processes come and go with the default.
            let usual = holders.settings.iter().map(|held| held.process_count).max();
            let others = holders.settings.iter().filter(|held| Some(held.process_count) != usual).count();
            if others > 0 {
                let rare = holders.settings.iter().zip(all).filter(|(held, _)| Some(held.process_count) != usual);
                found.push(("held by others".to_owned(), rare.map(|(_, words)| words).collect::<Vec<_>>().join(", ")));
            }
        }
        let changes = found.into_iter().filter_map(|(name, value)| seen.word(&name, value, at));
        let changes: Vec<Change> = changes.collect();
        // The first observations are in the facts of the result; only their changes are reported.
        if is_first { Vec::new() } else { changes }
    }
}

fn words(value: &oversleep_record::environment::FactValue) -> String {
    use oversleep_record::environment::FactValue as Value;
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Nanos(span) => span.to_string(),
        Value::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::List(items) => items.join(", "),
        Value::Unknown(reason) => reason.to_string(),
    }
}

fn of_look(seen: &mut Seen, look: &Observed) -> Vec<Change> {
    let mut changes = Vec::new();
    if let Some(setting) = &look.resolution {
        changes.extend(seen.word("resolution", setting.to_string(), look.at));
    }
    for (clock, step) in &look.steps {
        changes.extend(seen.level(&format!("step({clock})"), *step, look.at));
    }
    if let Some((name, took)) = look.sleep {
        changes.extend(seen.level(&format!("{name}({})", SLEEP.as_typed()), took, look.at));
    }
    changes
}

/// The next observation: after the interval, or when a neighbour starts or ends.
fn next_look(watched: &Watched, at: Nanos) -> Nanos {
    let events = watched.script.iter().flat_map(|visit| [Some(visit.from), visit.until]).flatten();
    events.filter(|&event| event > at).fold(at + watched.every, Nanos::min)
}

/// The sentence at the head of a watch if the system doesn't reveal who requested what.
pub fn who_is_unknown(lab: &Laboratory) -> Option<Unavailable> {
    lab.platform().resolution_holders().err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::load;

    fn watch(machine: &str, script: &[(i64, i64, i64)]) -> (ResultFile, Vec<(i64, String)>) {
        let lab = load(machine, &[], 1).unwrap_or_else(|error| panic!("{error}"));
        let visit = |&(ms, from, until): &(i64, i64, i64)| Visit {
            setting: Setting::Nanos(Nanos::from_millis(ms)),
            from: Nanos::from_secs(from),
            until: Some(Nanos::from_secs(until)),
        };
        let watched = Watched {
            every: Nanos::from_secs(1),
            duration: Some(Nanos::from_secs(12)),
            script: script.iter().map(visit).collect(),
            name: None,
        };
        let mut lines = Vec::new();
        let mut report = |change: &Change| {
            let before = change.before.as_ref().map(|before| format!("{before} → ")).unwrap_or_default();
            lines.push((change.at_ns.0 / 1_000_000_000, format!("{}: {before}{}", change.what, change.after)));
        };
        let file = lab.watch(&watched, &StopFlag::new(), &mut report).unwrap_or_else(|error| panic!("{error}"));
        (file, lines)
    }

    #[test]
    fn before_2004_a_neighbour_changes_the_sleep_of_everybody() {
        let (file, lines) = watch("windows-10-1909", &[(2, 3, 7)]);
        let of =
            |what: &str| -> Vec<&(i64, String)> { lines.iter().filter(|(_, line)| line.starts_with(what)).collect() };
        let resolutions = of("resolution");
        assert_eq!(resolutions.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 3, 7], "{lines:?}");
        // 2 ms is granted on the grid of the hardware.
        assert!(["→ 1.99 ms", "→ 2 ms"].iter().any(|granted| resolutions[1].1.ends_with(granted)), "{resolutions:?}");
        assert!(resolutions[2].1.ends_with("→ 15.6 ms"), "{resolutions:?}");
        let sleeps = of("sleep(1ms)");
        assert_eq!(sleeps.len(), 3, "{lines:?}");
        assert!(
            (3..=5).contains(&sleeps[1].0) && ["→ 1.99 ms", "→ 2"].iter().any(|now| sleeps[1].1.contains(now)),
            "{sleeps:?}"
        );
        assert!((7..=9).contains(&sleeps[2].0) && sleeps[2].1.contains("→ 15."), "{sleeps:?}");
        assert_eq!(of("neighbour 1").len(), 2);
        assert_eq!(file.changes.len(), lines.len());
        assert!(ResultFile::read(&file.write()).is_ok_and(|back| back == file));
    }

    #[test]
    fn since_2004_the_resolution_changes_and_the_sleep_does_not() {
        for machine in ["windows-10-2004", "windows-11"] {
            let (_, lines) = watch(machine, &[(2, 3, 7)]);
            let of = |what: &str| lines.iter().filter(|(_, line)| line.starts_with(what)).count();
            assert_eq!((of("resolution"), of("sleep(1ms)")), (3, 1), "{machine}: {lines:?}");
        }
    }

    #[test]
    fn one_busy_moment_is_no_change() {
        let mut seen = Seen::default();
        let mut level = |ms| seen.level("sleep(1ms)", Nanos::from_millis(ms), Nanos::ZERO).map(|change| change.after);
        assert_eq!(level(15), Some("15 ms".to_owned()));
        assert_eq!([40, 15, 2, 40].map(&mut level), [const { None }; 4]);
        assert_eq!([2, 2, 2].map(&mut level), [None, Some("2 ms".to_owned()), None]);
    }
}
