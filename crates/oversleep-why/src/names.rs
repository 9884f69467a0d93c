//! The names of processes, and their runtimes, from the stream, from the head of a recording, or from the running system.

use std::fmt;

use oversleep_record::observed::{Named, SeenRuntime};
use oversleep_record::{ResultFile, label};

use crate::machine::{Machine, Map};
use crate::recording::Meta;
use crate::wait::Wait;

/// The most processes that are remembered.
const KEPT_MAX: usize = 16_384;
/// The most that are asked because they ran instead of another.
const NEIGHBOURS_MAX: usize = 1_024;

/// Reads a process's name from the system.
type Ask = Box<dyn Fn(u32) -> Option<Named>>;

/// The names of processes.
#[derive(Default)]
pub struct Names {
    known: Map<u32, Named>,
    /// Processes that ran instead of others whose groups have a share of their own, as far as they could be asked.
    neighbours: Map<u32, Option<Named>>,
    ask: Option<Ask>,
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").field("known", &self.known).finish_non_exhaustive()
    }
}

impl Names {
    /// The names of a recording.
    pub fn of(named: &[Named]) -> Names {
        Names { known: named.iter().map(|named| (named.tgid, named.clone())).collect(), ..Names::default() }
    }

    /// Those that a recording brings, of its processes and of those who ran instead.
    pub fn of_recording(meta: &Meta) -> Names {
        let neighbours = meta.neighbours.iter().map(|named| (named.tgid, Some(named.clone())));
        Names { neighbours: neighbours.collect(), ..Names::of(&meta.processes) }
    }

    /// Names read from the running system.
    pub fn live(ask: impl Fn(u32) -> Option<Named> + 'static) -> Names {
        Names { ask: Some(Box::new(ask)), ..Names::default() }
    }

    /// The name of the program that a wait belongs to.
    pub fn program<'a>(&'a mut self, machine: &'a Machine, wait: &'a Wait) -> &'a str {
        if !self.known.contains_key(&wait.tgid) && self.known.len() < KEPT_MAX {
            self.learn(wait.tgid);
        }
        let stream = machine.processes().get(&wait.tgid).map(|process| &*process.name);
        let known = || self.known.get(&wait.tgid).map(|named| &*named.name);
        stream.filter(|name| !name.is_empty()).or_else(known).unwrap_or(&wait.thread)
    }

    /// Reads a process's name from the system.
    pub fn learn(&mut self, tgid: u32) {
        if let Some(named) = self.ask.as_ref().and_then(|ask| ask(tgid)) {
            self.known.insert(tgid, named);
        }
    }

    /// Reads which groups those are in who ran instead, if the groups of the waiting process matter.
    pub fn learn_neighbours(&mut self, wait: &Wait) {
        let (Some(ask), Some(own)) = (&self.ask, self.known.get(&wait.tgid)) else { return };
        let matter = !own.weights.is_empty() || own.autogroup.is_some();
        if !matter || self.neighbours.len() >= NEIGHBOURS_MAX {
            return;
        }
        for culprit in wait.culprits.iter().filter(|culprit| culprit.tgid != wait.tgid) {
            self.neighbours.entry(culprit.tgid).or_insert_with(|| ask(culprit.tgid));
        }
    }

    /// The neighbours that could be asked.
    pub fn neighbours(&self) -> Vec<Named> {
        sorted(self.neighbours.values().flatten())
    }

    /// Forgets what was read from the system about a process that executes another program.
    pub fn renew(&mut self, tgid: u32) {
        if self.ask.is_some() {
            self.known.remove(&tgid);
        }
    }

    /// States what was seen of a process's runtime since its name was read.
    pub fn set_runtime(&mut self, tgid: u32, seen: SeenRuntime) {
        if let Some(named) = self.known.get_mut(&tgid).filter(|named| named.runtime.is_some()) {
            named.runtime = Some(seen);
        }
    }

    /// Adds the runtimes of processes to their waits. Waits of one kind may be those of several processes, which then have
    /// to agree.
    pub(crate) fn add_runtimes(&self, file: &mut ResultFile) {
        for series in &mut file.series {
            let program = series.label::<String>(label::PROGRAM);
            let Some(waits) = &mut series.observed else { continue };
            let is_of = |named: &&Named| named.tgid == waits.tgid || program.as_ref() == Some(&named.name);
            let mut runtimes = self.known.values().filter(is_of).map(|named| named.runtime.clone());
            let first = runtimes.next().flatten();
            waits.runtime = runtimes.fold(first, |one, other| one?.and(&other?));
        }
    }

    /// All known names, for the head of a recording or a result.
    pub fn list(&self) -> Vec<Named> {
        sorted(self.known.values())
    }
}

fn sorted<'a>(named: impl Iterator<Item = &'a Named>) -> Vec<Named> {
    let mut list: Vec<Named> = named.cloned().collect();
    list.sort_by_key(|named| named.tgid);
    list
}

#[cfg(test)]
mod tests {
    use oversleep_record::environment::Os;
    use oversleep_record::observed::group::{GroupSetting, GroupWeight};
    use oversleep_record::observed::wait::Request;
    use oversleep_record::{Distribution, Identity, Series};

    use super::*;

    #[test]
    fn who_ran_instead_is_asked_only_where_groups_matter() {
        let named = |tgid: u32| {
            let (group, folder) = ("/batch".to_owned(), "/sys/fs/cgroup/batch".to_owned());
            let weight = GroupWeight { group, folder, setting: GroupSetting::CpuWeight, value: 10 };
            let weights = if tgid == 7 { vec![weight] } else { Vec::new() };
            // 10 has ended.
            (tgid != 10).then(|| Named { tgid, name: format!("p{tgid}"), weights, ..Named::default() })
        };
        let culprit = |tgid: u32| {
            serde_json::json!({
                "tid": tgid, "tgid": tgid, "name": "hog", "policy": 0, "prio": 120, "ran_ns": 1,
                "why": "turn_not_over", "is_pinned": false,
            })
        };
        let wait = |tgid: u32| {
            let wait = serde_json::json!({
                "tgid": tgid, "tid": tgid, "thread": "app", "call": "nanosleep", "request": "span",
                "requested_ns": 1, "deadline_ns": 1, "end_ns": 2, "lateness_ns": 1, "outcome": "timer",
                "parts": {}, "marks": {}, "culprits": [culprit(7), culprit(9), culprit(10)],
            });
            serde_json::from_value::<Wait>(wait).expect("it is a wait")
        };
        let neighbours_of = |waiting: u32| {
            let mut names = Names::live(named);
            names.learn(waiting);
            names.learn_neighbours(&wait(waiting));
            names.neighbours().iter().map(|neighbour| neighbour.tgid).collect::<Vec<_>>()
        };
        assert_eq!(neighbours_of(7), [9]);
        assert_eq!(neighbours_of(8), [0; 0], "its group has the default");
    }

    fn named(tgid: u32, runtime: Option<(&str, bool)>) -> Named {
        let seen = |(name, waits_for_own_lock): (&str, bool)| SeenRuntime { name: name.to_owned(), waits_for_own_lock };
        Named { tgid, name: "app".to_owned(), runtime: runtime.map(seen), ..Named::default() }
    }

    /// What is said of the runtime of waits of process 7, if these processes have their name.
    fn runtime(all: &[Named]) -> Option<SeenRuntime> {
        let (program, call) = ("app".to_owned(), "futex".to_owned());
        let request = Request::Deadline;
        let identity = Identity { thread: program.clone(), program, call, timer: None, request, requested_ns: None };
        let mut file = crate::session::replay(include_bytes!("../tests/recorded/fifo.why")).expect("a recording");
        let mut series = Series::observed(&identity, Os::Linux, Distribution::growing());
        series.observed.as_mut().expect("it is observed").tgid = 7;
        file.series = vec![series];
        Names::of(all).add_runtimes(&mut file);
        file.series.remove(0).observed.expect("it is observed").runtime
    }

    #[test]
    fn processes_of_one_name_have_to_agree_on_their_runtime() {
        let seen = |all: &[Named]| runtime(all).map(|seen| (seen.name, seen.waits_for_own_lock));
        let python = |lock: bool| Some(("python".to_owned(), lock));
        assert_eq!(seen(&[named(7, Some(("python", true)))]), python(true));
        assert_eq!(seen(&[named(7, Some(("python", true))), named(8, Some(("python", false)))]), python(false));
        assert_eq!(seen(&[named(7, Some(("python", true))), named(8, Some(("go", false)))]), None);
        assert_eq!(seen(&[named(7, Some(("python", true))), named(8, None)]), None);
        assert_eq!(seen(&[]), None);
    }

    #[test]
    fn another_program_of_the_same_process_is_asked_for_again() {
        let mut names = Names::live(|tgid| Some(named(tgid, Some(("python", true)))));
        names.learn(7);
        names.renew(7);
        assert_eq!(names.list(), []);
        let mut of_recording = Names::of(&[named(7, None)]);
        of_recording.renew(7);
        assert_eq!(of_recording.list().len(), 1, "nobody can be asked");
    }
}
