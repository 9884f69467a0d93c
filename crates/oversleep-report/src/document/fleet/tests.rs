//! What the documents of a fleet say.

use std::sync::LazyLock;

use oversleep_lab::fleet::simulated::{Plan, START_UNIX_S, each};
use oversleep_lab::fleet::{Collector, Fleet, Interval, Kind, Stretch};
use oversleep_record::{Distribution, Nanos};

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
    // Commands are code, and no line is broken within an option.
    let without = ["<code>", "</code>", "<span class=\"name\">", "</span>", "<wbr>"];
    let page = without.iter().fold(page, |page, mark| page.replace(mark, ""));
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('`', "");
    assert_eq!(FLEET.findings.len(), 4);
    for finding in &FLEET.findings {
        for sentence in [&finding.sentence, &finding.next_step] {
            assert!(plain.contains(sentence.as_str()), "{sentence}");
            assert!(page.contains(&escaped(sentence)), "{sentence}");
        }
        assert!(String::from_utf8(bytes(&*FLEET, &MARKDOWN, &Layout::default())).unwrap().contains(finding.name));
    }
    assert!(page.contains("<h3>Host late at certain hours <span class=\"id\">OVS-F002</h3>"), "a heading each");
    assert!(page.contains("<summary>90 more rows</summary>"), "the hosts that are like their groups are collapsed");
    assert!(page.contains("<h2 id=\"heading-wait-2\">poll(1 ms)</h2>"), "a part of the page for each wait");
    assert!(!page.contains('`'), "a command is code");
    assert!(!page.contains("<script"), "nothing runs");
    assert!(!page.contains("http://") || page.contains("www.w3.org"), "nothing loads");
}

#[test]
fn data_have_a_row_for_each_finding_and_all_hosts() {
    let csv = String::from_utf8(bytes(&*FLEET, &CSV, &Layout::default())).unwrap();
    assert_eq!(csv.lines().count(), 1 + FLEET.findings.len(), "{csv}");
    let sheet = crate::document::Subject::sheet(&*FLEET);
    let heads: Vec<String> = sheet.heads.iter().map(ToString::to_string).collect();
    for (row, finding) in sheet.rows.zip(&FLEET.findings) {
        let field = |head: &str| row[heads.iter().position(|name| name == head).unwrap()].as_str();
        let ratio = |of: fn(Interval) -> f64| finding.ratio.map(|ratio| of(ratio).to_string()).unwrap_or_default();
        assert_eq!((field("id"), field("name")), (finding.id, finding.name));
        assert_eq!(field("ratio"), ratio(|ratio| ratio.value));
        assert_eq!(field("ratio_low"), ratio(|ratio| ratio.low));
        assert_eq!(field("ratio_high"), ratio(|ratio| ratio.high));
        assert_eq!((field("sentence"), field("next_step")), (finding.sentence.as_str(), finding.next_step.as_str()));
    }
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
fn a_selection_without_waits_says_what_to_do_and_has_no_date() {
    let empty = Collector::new().judge();
    let text = String::from_utf8(bytes(&empty, &TEXT, &Layout { width: 80, ..Layout::default() })).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("No row is selected") && text.contains("`oversleep archive add DIR FILES`"), "{text}");
    assert!(text.contains("`oversleep archive query DIR 'rows machines by day'`") && !text.contains("1970"), "{text}");
}

/// Twelve hosts with a result each day, of so many waits.
fn daily(waits: u64) -> Fleet {
    let kind = Kind {
        os: "linux".to_owned(),
        processor: Some("AMD EPYC 7B13".to_owned()),
        cpus: Some(32),
        hypervisor: Some("kvm".to_owned()),
    };
    let mut collector = Collector::new();
    for (day, host) in (0..7_i64).flat_map(|day| (0..12_i64).map(move |host| (day, host))) {
        collector.add(&Stretch {
            host: &format!("web-{host:02}.a-name-as-long-as-those-of-clouds.eu-west-1.compute.internal"),
            kind: &kind,
            kernel: Some("6.1.0"),
            settings: &[],
            wait: "nanosleep",
            requested: Some(Nanos::from_millis(1)),
            taken_unix_s: START_UNIX_S + day * 86_400,
            lateness: &Distribution::of_equal(60_000 + host * 500 + (host * 5 + day * 3) % 7 * 90, waits),
            steal_share: None,
        });
    }
    collector.judge()
}

#[test]
fn what_could_not_be_judged_is_named_with_what_it_takes() {
    let text = |fleet: &Fleet| {
        let layout = Layout { width: 120, detail: Detail::Full, ..Layout::default() };
        let text = without_styles(&String::from_utf8(bytes(fleet, &TEXT, &layout)).unwrap());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let few = text(&daily(200));
    for sentence in [
        "Checked, not found: host-unlike-its-group (p50), lateness-changed-with-a-fact (no host changed a fact).",
        "Not judged: host-unlike-its-group and host-late-at-certain-hours (p99): they take 1,000 waits of a host in six \
         hours, which none of 12 hosts has (usual are 200): let `oversleep serve` run there, or wait more often.",
        "Not judged: hypervisor-takes-time-from-a-group (AMD EPYC 7B13, 32 CPUs, kvm): it takes 10 hosts of a kind whose \
         steal is known, and it has 0.",
    ] {
        assert!(few.contains(sentence), "{sentence}\n{few}");
    }
    assert!(text(&daily(1_200)).contains("Checked, not found: host-unlike-its-group (p50, p99), "));
}

#[test]
fn where_no_p99_is_known_pictures_and_tables_show_p50_and_say_why() {
    let page = String::from_utf8(bytes(&daily(200), &HTML, &Layout::default())).unwrap().replace('\u{a0}', " ");
    if let Some(path) = std::env::var_os("OVERSLEEP_FLEET_PAGE") {
        std::fs::write(std::path::Path::new(&path).with_extension("daily.html"), &page).unwrap();
    }
    for sentence in [
        "p50 of nanosleep(1 ms) by day, of the median host of each kind",
        "p50 at night and by day (hours in UTC)",
        "This is p50, because p99 takes 1,000 waits of a host in six hours.",
    ] {
        assert!(page.contains(sentence), "{sentence}");
    }
    assert!(!page.contains("Not enough data"));
}
