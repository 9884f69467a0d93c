//! Inside a crate, rooms depend on one another one way only, as [`HOUSES`] says. Read from the paths in the code, not
//! from comments or strings. A room is a module at the crate's top; modules that aren't rooms compose them, so no
//! room may use one of those.

use super::Check;
use super::arrows::{HOUSES, House, Room};
use super::finding::Findings;
use super::paths::{self, PathUse};
use super::tree::{File, Tree};

pub const CHECK: Check = Check { name: "room-arrows", about: "each room uses only the rooms arrows.rs lets it", run };

const TABLE: &str = "xtask/src/tidy/arrows.rs";

fn run(tree: &Tree, findings: &mut Findings) {
    for house in HOUSES {
        let mut unknown = Vec::new();
        for file in tree.rust_files() {
            let Some(below) = file.path.strip_prefix(house.src).and_then(|p| p.strip_prefix('/')) else { continue };
            let module = paths::module_of(below);
            let top = module.first().map_or("", String::as_str);
            let room = house.rooms.iter().find(|room| room.name == top);
            if room.is_none() && is_undeclared(house, below, top) && !unknown.contains(&top.to_owned()) {
                unknown.push(top.to_owned());
                findings.add(
                    &file.path,
                    1,
                    format!("`{top}` has no arrows"),
                    format!("say what it may use under `rooms` (or name it under `composing`) in {TABLE}"),
                );
            }
            look_at(file, house, room, &module, findings);
        }
    }
}

fn is_undeclared(house: &House, below: &str, top: &str) -> bool {
    below.contains('/') && house.composing.is_some_and(|names| !names.contains(&top))
}

fn look_at(file: &File, house: &House, room: Option<&Room>, module: &[String], findings: &mut Findings) {
    let source = file.source();
    for path in paths::uses(source, module) {
        let written = path.segments.join("::");
        if house.never.iter().any(|never| leads_to(&path, never)) {
            findings.add(
                &file.path,
                path.line,
                format!("nothing here may use `{written}`"),
                format!("ask the layer between for it; the arrows are in {TABLE}"),
            );
            continue;
        }
        let Some(room) = room else { continue };
        if !may_use(house, room, &path) {
            findings.add(&file.path, path.line, format!("`{}` may not use `{written}`", room.name), remedy(&path));
        }
    }
}

fn may_use(house: &House, room: &Room, path: &PathUse) -> bool {
    let Some(first) = path.segments.first().map(String::as_str) else { return true };
    if first == "oversleep" || first.starts_with("oversleep_") {
        return room.crates.contains(&first);
    }
    if first != "crate" {
        return true;
    }
    let Some(second) = path.segments.get(1).map(String::as_str) else { return true };
    second == room.name
        || house.shared.contains(&second)
        || room.rooms.iter().any(|to| leads_to(path, &format!("crate::{to}")))
}

/// Is `target` a prefix of the path, by whole segments?
fn leads_to(path: &PathUse, target: &str) -> bool {
    let target: Vec<&str> = target.split("::").collect();
    path.segments.len() >= target.len() && path.segments.iter().zip(&target).all(|(a, b)| a == b)
}

fn remedy(path: &PathUse) -> String {
    let at_root = path.segments.first().is_some_and(|s| s == "crate") && path.segments.len() == 2;
    if at_root {
        format!("name it by the room it lives in, or have a module at the crate's top bring the two together ({TABLE})")
    } else {
        format!(
            "have a module at the crate's top bring the two together, or move what is shared to the record ({TABLE})"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::said;

    fn lab(path: &str, text: &str) -> Vec<String> {
        said(&CHECK, &[(&format!("crates/oversleep-lab/src/{path}"), text)])
    }

    #[test]
    fn a_room_may_use_itself_and_where_its_arrows_lead() {
        for (path, text) in [
            ("measure/waits.rs", "use crate::platform::Platform;\nuse oversleep_record::Nanos;\nuse super::rounds;"),
            ("platform/mod.rs", "use oversleep::Clock;\nuse crate::platform::sim;"),
            ("explain/slack.rs", "use oversleep_record::Series;\nuse std::fmt;\nuse serde::Serialize;"),
            ("emulate/mod.rs", "use crate::platform::sim::Tick;"),
            ("check.rs", "use crate::{measure, explain::findings, compare};\nuse oversleep::Clock;"),
        ] {
            assert!(lab(path, text).is_empty(), "{path}: {:?}", lab(path, text));
        }
    }

    #[test]
    fn every_other_arrow_is_refused() {
        for (path, text) in [
            ("measure/waits.rs", "use crate::explain::Finding;"),
            ("measure/waits.rs", "use oversleep::Clock;"),
            ("measure.rs", "use super::compare::median;"),
            ("measure/waits.rs", "use super::super::explain;"),
            ("explain/slack.rs", "fn f() { crate::platform::now() }"),
            ("explain/slack.rs", "use crate::{\n    explain::a,\n    measure::b,\n};"),
            ("explain/slack.rs", "#[cfg(test)]\nmod tests {\n    use super::super::super::measure;\n}"),
            ("compare/mod.rs", "use oversleep_lab::measure;"),
            ("platform/linux/mod.rs", "use crate::measure::round;"),
            ("platform/mod.rs", "use crate::check::Session;"),
            ("emulate/mod.rs", "use crate::platform::linux;"),
        ] {
            assert_eq!(lab(path, text).len(), 1, "{path}: {text}");
        }
        assert_eq!(
            lab("measure/waits.rs", "//! Waits.\nuse crate::explain::Finding;"),
            ["crates/oversleep-lab/src/measure/waits.rs:2: `measure` may not use `crate::explain::Finding`"]
        );
    }

    #[test]
    fn comments_and_strings_are_not_arrows() {
        assert!(lab("explain/a.rs", "// crate::measure::x\nconst A: &str = \"crate::measure::x\";").is_empty());
    }

    #[test]
    fn a_new_directory_needs_arrows() {
        assert_eq!(lab("cellar/mod.rs", ""), ["crates/oversleep-lab/src/cellar/mod.rs:1: `cellar` has no arrows"]);
        assert!(lab("session.rs", "").is_empty());
    }

    #[test]
    fn the_command_stays_off_the_platform_and_pictures_off_everything() {
        let cli = |path: &str, text: &str| said(&CHECK, &[(&format!("crates/oversleep-cli/src/{path}"), text)]);
        assert!(cli("picture/axis.rs", "use crate::picture::svg;\nuse std::fmt;").is_empty());
        assert_eq!(cli("picture/axis.rs", "use oversleep_record::Nanos;").len(), 1);
        assert_eq!(cli("picture/axis.rs", "use crate::args::Args;").len(), 1);
        assert_eq!(cli("run.rs", "use oversleep_lab::{check, platform::linux};").len(), 1);
        assert!(cli("run/mod.rs", "use oversleep_lab::check;\nuse crate::picture;").is_empty());
    }
}
