//! Everything that a reader sees of results with exact figures, word for word: a cell, a sentence or a picture that
//! changes is seen in the difference. `OVERSLEEP_UPDATE_GOLDEN=1` writes the texts again; read the difference before you
//! commit it. Of a picture the words are kept, and a digest of its shapes.

use std::path::PathBuf;

use oversleep_explain::compare::compare;
use oversleep_record::observed::SeenRuntime;
use oversleep_record::part::Part;
use oversleep_record::{Distribution, ResultFile, Series, label};

use super::{html_of, page_of};
use crate::terminal::{self, Detail};
use crate::view::comparison::{self, Sketch};
use crate::view::head;
use crate::view::testing::complete;

fn reads(name: &str, text: &str) {
    let text =
        text.replace(&format!("oversleep {}", env!("CARGO_PKG_VERSION")), "oversleep VERSION").replace('\x1b', "␛");
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let golden = here.join("tests/whole").join(name);
    if std::env::var_os("OVERSLEEP_UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap().replace("\r\n", "\n");
    let changed = text.lines().zip(expected.lines()).position(|(now, before)| now != before);
    let line = |text: &str| changed.and_then(|line| text.lines().nth(line).map(str::to_owned));
    assert_eq!(line(&text), line(&expected), "{name}, line {changed:?}");
    assert_eq!(text.lines().count(), expected.lines().count(), "{name}");
}

/// The same result with values that scatter, so that no two figures of a series are equal.
fn scattered(mut file: ResultFile) -> ResultFile {
    let scatter = |series: &mut Series| {
        let Some(p50) = series.distribution.p50().filter(|_| series.distribution.count() > 20) else { return };
        let parts = [(-100, 90), (0, 700), (40, 600), (90, 500), (160, 90), (370, 15), (900, 5)];
        let value = |(permille, count): (i64, u64)| (p50 + p50.abs() * permille / 1_000, count);
        series.distribution = Distribution::of_counts(parts.map(value));
        series.counts.recorded = series.distribution.count();
        series.counts.early = series.distribution.early_count();
    };
    file.series.iter_mut().for_each(scatter);
    file
}

/// FNV-1a.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A page as text: a line for each block or row, cells apart. Drawn widths, hidden texts, kinds of fields and what a head is
/// of are in brackets.
fn page(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tail)) = rest.split_once('<') {
        text += before;
        let (tag, tail) = tail.split_once('>').expect("a tag ends");
        let (name, attributes) = tag.split_once([' ', '\n']).unwrap_or((tag, ""));
        rest = tail;
        match name {
            "style" | "script" => rest = rest.split_once("</").expect("it ends").1.split_once('>').expect("a tag").1,
            "svg" => {
                let (svg, after) = rest.split_once("</svg>").expect("it ends");
                text += &format!("\n[picture {:016x}]\n", digest(svg));
                rest = after;
            }
            "/td" | "/th" => text += " | ",
            "span" | "b" | "strong" | "a" | "code" | "wbr" | "/span" | "/b" | "/strong" | "/a" | "/code" | "td"
            | "th" => {}
            _ => text.push('\n'),
        }
        for shown in ["aria-label=\"", "title=\"", "style=\"", "open=", "type=\"", "scope=\""] {
            if let Some((_, value)) = attributes.split_once(shown) {
                text += &format!("[{}]", value.split('"').next().unwrap_or_default());
            }
        }
    }
    let lines = text.lines().map(|line| line.trim().trim_end_matches('|').trim_end());
    lines.filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

#[test]
fn reports() {
    let file = scattered(complete().file);
    let texts =
        [(120, Detail::Full), (60, Detail::Brief)].map(|(width, detail)| terminal::report(&file, width, detail));
    reads("report.txt", &texts.join("----\n"));
    reads("report-page.txt", &page(&html_of(&file)));
}

#[test]
fn comparisons() {
    let results = [complete().file, scattered(complete().file)];
    let compared = compare(&results, head::machine);
    let names = ["a.json", "b.json"].map(str::to_owned);
    let view = comparison::view(&compared, &Sketch::of_all(&results), &names, true);
    reads("comparison.txt", &terminal::comparison(&view, 120));
    reads("comparison-page.txt", &page(&page_of(&view)));
}

fn recorded() -> ResultFile {
    let bytes = include_bytes!("../../../oversleep-why/tests/recorded/fifo.why");
    oversleep_why::session::replay(bytes).expect("a recording")
}

#[test]
fn a_runtimes_housekeeping_stands_below_the_programs_waits() {
    let mut file = recorded();
    let seen = SeenRuntime { name: "java".to_owned(), waits_for_own_lock: false };
    let mut of_runtime = file.series[0].clone();
    of_runtime.key = of_runtime.key.text("thread", "G1 Service");
    of_runtime.labels.set(label::THREAD, "G1 Service".to_owned());
    of_runtime.observed.as_mut().expect("it was observed").runtime = Some(seen.clone());
    file.series[0].observed.as_mut().expect("it was observed").runtime = Some(seen);
    file.series.insert(0, of_runtime);
    let report = terminal::report(&file, 100, Detail::Brief);
    let said = "120 more waits are the runtime's own housekeeping: the JVM's garbage collector G1.";
    assert!(report.contains(said) && report.contains("120 waits: p50"), "{report}");
    let own = report.find("clock_nanosleep  1 ms").expect("the program's waits");
    let rest = report.find("housekeeping of the runtime").expect("a table of its own");
    assert!(own < rest && report[rest..].contains("the JVM's garbage collector G1"), "{report}");
    let page = html_of(&file);
    assert!(
        page.contains("Housekeeping of the runtime") && page.contains(" for 1 ms (the JVM&#39;s garbage collector G1)")
    );
}

#[test]
fn observed_programs() {
    let everything = include_bytes!("../../../../schema/golden/why-v1/everything.json");
    let everything = ResultFile::read(everything).expect("a result");
    let mut less = recorded();
    for series in &mut less.series {
        let split = series.why.as_mut().expect("its waits are split");
        let rest = split.parts.remove(&Part::Runq).expect("they waited for a CPU");
        split.parts.insert(Part::Ret, rest);
    }
    let results = [recorded(), everything.clone(), less];
    let compared = compare(&results, head::machine);
    let names = ["a.json", "b.json", "c.json"].map(str::to_owned);
    let view = comparison::view(&compared, &Sketch::of_all(&results), &names, true);
    let texts = [recorded(), everything.clone()].map(|file| terminal::report(&file, 100, Detail::Full));
    reads("observed.txt", &texts.join("----\n"));
    reads("observed-comparison.txt", &terminal::comparison(&view, 100));
    let pages = [html_of(&recorded()), html_of(&everything), page_of(&view)];
    reads("observed-pages.txt", &pages.map(|html| page(&html)).join("----\n"));
}
