//! The whole report: exact, and safe whatever a result holds.

use oversleep_record::file::Completion;
use oversleep_record::testing::{Sheet, rounds};
use oversleep_record::{ResultFile, Unavailable};

use super::text::columns;
use crate::view::overview;
use crate::view::testing::{hostile, rich};

/// The text without its styles.
pub fn plain(styled: &str) -> String {
    let mut text = String::new();
    let mut letters = styled.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            letters.by_ref().find(|letter| letter.is_ascii_alphabetic());
        } else {
            text.push(letter);
        }
    }
    text
}

fn report(file: &ResultFile, width: usize) -> String {
    plain(&super::report(file, width, super::Detail::Full))
}

/// The report up to its findings, whose texts have their own tests.
fn measurements(report: &str) -> &str {
    report.split("\nFindings").next().unwrap_or_default()
}

#[test]
fn a_full_report_reads_like_this() {
    insta::assert_snapshot!("full-100", measurements(&report(&rich().file, 100)));
}

/// The lines of two screens of 24.
const TWO_SCREENS: usize = 48;

#[test]
fn by_default_a_report_fits_two_screens_and_ends_with_its_bottom_line() {
    for width in [80, 120] {
        let file = rich().steady("A1/std-instant", 31_000).file;
        let text = plain(&super::report(&file, width, super::Detail::Brief));
        insta::assert_snapshot!(format!("brief-{width}"), text);
        assert!(text.lines().count() <= TWO_SCREENS, "{} lines: {text}", text.lines().count());
    }
}

#[test]
fn a_full_report_shows_findings_with_their_gains() {
    let text = report(&rich().file, 100);
    let findings = text.split("\nFindings").nth(1).expect("findings");
    let slack = findings.find("■ OVS-L001 timer-slack\n").expect("the slack is found");
    let gain = "Tried here with nanosleep at 1 ms: p50 66.1 µs → 14.2 µs (−79 %); it helped.";
    assert!(findings[slack..].contains(gain), "{findings}");
    assert!(findings.find("Costs: ") < findings.find("Notes: "));
    assert!(findings.contains("\nInconclusive, because there is too little data: "));
    assert!(findings.contains("\nChecked, not found: "));
}

#[test]
fn a_close_up_reads_like_this() {
    let mut series = rounds("B5/nanosleep/1ms", &[66_000, 67_000, 66_000, 190_000], 500);
    series.counts.expected = Some(2_000);
    insta::assert_snapshot!("close-up-80", measurements(&report(&Sheet::linux().series(series).file, 80)));
}

#[test]
fn no_line_is_wider_than_asked() {
    for file in [rich().file, hostile(), Sheet::linux().file] {
        for width in [40, 60, 80, 100, 160] {
            for line in report(&file, width).lines() {
                assert!(columns(line) <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn the_only_escapes_are_our_own_styles() {
    let styled = super::report(&hostile(), 100, super::Detail::Full);
    for (at, _) in styled.match_indices('\u{1b}') {
        let end = styled[at..].find('m').map(|end| &styled[at..=at + end]);
        let allowed = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];
        assert!(end.is_some_and(|end| allowed.contains(&end)), "{end:?}");
    }
    // The hostile texts bring no escape along: each style that begins also ends.
    let ends = styled.matches("\u{1b}[0m").count();
    assert!(ends > 0 && !styled.contains('\u{202e}') && !plain(&styled).contains('\u{1b}'));
    assert!(plain(&styled).contains("\u{fffd}[31m"));
}

#[test]
fn a_narrow_table_of_runtimes_says_which_requests_it_leaves_out_and_has_them_in_full() {
    let file = crate::view::testing::of_runtimes(Sheet::linux(), 1_000_000_000).file;
    let of = |width, detail| plain(&super::report(&file, width, detail));
    let section = |text: &str| text.split("Clocks of language").next().unwrap().to_owned();
    assert!(
        section(&of(120, super::Detail::Brief)).contains("300 µs")
            && !of(120, super::Detail::Brief).contains("No room")
    );
    let brief = of(60, super::Detail::Brief);
    assert!(brief.contains("No room here for 300 µs, 0 means"), "{brief}");
    let full = section(&of(60, super::Detail::Full));
    assert!(full.lines().any(|line| line.starts_with("runtime") && line.contains("300 µs")), "{full}");
    assert!(full.contains("beneath") && !full.contains("No room"), "{full}");
}

#[test]
fn an_empty_result_is_a_short_report() {
    let text = report(&Sheet::linux().file, 80);
    assert!(text.starts_with("oversleep check\nLinux x86_64\n18 s · 0 values in 0 series\n"), "{text}");
    assert!(text.contains("Findings  Nothing found; "));
}

#[test]
fn interrupted_and_modelled_runs_say_so_first() {
    let mut file = rich().file;
    file.completion = Completion::Interrupted;
    file.platform.modelled = Some("windows-10-2004".into());
    let text = report(&file, 80);
    let head: String = text.lines().take(9).collect::<Vec<_>>().join("\n");
    assert!(head.contains("Interrupted: ") && head.contains("(modelled: windows-10-2004)"), "{head}");
    assert!(text.contains("\nClocks (modelled: windows-10-2004)"));
}

#[test]
fn what_is_not_available_stands_once_with_its_reason() {
    let reason = || Unavailable::missing("a timer");
    let sheet = Sheet::linux().unavailable("B5/poll/1ms", reason()).unavailable("B5/select/1ms", reason());
    let text = report(&sheet.file, 80);
    assert!(text.contains("poll, select   a timer is missing"), "{text}");
    assert!(!text.contains("0 ns"), "unknown is never zero");
}

#[test]
fn what_c5_lacks_is_named_in_words() {
    let (idle, power) = ("C5/idle/residency/idle/slack=1ns", "C5/packages/power/idle/slack=1ns");
    let reason = || Unavailable::NotOnThisPlatform;
    let sheet = Sheet::linux().unavailable(idle, reason()).unavailable(power, reason());
    let text = report(&sheet.file, 80);
    assert!(text.contains("time in idle states, power  not on this platform"), "{text}");
    assert_eq!(overview::unavailable(&sheet.file), ["time in idle states", "power"]);
}

#[test]
fn means_and_intervals_stand_at_every_width() {
    let section = crate::view::intervals::of_result(&rich().file).expect("series");
    for width in [60, 80, 120, 200] {
        let text = plain(&super::section(&section, width));
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        for head in ["count", "mean", "p50, 99 %"] {
            assert!(text.contains(head), "{width} {head}: {text}");
        }
    }
}

#[test]
fn only_a_check_of_everything_says_what_lacks_data() {
    let mut file = Sheet::linux().steady("B5/nanosleep/1ms", 66_000).file;
    let says = |file: &ResultFile| {
        let text = report(file, 100).replace('\n', " ");
        ["Not measured: ", "Checked, not found: "].map(|words| text.contains(words))
    };
    assert_eq!(says(&file), [true, true]);
    file.command = "waits".to_owned();
    assert_eq!(says(&file), [false, true]);
}

#[test]
fn a_request_in_the_name_of_a_row_stays_whole_as_long_as_heads_can_wrap() {
    let table = crate::view::table::Columns::new()
        .words("wait", |_: &u32| "nanosleep(100 ms)")
        .words("figure", |_| "p50")
        .figure("before", |_| "64.2 µs")
        .figure("after", |_| "71.1 µs")
        .figure("ratio", |_| "1.11")
        .figure("99 % interval", |_| "1.1 to 1.13")
        .figure("other hosts", |_| "0.99 to 1.01")
        .words("verdict", |_| "differs")
        .table("Before and after", [1])
        .expect("a row");
    let drawn = super::whole_table(&table, 86).iter().map(|line| plain(line)).collect::<Vec<_>>();
    assert!(drawn.iter().any(|line| line.starts_with("nanosleep(100 ms)  p50")), "{drawn:#?}");
}
