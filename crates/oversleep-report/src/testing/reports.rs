//! Every report of results, and its invariants for any contents. The ordinary tests and a fuzz target share it.

use std::collections::HashSet;

use oversleep_explain::compare::compare;
use oversleep_record::ResultFile;

use super::{html_of, page_of};
use crate::terminal;
use crate::terminal::Detail;
use crate::view::comparison::{self, Sketch};
use crate::view::{head, pictures};

/// Elements without an end.
const VOID: [&str; 5] = ["meta", "link", "input", "wbr", "!DOCTYPE"];
/// Attributes of drawings that are figures.
const FIGURES: [&str; 14] =
    ["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "d", "width", "height", "points", "viewBox"];

/// Draws these results one by one, and compared with the first of them.
pub fn draw_all(results: &[ResultFile]) {
    for file in results {
        for width in [1, 60, 100, usize::MAX] {
            look_at_text(&terminal::report(file, width, Detail::Full), width);
        }
        look_at_text(&terminal::report(file, 100, Detail::Brief), 100);
        look_at_page(&html_of(file));
        let pictures = pictures::all(file);
        let names: HashSet<&str> = pictures.iter().map(|picture| picture.name.as_str()).collect();
        assert_eq!(names.len(), pictures.len(), "each picture has a file of its own");
        for pictures::Picture { name, forms, .. } in &pictures {
            assert!(!name.is_empty() && !name.contains(['/', '\\', '\0', ':']), "{name:?} is not a file name");
            [&forms.alone, &forms.wide, &forms.narrow].into_iter().for_each(|svg| _ = look_at_tags(svg));
        }
    }
    let compared = compare(results, head::machine);
    let names: Vec<String> = (0..results.len()).map(|place| format!("{place}<.json")).collect();
    for full in [false, true] {
        let view = comparison::view(&compared, &Sketch::of_all(results), &names, full);
        look_at_text(&terminal::comparison(&view, 80), 80);
        look_at_page(&page_of(&view));
    }
}

/// Draws a result in one form, which is faster than in all of them. Pages are the slowest, so they are the rarest.
pub fn draw_one(form: u8, file: ResultFile, other: ResultFile) {
    match form % 16 {
        0..=4 => look_at_text(&terminal::report(&file, 100, Detail::Full), 100),
        5..=7 => look_at_text(&terminal::report(&file, 60, Detail::Brief), 60),
        8 => look_at_page(&html_of(&file)),
        9 => _ = look_at_tags(&html_of(&file)),
        10 | 11 => pictures::all(&file).iter().for_each(|picture| _ = look_at_tags(&picture.forms.alone)),
        _ => {
            let results = [other, file];
            let compared = compare(&results, head::machine);
            let view =
                comparison::view(&compared, &Sketch::of_all(&results), &["0<.json".to_owned(), "1".to_owned()], true);
            match form % 16 {
                15 => look_at_page(&page_of(&view)),
                _ => look_at_text(&terminal::comparison(&view, 80), 80),
            }
        }
    }
}

/// Checks that there are only lines of that width and this crate's styles, each of which ends.
fn look_at_text(styled: &str, width: usize) {
    let width = width.clamp(40, 160);
    for line in styled.lines() {
        let mut columns = 0;
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            if letter == '\u{1b}' {
                let style: String = letters.by_ref().take_while(|&letter| letter != 'm').collect();
                assert!(["[0", "[1", "[2", "[31", "[32", "[33"].contains(&style.as_str()), "{style:?} in {line:?}");
            } else {
                assert!(!letter.is_control() && letter != '\u{202e}', "{letter:?} in {line:?}");
                columns += 1;
            }
        }
        assert!(columns <= width, "{columns} of {width} columns: {line}");
        assert!(!line.contains('\u{1b}') || line.ends_with("\u{1b}[0m") || line.contains("\u{1b}[0m"), "{line:?}");
    }
}

fn look_at_page(page: &str) {
    let tags = look_at_tags(page);
    let scripts = tags.iter().filter(|tag| tag.starts_with("script"));
    assert!(scripts.clone().count() <= 1 && scripts.clone().all(|tag| tag.contains("application/json")), "{scripts:?}");
    assert!(!page.contains(['\u{1b}', '\0', '\u{202e}']));
    if let Some(data) = page.split("id=\"result\">").nth(1).and_then(|rest| rest.split("</script>").next()) {
        ResultFile::read(data.as_bytes()).expect("what is embedded is read");
    }
}

/// Returns every start tag. Checks that tags are balanced, ids are unique, and figures are numbers.
fn look_at_tags(page: &str) -> Vec<&str> {
    let (mut open, mut all, mut ids) = (Vec::new(), Vec::new(), HashSet::new());
    for rest in page.split('<').skip(1) {
        let tag = rest.split('>').next().unwrap_or_default();
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
            continue;
        }
        assert!(name != "img" && name != "iframe", "{tag}");
        if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
        all.push(tag);
        for (attribute, value) in attributes(tag) {
            assert!(!attribute.starts_with("on"), "{tag}");
            assert!(attribute != "id" || ids.insert(value), "{value} twice");
            let is_figure = FIGURES.contains(&attribute);
            assert!(!is_figure || !(value.contains("NaN") || value.contains("inf")), "{tag}");
        }
    }
    assert!(open.is_empty(), "{open:?}");
    all
}

fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut quoted = tag.split('"');
    std::iter::from_fn(move || {
        let name = quoted.next()?.rsplit(' ').next()?.strip_suffix('=')?;
        Some((name, quoted.next()?))
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::damaged;

    use super::*;
    use crate::view::testing::{hostile, rich};

    /// The same edits in every run.
    #[test]
    fn whatever_a_result_holds_it_can_be_drawn() {
        let mut state = 7_u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let mut drawn = 0;
        for good in [rich().file, hostile()] {
            for _ in 0..8 {
                let edits: Vec<u8> = (0..32).map(|_| byte()).collect();
                let Some(mut file) = damaged(&good, &edits) else { continue };
                file.findings = oversleep_explain::findings(&file);
                draw_all(&[good.clone(), file]);
                drawn += 1;
            }
        }
        assert!(drawn >= 4, "{drawn} of 16 are results");
    }
}
