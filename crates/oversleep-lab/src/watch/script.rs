//! The neighbours that start and end while a machine is watched, and what they hold on battery.

use std::collections::BTreeMap;

use oversleep_record::change::Change;
use oversleep_record::conditions::Setting;
use oversleep_record::environment::FactValue;
use oversleep_record::{FactName, Nanos};
use oversleep_system::{Neighbour, Platform};

/// A neighbour that holds a setting for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// What it holds.
    pub setting: Setting,
    /// What it holds instead while the machine runs on battery, as browsers do.
    pub on_battery: Option<Setting>,
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
    /// When a modelled machine runs on battery, and until when; `None` to the end.
    pub on_battery: Vec<(Nanos, Option<Nanos>)>,
    /// A name that the user gave the result.
    pub name: Option<String>,
}

impl Watched {
    /// When the script has ended.
    pub fn script_ends(&self) -> Nanos {
        let visits = self.script.iter().map(|visit| visit.until.unwrap_or(visit.from));
        let power = self.on_battery.iter().map(|&(from, until)| until.unwrap_or(from));
        visits.chain(power).max().unwrap_or(Nanos::ZERO)
    }

    /// Whether the script says that the machine runs on battery then.
    fn is_on_battery(&self, at: Nanos) -> bool {
        self.on_battery.iter().any(|&(from, until)| at >= from && until.is_none_or(|until| at < until))
    }
}

/// The running neighbours with what each holds, by their index in the script.
#[derive(Default)]
pub(super) struct Present {
    neighbours: BTreeMap<usize, (Setting, Box<dyn Neighbour>)>,
    on_battery: bool,
}

impl Present {
    /// Starts and ends neighbours whose time has come, and has them hold what their policy says.
    pub(super) fn follow(&mut self, platform: &dyn Platform, watched: &Watched, at: Nanos) -> Vec<Change> {
        let mut changes = Vec::new();
        self.power(platform, watched, at, &mut changes);
        for (index, visit) in watched.script.iter().enumerate() {
            let is_here = at >= visit.from && visit.until.is_none_or(|until| at < until);
            let wanted = visit.on_battery.as_ref().filter(|_| self.on_battery).unwrap_or(&visit.setting);
            let held = self.neighbours.get(&index).map(|(held, _)| held.clone());
            if is_here && held.as_ref() == Some(wanted) {
                continue;
            }
            let before = held.map(|held| format!("holds {held}"));
            // A program gives back what it holds before it requests something else.
            self.neighbours.remove(&index);
            let after = match is_here {
                true => match platform.neighbour(Some(wanted)) {
                    Ok(neighbour) => {
                        self.neighbours.insert(index, (wanted.clone(), neighbour));
                        format!("requests {wanted}")
                    }
                    // Said once.
                    Err(_) if before.is_none() && at >= visit.from + watched.every => continue,
                    Err(reason) => format!("can't start: {reason}"),
                },
                false if before.is_some() => "has exited".to_owned(),
                false => continue,
            };
            changes.push(Change { at_ns: at, what: format!("neighbour {}", index + 1), before, after });
        }
        changes
    }

    /// What the machine runs on: by the script on a model, which has no battery, and as it is on a real machine.
    fn power(&mut self, platform: &dyn Platform, watched: &Watched, at: Nanos, changes: &mut Vec<Change>) {
        let has_policy = watched.script.iter().any(|visit| visit.on_battery.is_some());
        if !platform.time_is_virtual() {
            self.on_battery = has_policy && on_battery(platform);
            return;
        }
        let now = watched.is_on_battery(at);
        if now != self.on_battery {
            let word = |on_battery: bool| if on_battery { "yes" } else { "no" }.to_owned();
            let what = FactName::PowerOnBattery.as_str().to_owned();
            changes.push(Change { at_ns: at, what, before: Some(word(self.on_battery)), after: word(now) });
            self.on_battery = now;
        }
    }
}

fn on_battery(platform: &dyn Platform) -> bool {
    let facts = platform.environment();
    let is_text = |value: &FactValue, is: &str| matches!(value, FactValue::Text(text) if text == is);
    facts.flag(FactName::PowerOnBattery) == Some(true)
        || facts.known(FactName::PowerSource).is_some_and(|value| is_text(value, "battery"))
}

/// The next observation: after the interval, or when a neighbour starts or ends or the power changes.
pub(super) fn next_look(watched: &Watched, at: Nanos) -> Nanos {
    let visits = watched.script.iter().flat_map(|visit| [Some(visit.from), visit.until]);
    let power = watched.on_battery.iter().flat_map(|&(from, until)| [Some(from), until]);
    visits.chain(power).flatten().filter(|&event| event > at).fold(at + watched.every, Nanos::min)
}
