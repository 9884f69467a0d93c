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
    assert!(pictures.iter().all(|picture| !picture.forms.alone.contains("Not enough data")));
}

#[test]
fn two_clocks_show_sleeps_of_one_request() {
    let picture = |sheet: Sheet| {
        let sheet = sheet.steady("B1/nanosleep/1ms/coarse", 4_000_000).steady("B1/nanosleep/1ms/precise", 1_066_000);
        all(&sheet.file).into_iter().find(|picture| picture.name == "two-clocks").expect("it has both").forms.alone
    };
    let long = Sheet::linux().steady("B1/nanosleep/5ms/coarse", 8_000_000);
    assert_eq!(picture(long), picture(Sheet::linux()));
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
        assert!(picture.forms.alone.contains("modelled: windows-10-2004"), "{}", picture.name);
    }
}

#[test]
fn wine_is_named_in_every_picture() {
    let mut file = rich().file;
    let version = oversleep_record::environment::FactValue::Text("8.0".into());
    file.environment.set(FactName::OsWineVersion, version, "test");
    for picture in all(&file) {
        assert!(picture.forms.alone.contains("under Wine 8.0"), "{}", picture.name);
    }
}

/// The places of all texts of a drawing that isn't moved sideways.
fn places_of_texts(svg: &str) -> impl Iterator<Item = f64> {
    svg.split("<text ").skip(1).filter_map(|text| text.split(" x=\"").nth(1)?.split('"').next()?.parse().ok())
}

#[test]
fn no_form_is_scaled_and_every_label_stands_in_it() {
    for picture in all(&rich().file) {
        for (svg, width) in
            [(&picture.forms.alone, 720.0), (&picture.forms.wide, 720.0), (&picture.forms.narrow, 340.0)]
        {
            assert!(svg.contains(&format!("viewBox=\"0 0 {width} ")), "{}", picture.name);
            assert!(svg.contains(&format!(" width=\"{width}\" height=")), "{}", picture.name);
            let outside: Vec<f64> = places_of_texts(svg).filter(|x| !(0.0..=width).contains(x)).collect();
            assert_eq!(outside, [0.0; 0], "{} of {width} px", picture.name);
        }
    }
}
