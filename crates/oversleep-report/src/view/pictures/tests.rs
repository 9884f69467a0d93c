//! Every picture of a result, and none without data.

use std::collections::HashSet;

use oversleep_record::FactName;
use oversleep_record::testing::Sheet;

use super::*;
use crate::view::testing::{complete, rich};

#[test]
fn every_kind_of_picture_is_drawn_once() {
    let pictures = all(&complete().file);
    for entry in REGISTRY {
        let of_entry =
            |name: &str| name.strip_prefix(entry.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        // There is one for the system and one for Java, two rules, and two of Pascal's work: for eight threads and for one.
        let has_two = entry.name.starts_with("runtime") || entry.name == "tick-count-work";
        let wanted = if has_two { 2 } else { 1 };
        assert_eq!(pictures.iter().filter(|picture| of_entry(&picture.name)).count(), wanted, "{}", entry.name);
    }
    assert_eq!(pictures.len(), REGISTRY.len() + 3);
    assert!(pictures.iter().all(|picture| !picture.svg.contains("Not enough data")));
}

#[test]
fn no_data_is_no_picture() {
    assert_eq!(all(&Sheet::linux().file), []);
}

#[test]
fn names_are_safe_and_differ() {
    let mut file = rich().file;
    let mut again = file.trials[0].clone();
    again.remedy = "lower timer/../slack".into();
    file.trials.push(again);
    let names: Vec<String> = all(&file).into_iter().map(|picture| picture.name).collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
    assert!(names.iter().all(|name| !name.contains(['/', '.', ' '])), "{names:?}");
    assert_eq!(safe_name(&["sweep", "</script>"]), "sweep-script");
}

#[test]
fn a_model_says_so_in_every_picture() {
    let mut file = rich().file;
    file.platform.modelled = Some("windows-10-2004".into());
    for picture in all(&file) {
        assert!(picture.svg.contains("modelled: windows-10-2004"), "{}", picture.name);
    }
}

#[test]
fn wine_is_named_in_every_picture() {
    let mut file = rich().file;
    let version = oversleep_record::environment::FactValue::Text("8.0".into());
    file.environment.set(FactName::OsWineVersion, version, "test");
    for picture in all(&file) {
        assert!(picture.svg.contains("under Wine 8.0"), "{}", picture.name);
    }
}
