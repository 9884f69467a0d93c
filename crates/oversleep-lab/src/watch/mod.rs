//! Watches a machine while people use it: reports every change of the granted resolution, of coarse clocks' steps, of a
//! sleep, and of the facts that decide them. A script may start and end neighbours meanwhile.

use std::collections::BTreeMap;

use oversleep_measure::{Bench, Looks, Observed, Plan, SLEEP, StopFlag};
use oversleep_record::change::Change;
use oversleep_record::file::Completion;
use oversleep_record::{CommandName, FactName, Nanos, ResultFile, Unavailable};
use oversleep_system::Scope;

mod script;

use crate::session::{HOLDING, Laboratory, Request, RunError};
use script::{Present, next_look};

pub use script::{Visit, Watched};

/// The most changes kept in a result. Later ones are only counted, so that a watch of weeks stays small.
pub const CHANGES_MAX: usize = 10_000;
/// A sleep or a step counts as changed if it differs by more than this share of its former value, ...
const CHANGED_PERCENT: i64 = 15;
/// ... and by more than this, which a busy moment may add.
const CHANGED_MIN: Nanos = Nanos(200_000);
/// The name of the granted resolution among the changes.
const RESOLUTION: &str = "resolution";
/// Facts are read less often by this factor, because that takes a few ms.
const FACTS_EVERY: u64 = 5;

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
    /// change. Where the cause of a change was seen, the second observation follows at once.
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
        let (mut looks, mut seen, mut present) = (Looks::new(&bench), Seen::default(), Present::default());
        let (mut changes, mut beyond) = (Vec::new(), 0_u64);
        let mut tell = |change: Change| {
            report(&change);
            if changes.len() < CHANGES_MAX { changes.push(change) } else { beyond += 1 }
        };
        let now = || bench.since_origin(bench.stamp());
        let mut count = 0_u64;
        loop {
            let at = now();
            let mut causes = present.follow(self.platform(), watched, at);
            if count.is_multiple_of(FACTS_EVERY) {
                causes.extend(self.facts(&mut seen, at));
            }
            let mut has_cause = !causes.is_empty();
            causes.into_iter().for_each(&mut tell);
            let look = looks.look(&bench);
            if stop.is_raised() {
                break;
            }
            let found = of_look(&mut seen, &look);
            has_cause |= found.iter().any(|change| change.what == RESOLUTION);
            found.into_iter().for_each(&mut tell);
            // What has a cause needn't wait for the next observation to be confirmed.
            if has_cause && !seen.unconfirmed.is_empty() {
                let again = looks.look(&bench);
                if stop.is_raised() {
                    break;
                }
                of_look(&mut seen, &again).into_iter().for_each(&mut tell);
            }
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

    /// Facts and settings of the whole machine that decide how timers end.
    fn facts(&self, seen: &mut Seen, at: Nanos) -> Vec<Change> {
        let facts = self.platform().environment();
        let is_first = seen.words.is_empty();
        let mut found: Vec<(String, String)> = Vec::new();
        for name in HOLDING.iter().filter(|name| !matches!(name, FactName::TimerPeriodNow)) {
            if let Some(value) = facts.known(*name) {
                found.push((name.as_str().to_owned(), value.to_string()));
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

fn of_look(seen: &mut Seen, look: &Observed) -> Vec<Change> {
    let mut changes = Vec::new();
    if let Some(setting) = &look.resolution {
        changes.extend(seen.word(RESOLUTION, setting.to_string(), look.at));
    }
    for (clock, step) in &look.steps {
        changes.extend(seen.level(&format!("step({clock})"), *step, look.at));
    }
    if let Some((name, took)) = look.sleep {
        changes.extend(seen.level(&format!("{name}({})", SLEEP.as_typed()), took, look.at));
    }
    changes
}

/// The sentence at the head of a watch if the system doesn't reveal who requested what.
pub fn who_is_unknown(lab: &Laboratory) -> Option<Unavailable> {
    lab.platform().resolution_holders().err()
}

#[cfg(test)]
mod tests;
