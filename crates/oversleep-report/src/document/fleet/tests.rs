//! What the documents of a fleet say.

use std::sync::LazyLock;

use oversleep_lab::fleet::simulated::{Plan, each};
use oversleep_lab::fleet::{Collector, Fleet};

use crate::document::{CSV, HTML, JSON, Layout, MARKDOWN, TEXT, bytes};
use crate::terminal::{Detail, without_styles};

/// Enough hosts for every finding.
static FLEET: LazyLock<Fleet> = LazyLock::new(|| {
    let mut collector = Collector::new();
    each(&Plan { hosts: 160, ..Plan::WEEK }, &mut |stretch| collector.add(stretch)).unwrap();
    collector.judge()
});

fn text(width: usize, detail: Detail) -> String {
    without_styles(&String::from_utf8(bytes(&*FLEET, &TEXT, &Layout { width, detail, ..Layout::default() })).unwrap())
}

#[test]
fn a_fleet_reads_like_this() {
    insta::assert_snapshot!("fleet-80", text(80, Detail::Brief));
}

#[test]
fn the_page_and_the_terminal_say_the_same_sentences() {
    let page = String::from_utf8(bytes(&*FLEET, &HTML, &Layout::default())).unwrap();
    if let Some(path) = std::env::var_os("OVERSLEEP_FLEET_PAGE") {
        std::fs::write(path, &page).unwrap();
    }
    // Lines are broken, and blanks between a figure and its unit are bound.
    let flat = |text: &str| text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let (page, plain) = (flat(&page), flat(&text(100, Detail::Full)));
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    assert_eq!(FLEET.findings.len(), 4);
    for finding in &FLEET.findings {
        for sentence in [&finding.sentence, &finding.next_step] {
            assert!(plain.contains(sentence.as_str()), "{sentence}");
            assert!(page.contains(&escaped(sentence)), "{sentence}");
        }
        assert!(String::from_utf8(bytes(&*FLEET, &MARKDOWN, &Layout::default())).unwrap().contains(finding.name));
    }
    assert!(!page.contains("<script"), "nothing runs");
    assert!(!page.contains("http://") || page.contains("www.w3.org"), "nothing loads");
}

#[test]
fn data_have_a_row_for_each_finding_and_all_hosts() {
    let csv = String::from_utf8(bytes(&*FLEET, &CSV, &Layout::default())).unwrap();
    assert_eq!(csv.lines().count(), 1 + FLEET.findings.len(), "{csv}");
    let json: serde_json::Value = serde_json::from_slice(&bytes(&*FLEET, &JSON, &Layout::default())).unwrap();
    assert_eq!(json["schema"], "oversleep-fleet/1");
    assert_eq!(json["host_rows"].as_array().unwrap().len(), 160);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [40, 80, 120] {
        for line in text(width, Detail::Full).lines() {
            assert!(crate::terminal::text::columns(line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn no_figure_is_left_out_on_any_width() {
    let view = crate::document::Subject::view(&*FLEET, Detail::Brief);
    let tables: Vec<_> = view.sections.iter().flat_map(|section| &section.tables).collect();
    assert!(tables.len() >= 6);
    for width in [60, 80, 120] {
        let text = text(width, Detail::Brief);
        for table in &tables {
            for (at, column) in table.columns.iter().enumerate() {
                let words = column.head.split(' ');
                assert!(words.clone().all(|word| text.contains(word)), "{width}: {}", column.head);
                for row in table.rows.iter().filter(|_| column.kind == crate::view::table::Kind::Figure) {
                    assert!(text.contains(&row[at].text), "{width}: {} {}", column.head, row[at].text);
                }
            }
        }
    }
}

#[test]
fn an_archive_without_waits_says_what_to_do() {
    let empty = Collector::new().judge();
    let text = String::from_utf8(bytes(&empty, &TEXT, &Layout { width: 80, ..Layout::default() })).unwrap();
    assert!(text.contains("Add results with `oversleep archive add DIR FILES`"), "{text}");
}
