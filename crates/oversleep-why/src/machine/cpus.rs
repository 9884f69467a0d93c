//! What the CPUs did in the meantime.

use super::{Machine, TURNS_MAX, TURNS_OF_ALL, bound};
use crate::culprit::{Turn, Whose};
use crate::event::Event;

impl Machine {
    pub(super) fn on_run(&mut self, event: &Event) {
        bound(&mut self.turns);
        let [from, prio, policy, cpus_allowed, ..] = event.fields;
        let most = (TURNS_OF_ALL / self.turns.len().max(1)).max(TURNS_MAX);
        let turns = self.turns.entry(event.cpu).or_default();
        turns.push_back(Turn {
            tid: event.tid,
            tgid: event.tgid,
            name: event.name,
            policy: policy as u32,
            prio: prio as i32,
            cpus_allowed: cpus_allowed as u32,
            whose: whose(event.x),
            process: self.names.get(&event.tgid).copied(),
            from,
            to: event.t,
        });
        if turns.len() > most {
            turns.drain(..turns.len() - most);
        }
    }

    pub(super) fn on_steal(&mut self, event: &Event) {
        bound(&mut self.steal);
        let steal = self.steal.entry(event.cpu).or_default();
        steal.push_back((event.t, event.t.saturating_add(event.fields[1]), event.fields[0]));
        if steal.len() > TURNS_MAX {
            steal.pop_front();
        }
    }
}

fn whose(bits: u32) -> Whose {
    match bits {
        _ if bits & 2 != 0 => Whose::Kernel,
        _ if bits & 4 != 0 => Whose::Collector,
        _ => Whose::Program,
    }
}
