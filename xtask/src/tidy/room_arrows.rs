//! Inside a crate, the dependencies between rooms follow [`HOUSES`]. Found from the paths in the code, not from
//! comments or strings. A room is a module of its house, which is a crate or one module of it; the house's other modules
//! combine rooms, so no room may use one of those.

use super::Check;
use super::finding::Findings;
use super::paths::{self, PathUse};
use crate::arrows::{HOUSES, House, Room};
use crate::tree::{File, Tree};

pub const CHECK: Check = Check { name: "room-arrows", about: "each room uses only the rooms arrows.rs lets it", run };

const TABLE: &str = "xtask/src/arrows/mod.rs";

fn run(tree: &Tree, findings: &mut Findings) {
    for house in HOUSES {
        for file in tree.rust_files() {
            let Some(below) = file.path.strip_prefix(house.src).and_then(|p| p.strip_prefix('/')) else { continue };
            let module = paths::module_of(below);
            let Some(top) = in_house(house, &module) else { continue };
            if let Some(room) = house.rooms.iter().find(|room| room.name == top) {
                check_file(file, house, room, &module, findings);
            }
        }
    }
}

fn check_file(file: &File, house: &House, room: &Room, module: &[String], findings: &mut Findings) {
    for path in paths::uses(file.source(), module) {
        if !may_use(house, room, &path) {
            let written = path.segments.join("::");
            let what = format!("`{}` may not use `{written}`", room.name);
            let remedy = format!("have a module at the crate's top bring the two together, or change {TABLE}");
            findings.add(&file.path, path.line, what, remedy);
        }
    }
}

fn may_use(house: &House, room: &Room, path: &PathUse) -> bool {
    let Some(first) = path.segments.first().map(String::as_str) else { return true };
    if first == "oversleep" || first.starts_with("oversleep_") {
        return room.uses_crates;
    }
    if first != "crate" {
        return true;
    }
    let Some(to) = in_house(house, &path.segments[1..]) else { return true };
    let root = if house.within.is_empty() { "crate".to_owned() } else { format!("crate::{}", house.within) };
    to == room.name
        || house.shared.contains(&to)
        || room.rooms.iter().any(|to| leads_to(path, &format!("{root}::{to}")))
}

/// Which module of the house a path from the crate's root is in; `None` outside the house.
fn in_house<'a>(house: &House, path: &'a [String]) -> Option<&'a str> {
    let (first, rest) = path.split_first()?;
    match house.within {
        "" => Some(first),
        within if first == within => rest.first().map(String::as_str),
        _ => None,
    }
}

/// Whether `target` is a prefix of the path, by whole segments.
fn leads_to(path: &PathUse, target: &str) -> bool {
    let target: Vec<&str> = target.split("::").collect();
    path.segments.len() >= target.len() && path.segments.iter().zip(&target).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    fn report(path: &str, text: &str) -> Vec<String> {
        found_by(&CHECK, &[(&format!("crates/oversleep-report/src/{path}"), text)])
    }

    #[test]
    fn a_room_may_use_itself_and_where_its_arrows_lead() {
        for (path, text) in [
            ("picture/axis.rs", "use crate::picture::svg;\nuse std::fmt;\nuse super::scale;"),
            ("view/mod.rs", "use crate::{picture, view::table};\nuse oversleep_record::Series;"),
            ("html/page.rs", "use crate::view::Section;\nuse crate::picture::Picture;"),
            ("terminal/mod.rs", "use crate::words::percent;\nuse anstyle::Style;"),
            ("testing/mod.rs", "use crate::{html, terminal};\nuse oversleep_record::ResultFile;"),
        ] {
            assert!(report(path, text).is_empty(), "{path}: {:?}", report(path, text));
        }
    }

    #[test]
    fn every_other_arrow_is_found() {
        for (path, text) in [
            ("picture/axis.rs", "use oversleep_record::Nanos;"),
            ("picture/axis.rs", "use crate::view::Section;"),
            ("picture/axis.rs", "use super::super::html;"),
            ("view/mod.rs", "fn f() { crate::terminal::width() }"),
            ("view/mod.rs", "use crate::{\n    picture::a,\n    html::b,\n};"),
            ("html/page.rs", "#[cfg(test)]\nmod tests {\n    use super::super::super::terminal;\n}"),
            ("terminal.rs", "use super::html::page;"),
        ] {
            assert_eq!(report(path, text).len(), 1, "{path}: {text}");
        }
        assert_eq!(
            report("view/table.rs", "//! Tables.\nuse crate::html::Page;"),
            ["crates/oversleep-report/src/view/table.rs:2: `view` may not use `crate::html::Page`"]
        );
        let model = ("crates/oversleep-model/src/sim/mod.rs", "use crate::machines::load;");
        assert_eq!(found_by(&CHECK, &[model]).len(), 1);
    }

    #[test]
    fn the_rooms_of_a_module_may_use_what_is_outside_it() {
        let found =
            |path: &str, text: &str| found_by(&CHECK, &[(&format!("crates/oversleep-emulate/src/linux/{path}"), text)]);
        for text in ["use crate::plan::Plan;", "use crate::linux::process::lock;", "use super::trampoline;"] {
            assert!(found("code/inject.rs", text).is_empty(), "{text}");
        }
        for text in ["use crate::linux::calls::entry;", "use super::super::emulated::shared;"] {
            assert_eq!(found("code/inject.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn comments_and_strings_are_not_arrows() {
        assert!(report("picture/a.rs", "// crate::view::x\nconst A: &str = \"crate::view::x\";").is_empty());
    }
}
