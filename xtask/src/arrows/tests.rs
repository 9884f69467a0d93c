//! The tables of arrows hold together.

use super::*;

#[test]
fn the_operating_system_is_known_by_place_and_not_by_name() {
    assert!(is_os_place("crates/oversleep-native/src/linux/waits.rs"));
    assert!(is_os_place("crates/oversleep/src/sys/mod.rs"));
    assert!(is_os_place("crates/oversleep-cli/tests/platform/main.rs"));
    assert!(!is_os_place("crates/oversleep/src/system.rs"));
    assert!(!is_os_place("crates/natives/src/lib.rs"));
    assert!(!is_os_place("crates/oversleep-measure/src/sys/mod.rs"));
    assert!(!is_os_place("crates/oversleep-explain/src/native.rs"));
    assert!(!is_os_place("crates/oversleep-cli/tests/outputs/sys/main.rs"));
    assert!(is_pure("crates/oversleep-explain/src/findings/mod.rs") && !is_pure("crates/oversleep-cli/src/main.rs"));
    assert!(!is_pure("crates/oversleep-explain/tests/all.rs"));
}

/// The crates that a crate depends on, except in its tests.
fn built_from(name: &str) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    let mut pending = vec![name];
    while let Some(name) = pending.pop() {
        for to in rules_of(name).unwrap_or_else(|| panic!("{name} is not in CRATES")).ours {
            if !found.contains(to) {
                found.push(to);
                pending.push(to);
            }
        }
    }
    found
}

#[test]
fn arrows_go_one_way() {
    for rules in CRATES {
        let below = built_from(rules.name);
        assert!(!below.contains(&rules.name), "{} depends on itself: {below:?}", rules.name);
        for to in rules.ours_in_tests {
            assert!(!rules.ours.contains(to) && rules_of(to).is_some(), "{} → {to}", rules.name);
        }
        if rules.is_pure {
            assert!(
                below.iter().all(|to| *to == ALGORITHM || rules_of(to).is_some_and(|to| to.is_pure)),
                "{}: {below:?}",
                rules.name
            );
        }
    }
    for house in HOUSES {
        for room in house.rooms {
            for to in room.rooms {
                let head = to.split("::").next().unwrap_or(to);
                assert!(house.rooms.iter().any(|r| r.name == head), "{} → {to}", room.name);
            }
        }
    }
}

#[test]
fn an_edit_of_a_finding_builds_neither_the_calls_nor_the_model_again() {
    for name in ["oversleep-native", "oversleep-model", "oversleep-measure"] {
        assert!(!built_from(name).contains(&"oversleep-explain"), "{name}");
    }
    assert!(built_from("oversleep-cli").contains(&"oversleep-explain"));
}
