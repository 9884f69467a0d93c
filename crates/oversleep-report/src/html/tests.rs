//! The whole page: balanced, escaped, complete, and without external resources.

use std::collections::HashSet;

use oversleep_record::file::Completion;
use oversleep_record::testing::Sheet;
use oversleep_record::{FactName, ResultFile};

use crate::view::comparison::{self, Sketch};
use crate::view::pictures;
use crate::view::testing::{hostile, rich};

pub(super) fn html_of(file: &ResultFile) -> String {
    let mut page = Vec::new();
    super::report(file, &mut page).expect("memory takes everything");
    String::from_utf8(page).expect("pages are UTF-8")
}

pub(super) fn page_of(view: &comparison::View) -> String {
    let mut page = Vec::new();
    super::page_of(view, &mut page).expect("memory takes everything");
    String::from_utf8(page).expect("pages are UTF-8")
}

const VOID: [&str; 5] = ["meta", "link", "input", "wbr", "!DOCTYPE"];

/// Every tag in order: its name and its whole text. Panics if tags are not balanced.
fn tags(page: &str) -> Vec<(String, String)> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let tag = &rest[start + 1..start + rest[start..].find('>').expect("a tag ends")];
        rest = &rest[start + tag.len() + 2..];
        let name: String = tag.trim_start_matches('/').chars().take_while(|letter| !" />".contains(*letter)).collect();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()), "</{name}>");
        } else {
            if !tag.ends_with('/') && !VOID.contains(&name.as_str()) {
                open.push(name.clone());
            }
            all.push((name, tag.to_owned()));
        }
    }
    assert!(open.is_empty(), "{open:?}");
    all
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let from = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    tag[from..].split('"').next()
}

fn every_result() -> Vec<ResultFile> {
    let mut modelled = rich().file;
    modelled.platform.modelled = Some("windows-10-2004".into());
    modelled.completion = Completion::Interrupted;
    vec![rich().file, hostile(), Sheet::linux().file, modelled]
}

#[test]
fn pages_are_balanced_and_ids_are_unique() {
    for file in every_result() {
        let page = html_of(&file);
        let tags = tags(&page);
        let ids: Vec<&str> = tags.iter().filter_map(|(_, tag)| attribute(tag, "id")).collect();
        let unique: HashSet<&str> = ids.iter().copied().collect();
        for id in &ids {
            assert_eq!(ids.iter().filter(|other| *other == id).count(), 1, "{id}");
            assert!(!id.contains(' '), "{id}");
        }
        for (_, tag) in &tags {
            let points = [attribute(tag, "aria-labelledby"), attribute(tag, "for")];
            for id in points.into_iter().flatten().flat_map(str::split_whitespace) {
                assert!(unique.contains(id), "{id}");
            }
            if let Some(place) = attribute(tag, "href").and_then(|href| href.strip_prefix('#')) {
                assert!(unique.contains(place), "{place}");
            }
        }
    }
}

#[test]
fn what_pictures_say_can_be_read_without_a_pointer_and_without_their_width() {
    let page = html_of(&rich().file);
    let figures: Vec<&str> = page.split("<figure").skip(1).filter_map(|rest| rest.split("</figure>").next()).collect();
    assert!(figures.len() > 3);
    for figure in figures {
        let (before, rest) = figure.split_once("<svg").expect("a picture");
        let (svg, after) = rest.split_once("</svg>").expect("it ends");
        let name = svg.split("-title\">").nth(1).and_then(|rest| rest.split("</title>").next()).expect("a name");
        let heading = before.split("<h3>").nth(1).and_then(|rest| rest.split("</h3>").next()).expect("a heading");
        let finding = before.split("aria-hidden=\"true\">").nth(1).and_then(|rest| rest.split("</p>").next());
        let finding = finding.expect("a finding");
        assert!(name.starts_with(heading) && name.ends_with(finding) && !finding.is_empty(), "{name}");
        let tips: Vec<&str> = svg.split("<title>").skip(1).filter_map(|rest| rest.split("</title>").next()).collect();
        assert!(tips.iter().all(|tip| after.contains(&format!("<li>{tip}</li>"))), "{tips:?}");
        assert_eq!(after.contains("<details "), !tips.is_empty());
    }
}

#[test]
fn no_text_of_a_result_becomes_markup() {
    let page = html_of(&hostile());
    let tags = tags(&page);
    assert!(tags.iter().all(|(name, _)| name != "img"));
    let scripts: Vec<&String> = tags.iter().filter(|(name, _)| name == "script").map(|(_, tag)| tag).collect();
    assert_eq!(scripts, ["script type=\"application/json\" id=\"result\""]);
    assert!(!page.contains('\u{1b}'));
    let turned = page.find('\u{202e}').map(|at| &page[at.saturating_sub(80)..at]);
    assert_eq!(turned, None, "nothing turns the direction of writing");
    for picture in pictures::all(&hostile()) {
        assert!(self::tags(&picture.forms.alone).iter().all(|(name, _)| name != "img" && name != "script"));
    }
}

#[test]
fn nothing_is_loaded() {
    for file in every_result() {
        for (name, tag) in tags(&html_of(&file)) {
            assert!(attribute(&tag, "src").is_none() && attribute(&tag, "srcset").is_none(), "{tag}");
            let href = attribute(&tag, "href").unwrap_or("#");
            assert!(href.starts_with('#') || name == "a" || (name == "link" && href == "data:,"), "{tag}");
            let mut attributes = tag.split(' ').filter_map(|word| word.split_once("=\"")).map(|(name, _)| name);
            assert!(attributes.all(|name| !name.starts_with("on")), "{tag}");
            assert!(
                attribute(&tag, "style")
                    .is_none_or(|style| ["width:", "fill:"].iter().any(|own| style.starts_with(own))),
                "{tag}"
            );
        }
    }
}

#[test]
fn the_page_has_its_landmarks_and_headings_in_order() {
    let page = html_of(&rich().file);
    let tags = tags(&page);
    for name in ["header", "nav", "main", "footer", "h1"] {
        assert_eq!(tags.iter().filter(|(tag, _)| tag == name).count(), 1, "{name}");
    }
    let levels: Vec<u8> =
        tags.iter().filter_map(|(name, _)| name.strip_prefix('h').and_then(|level| level.parse::<u8>().ok())).collect();
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
    let count = |name: &str| tags.iter().filter(|(tag, _)| tag == name).count();
    assert_eq!(count("table"), count("caption"));
    assert_eq!(count("figure"), count("figcaption"));
    assert_eq!(count("figure"), pictures::all(&rich().file).len());
    assert!(tags.iter().filter(|(name, _)| name == "th").all(|(_, tag)| tag.contains("scope=\"")));
}

#[test]
fn a_model_stays_in_view_and_an_interruption_stands_at_the_top() {
    let mut file = rich().file;
    file.platform.modelled = Some("windows-10-2004".into());
    file.completion = Completion::Interrupted;
    let page = html_of(&file);
    let (header, rest) = page.split_once("</header>").expect("a header");
    assert!(header.contains("Interrupted: the run was stopped early."));
    assert!(header.contains("oversleep check (modelled: windows-10-2004)</h1>"));
    assert!(rest.starts_with("<nav class=\"bar\" aria-label=\"On this page\"><div class=\"wide\">"));
    let (bar, body) = rest.split_once("</nav>").expect("a bar");
    assert!(bar.contains("<strong class=\"mark\">modelled: windows-10-2004</strong>"));
    assert_eq!(body.matches("modelled: windows-10-2004").count(), 0, "what is true of all stands once");
    assert!(super::style::sheet().contains(".bar{position:sticky;top:0;"));
}

#[test]
fn a_page_shows_one_form_of_each_picture_and_describes_it_once() {
    let page = html_of(&rich().file);
    let pictures = pictures::all(&rich().file);
    let count = |text: &str| page.matches(text).count();
    assert_eq!(
        (count("<div class=\"form-wide\">"), count("<div class=\"form-narrow\">")),
        (pictures.len(), pictures.len())
    );
    assert_eq!(count("<desc id="), pictures.len());
    assert_eq!((count("viewBox=\"0 0 600 "), count("viewBox=\"0 0 340 ")), (pictures.len(), pictures.len()));
    for picture in &pictures {
        assert!(!picture.forms.narrow.contains("<title"), "{}: a phone has no pointer", picture.name);
        assert!(picture.forms.alone.contains("<style>") && !picture.forms.wide.contains("<style>"), "{}", picture.name);
    }
}

#[test]
fn a_report_begins_with_its_figures() {
    let page = html_of(&rich().steady("A1/std-instant", 31_000).file);
    let figures =
        page.split("<ul class=\"headlines\">").nth(1).and_then(|rest| rest.split("</ul>").next()).expect("them");
    let strong: Vec<&str> =
        figures.split("<strong>").skip(1).filter_map(|rest| rest.split("</strong>").next()).collect();
    assert_eq!(strong[..2], ["1.07\u{a0}ms", "24\u{a0}ns"]);
    assert_eq!(strong[2], "66.1\u{a0}µs\u{a0}→\u{a0}14.2\u{a0}µs (−79\u{a0}%)");
    assert!(figures.contains("Largest cost: timer slack") && figures.contains("Set the timer slack"));
}

#[test]
fn the_result_is_embedded_and_reads_back() {
    let file = hostile();
    let page = html_of(&file);
    let data = page.split("id=\"result\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("embedded");
    assert_eq!(ResultFile::read(data.as_bytes()).expect("a result"), file);
}

#[test]
fn an_empty_result_is_a_page_too() {
    let page = html_of(&Sheet::linux().file);
    assert!(page.contains("Nothing was measured.") && page.contains("Nothing found; "));
    assert!(!page.contains("<figure") && !page.contains("href=\"#pictures\""));
}

#[test]
fn a_comparison_is_balanced_escaped_and_complete() {
    let results = [hostile(), rich().file, Sheet::windows().text(FactName::OsWineVersion, "<8.0>").file];
    let compared = oversleep_explain::compare::compare(&results, crate::view::head::machine);
    let names = ["<script>a.json".to_owned(), "b.json".to_owned(), "c.json".to_owned()];
    let page = page_of(&comparison::view(&compared, &Sketch::of_all(&results), &names, true));
    let ids: Vec<String> = tags(&page).iter().filter_map(|(_, tag)| attribute(tag, "id").map(str::to_owned)).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{ids:?}");
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;a.json"));
    assert!(page.contains("C under Wine &lt;8.0&gt;)"));
    // The same picture of two results stands in one row; hostile text in one of them makes no difference.
    let rows: Vec<&str> = page.split("<div class=\"beside\">").skip(1).collect();
    let kinds = pictures::all(&results[1]);
    let of_hostile = pictures::all(&results[0]);
    let is_of_both = |picture: &&pictures::Picture| of_hostile.iter().any(|other| other.kind == picture.kind);
    assert!(kinds.iter().filter(is_of_both).count() > 5);
    for picture in kinds.iter().filter(is_of_both) {
        let figure = |letter: &str| format!("id=\"picture-{letter}-{}", picture.kind);
        assert!(rows.iter().any(|row| row.contains(&figure("a")) && row.contains(&figure("b"))), "{}", picture.kind);
    }
    let page = page.replace("<wbr>", "");
    for series in &results[1].series {
        assert!(page.contains(series.key.as_str()), "{}", series.key);
    }
}

#[test]
fn a_comparison_begins_with_how_much_differs() {
    let sheet = |sleep, read| Sheet::linux().steady("B5/nanosleep/1ms", sleep).steady("A1/tsc", read).file;
    let results = [sheet(66_000, 9_000), sheet(16_000, 9_000)];
    let compared = oversleep_explain::compare::compare(&results, crate::view::head::machine);
    let page = page_of(&comparison::view(&compared, &Sketch::of_all(&results), &[], true));
    let (_, conclusion) = page.split_once("id=\"conclusion\"").expect("a conclusion");
    let figures = conclusion.split("<strong>").skip(1).filter_map(|rest| rest.split("</strong>").next());
    assert_eq!(figures.take(2).collect::<Vec<_>>(), ["1 of 2", "66\u{a0}µs → 16\u{a0}µs"]);
    assert!(
        conclusion.contains("Lateness of nanosleep 1 ms") && conclusion.contains("24\u{a0}% of A&#39;s lateness"),
        "{conclusion}"
    );
}

#[test]
fn what_must_not_be_concluded_stands_directly_below_the_conclusion() {
    let modelled = |late| {
        let mut file = Sheet::linux().steady("B5/nanosleep/1ms", late).file;
        file.platform.modelled = Some("linux-hz250".into());
        file
    };
    let results = [modelled(66_000), modelled(16_000)];
    let compared = oversleep_explain::compare::compare(&results, crate::view::head::machine);
    let page = page_of(&comparison::view(&compared, &Sketch::of_all(&results), &[], true));
    let (header, rest) = page.split_once("</header>").expect("a header");
    let (_, after) = rest.split_once("class=\"headlines\"").expect("figures");
    let (below, _) = after.split_once("<p class=\"lead\">").expect("sentences");
    assert!(!header.contains("class=\"warning\""), "{header}");
    assert!(below.contains("<p class=\"warning\" role=\"note\">A, B: these are the figures of a model"), "{below}");
    assert!(!page.contains("what differs most"), "the headlines say it");
}

#[test]
fn rows_with_sentences_are_blocks_where_a_column_has_no_room() {
    let rows = |rule: &'static str, count: u32| {
        let columns = crate::view::table::Columns::new().words("machine", |_: &u32| "a").words("rule", move |_| rule);
        let table = columns.table("Rules", 0..count).expect("a row");
        let mut page = Vec::new();
        let mut m = super::markup::Markup::to(&mut page);
        super::tables::draw(&mut m, &table, "");
        m.finish().expect("memory takes everything");
        String::from_utf8(page).expect("text")
    };
    let drawn = |rule| rows(rule, 1);
    let sentence = "the wait ends within 50 µs of timer slack after it is due";
    let long = drawn(sentence);
    assert!(long.contains("class=\"blocks\"") && long.contains("data-head=\"rule\""), "{long}");
    assert!(!drawn("rounds up").contains("blocks"));
    assert!(!drawn("rounds up to the next ms").contains("blocks"), "a short name leaves room");
    let many = rows(sentence, 9);
    assert!(many.contains("class=\"blocks long\"") && many.contains(" All 9 rows</label>"), "{many}");
    let hidden = format!(".long tbody tr:nth-child(n+{})", super::tables::BLOCKS_OPEN + 1);
    assert!(super::style::sheet().contains(&hidden), "a phone shows the first ones");
    assert!(!rows(sentence, 8).contains("All 8 rows"), "two more are shown at once");
}

/// A figure off the screen of a phone is easily missed, so no table of waits scrolls sideways there.
#[test]
fn rows_wider_than_a_phone_are_blocks_and_say_what_tells_those_of_one_name_apart() {
    let drawn = |policies: &[&'static str]| {
        let columns = crate::view::table::Columns::new()
            .words("wait", |_: &&'static str| "sleep")
            .figure("requested", |_| "1 ms")
            .words("conditions", |policy| *policy)
            .figure("min", |_| "14.5 ms")
            .figure("p50", |_| "14.6 ms")
            .figure("max", |_| "15.6 ms");
        let table = columns.table("Lateness", policies.iter().copied()).expect("rows");
        let mut page = Vec::new();
        let mut m = super::markup::Markup::to(&mut page);
        super::tables::draw(&mut m, &table, "");
        m.finish().expect("memory takes everything");
        String::from_utf8(page).expect("text")
    };
    let two = drawn(&["policy normal", "policy idle"]);
    assert!(two.contains("class=\"blocks\"") && two.contains("data-head=\"max\""), "{two}");
    assert_eq!(two.matches("class=\"any key\"").count(), 2, "{two}");
    assert!(!drawn(&["policy normal"]).contains("key"), "one row needs nothing to tell it apart");
}

#[test]
fn a_cost_shows_what_helped_and_collapses_the_rest() {
    let page = html_of(&rich().file);
    let (_, slack) = page.split_once("id=\"finding-ovs-l001\"").expect("timer slack");
    let slack = slack.split("</article>").next().expect("a card");
    let (open, rest) = slack.split_once("Other remedies: ").expect("others");
    assert!(open.contains("class=\"tried helped\"") && !rest.contains("class=\"tried helped\""), "{slack}");
}
