//! Requirements for all entries of every catalogue.

use std::collections::BTreeSet;

use crate::{clocks, loads, tunables};

const SYSTEMS: [&str; 4] = ["linux", "windows", "macos", "freebsd"];

/// Checks that names are unique and docs are whole sentences.
#[track_caller]
fn check(os: &str, entries: impl Iterator<Item = (&'static str, &'static str)>) {
    let mut names = BTreeSet::new();
    for (name, doc) in entries {
        assert!(names.insert(name), "{os}: {name} twice");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{os}: {name}");
        assert!(doc.len() > 15 && doc.ends_with('.'), "{os}: {name} has no sentence");
    }
}

#[test]
fn every_entry_has_a_name_of_its_own_a_sentence_and_a_page() {
    for os in SYSTEMS {
        check(os, clocks::of(os).iter().map(|info| (info.name, info.doc)));
        check(os, tunables::of(os).iter().map(|info| (info.name, info.doc)));
        check(os, loads::of(os).iter().map(|info| (info.name, info.doc)));
        let clocks = clocks::of(os).iter().map(|info| (info.name, info.call, info.since, info.page));
        let tunables = tunables::of(os).iter().map(|info| (info.name, info.call, info.since, info.page));
        for (name, call, since, page) in clocks.chain(tunables) {
            assert!(call.len() > 3 && since.len() > 3 && page.starts_with("https://"), "{os}: {name}");
        }
        assert!(tunables::of(os).iter().all(|info| info.expected.len() > 5));
    }
}
