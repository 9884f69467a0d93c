//! Looks a word up in the registries of every system.

use oversleep_explain as explain;
use oversleep_record::Unavailable;

use crate::catalogue::{Entry, Kind};
use crate::machines;
use crate::session::Laboratory;

/// A machine of each system, for what this one doesn't have.
const OTHERS: [&str; 3] = ["linux-hz250", "windows-11", "macos-14-m1"];

/// The clocks, waits, hand-offs and tunables that have this name, or a call with this word in it: those of this machine, and
/// those of other systems.
pub fn entries_named(lab: &Laboratory, word: &str) -> Vec<Entry> {
    const KINDS: [Kind; 4] = [Kind::Clock, Kind::Wait, Kind::Handoff, Kind::Tunable];
    let plain = |name: &str| name.trim().to_lowercase().replace('_', "-");
    let (name, in_call) = (plain(word), word.trim().to_lowercase());
    let is_meant = |entry: &Entry| plain(entry.name) == name || explain::mentions(entry.call, &in_call);
    let of = |lab: &Laboratory| -> Vec<Entry> {
        KINDS.iter().flat_map(|&kind| lab.entries(kind)).filter(is_meant).collect()
    };
    let mut found = of(lab);
    let others = OTHERS.iter().filter_map(|machine| machines::load(machine, &[], machines::SEED).ok());
    for other in others.filter(|other| other.platform_id().os != lab.platform_id().os) {
        for entry in of(&other) {
            if found.iter().all(|known| known.name != entry.name) {
                found.push(Entry { unavailable: Some(Unavailable::NotOnThisPlatform), ..entry });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_name_is_found_by_it_and_by_its_call_on_every_system() {
        let lab = machines::load("linux-hz250", &[], machines::SEED).unwrap_or_else(|error| panic!("{error}"));
        let found = |word: &str| -> Vec<(&str, bool)> {
            entries_named(&lab, word).iter().map(|entry| (entry.name, entry.unavailable.is_none())).collect()
        };
        assert!(found("nanosleep").contains(&("nanosleep", true)), "{:?}", found("nanosleep"));
        assert_eq!(found("CLOCK_REALTIME").first(), Some(&("realtime", true)));
        assert_eq!(found("QueryPerformanceCounter"), [("qpc", false)]);
        assert_eq!(found("zzz"), []);
    }
}
