//! Process ids as the user sees them: those of the PID namespace of this process.

use std::collections::HashMap;

use oversleep_why::event::{Event, Kind};

/// The first namespace, whose ids are the kernel's own (`PROC_PID_INIT_INO`).
const FIRST: u32 = 0xeffffffc;
/// Above the largest id on Linux (`PID_MAX_LIMIT`): a task of another namespace keeps the kernel's id plus this offset.
pub const OUTSIDE: u32 = 1 << 30;
/// The most threads that are remembered.
const KEPT_MAX: usize = 65_536;

/// The namespace of this process in the form that the kernel program takes: 0 for the first one.
pub fn own() -> u32 {
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    number(&link.to_string_lossy()).filter(|&number| number != FIRST).unwrap_or(0)
}

/// Parses `pid:[4026531836]`.
fn number(link: &str) -> Option<u32> {
    link.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// Maps the kernel's ids to the user's.
#[derive(Debug, Default)]
pub struct Ids {
    known: HashMap<u32, (u32, u32)>,
}

impl Ids {
    /// Translates an event's ids to the user's. Events that begin something carry both.
    pub fn translate(&mut self, event: &mut Event) {
        let tid = event.tid;
        if brings_ids(event.kind) {
            let ids = std::mem::take(&mut event.fields[5]);
            let ids = (ids as u32, (ids >> 32) as u32);
            // The only event of a task that isn't followed is its turn on a CPU.
            if event.kind == Kind::Run {
                (event.tid, event.tgid) = if ids.0 == 0 { (outside(tid), outside(event.tgid)) } else { ids };
                return;
            }
            if ids.0 != 0 {
                if self.known.len() >= KEPT_MAX {
                    self.known.clear();
                }
                self.known.insert(tid, ids);
            }
        }
        if event.kind == Kind::Fire {
            event.x = self.of(event.x).0;
        }
        let known = self.of(tid);
        let tgid = if known.1 == 0 { outside(event.tgid) } else { known.1 };
        (event.tid, event.tgid) = (known.0, tgid);
        if event.kind == Kind::Gone {
            self.known.remove(&tid);
        }
    }

    /// The ids of a thread and its process; the process is 0 if it isn't known.
    fn of(&self, tid: u32) -> (u32, u32) {
        self.known.get(&tid).copied().unwrap_or((outside(tid), 0))
    }
}

fn brings_ids(kind: Kind) -> bool {
    matches!(kind, Kind::Arm | Kind::Waking | Kind::Run | Kind::Fork | Kind::Exec | Kind::Gone)
}

/// The id of a task outside the namespace. 0 is a CPU's idle task in every namespace.
fn outside(id: u32) -> u32 {
    if id == 0 { 0 } else { OUTSIDE.saturating_add(id) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: Kind, tid: u32, ids: (u32, u32)) -> Event {
        let mut event = Event::new(kind, 1, tid);
        event.fields[5] = u64::from(ids.0) | u64::from(ids.1) << 32;
        event
    }

    fn translated(ids: &mut Ids, mut event: Event) -> (u32, u32) {
        ids.translate(&mut event);
        (event.tid, event.tgid)
    }

    #[test]
    fn the_namespace_is_read_from_its_link() {
        assert_eq!(number("pid:[4026531836]"), Some(FIRST));
        assert_eq!(number("pid:[4026532500]"), Some(4_026_532_500));
        assert_eq!(number("mnt:[4026532500]"), None);
    }

    #[test]
    fn events_of_a_thread_have_the_ids_that_its_first_one_brought() {
        let mut ids = Ids::default();
        assert_eq!(translated(&mut ids, event(Kind::Arm, 5_001, (12, 7))), (12, 7));
        assert_eq!(translated(&mut ids, event(Kind::In, 5_001, (0, 0))), (12, 7));
        assert_eq!(translated(&mut ids, event(Kind::Gone, 5_001, (12, 7))), (12, 7));
        assert_eq!(translated(&mut ids, event(Kind::In, 5_001, (0, 0))), (OUTSIDE + 5_001, OUTSIDE + 5_001));
    }

    #[test]
    fn a_task_of_another_namespace_is_never_taken_for_one_of_ours() {
        let mut ids = Ids::default();
        assert_eq!(translated(&mut ids, event(Kind::Arm, 5_001, (12, 7))), (12, 7));
        assert_eq!(translated(&mut ids, event(Kind::Run, 12, (0, 0))), (OUTSIDE + 12, OUTSIDE + 12));
        assert_eq!(translated(&mut ids, event(Kind::Run, 5_002, (13, 7))), (13, 7));
        let mut fire = event(Kind::Fire, 5_001, (0, 0));
        fire.x = 5_001;
        ids.translate(&mut fire);
        assert_eq!((fire.tid, fire.x), (12, 12));
    }
}
