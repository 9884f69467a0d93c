//! The pages of a recording, and of one with hostile names and absurd figures.

use oversleep_explain::compare::compare;
use oversleep_record::label;
use oversleep_record::observed::wait::signed;
use oversleep_record::part::Part;
use oversleep_record::{ResultFile, SeriesKey};

use super::timeline::Timeline;
use crate::html::tests::{html_of, page_of};
use crate::view::comparison::{self, Sketch};
use crate::view::head;

/// A recording from Linux 6.18.
static FIFO: &[u8] = include_bytes!("../../../../oversleep-why/tests/recorded/fifo.why");

/// Names that a task may give itself.
const HOSTILE: [&str; 4] = [
    "</style><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "}*{display:none}/*",
    "'-->\u{202e}gpj.exe",
];

fn recorded() -> ResultFile {
    oversleep_why::session::replay(FIFO).expect("a recording")
}

fn hostile() -> ResultFile {
    let mut file = recorded();
    for series in &mut file.series {
        series.labels.set(label::PROGRAM, HOSTILE[1].to_owned());
        series.labels.set(label::THREAD, HOSTILE[0].to_owned());
        series.subject = HOSTILE[3].to_owned();
        series.key = SeriesKey::new(series.experiment, HOSTILE[3]).text("program", HOSTILE[1]);
        let waits = series.observed.as_mut().expect("they were observed");
        waits.blames.iter_mut().for_each(|blame| blame.name = HOSTILE[2].to_owned());
    }
    let observation = file.observation.as_mut().expect("they were observed");
    observation.target = HOSTILE[0].to_owned();
    for wait in &mut observation.worst {
        wait.thread = HOSTILE[0].to_owned();
        wait.call = Some(HOSTILE[3].to_owned());
        wait.culprits.iter_mut().for_each(|culprit| culprit.name = HOSTILE[1].to_owned());
    }
    ResultFile::read(&file.write()).expect("it reads back")
}

#[test]
fn a_page_shows_findings_groups_and_timelines() {
    let page = html_of(&recorded());
    for words in [
        "oversleep why: ./app",
        "burst (SCHED_FIFO, priority 50, pinned to this CPU)",
        "kept 42 waits from a CPU, for 117 ms in all",
        "more than priority 50 <span class=\"name\">(chrt -f 51</span>",
        "<article class=\"wait\" id=\"wait-10\">",
        "Who ran while these threads waited for a CPU",
        "its policy goes first",
        "id=\"w1-runq\"",
        "#wait-1:has(#w1-runq:checked){--from:",
        "#wait-1:has(#w1-all:checked){--from:0.000000;--span:1.000000000}",
        "120 of 120 waits are split without a gap.",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("<script>"), "it runs no script");
    let embedded = page.split("id=\"result\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
    assert!(ResultFile::read(embedded.as_bytes()).is_ok(), "the page holds its result");
}

#[test]
fn no_name_becomes_markup_or_a_rule() {
    let results = [hostile(), hostile()];
    let names = [HOSTILE[0].to_owned(), HOSTILE[1].to_owned()];
    let view = comparison::view(&compare(&results, head::machine), &Sketch::of_all(&results), &names, true);
    let pages = [html_of(&results[0]), page_of(&view)];
    for page in pages {
        assert!(!page.contains("<script>") && !page.contains("<img") && !page.contains('\u{202e}'));
        let sheet = page.split("<style>").nth(1).and_then(|rest| rest.split("</style>").next()).unwrap();
        assert!(!sheet.contains("display:none}/*") && !sheet.contains("alert"), "names stay out of the style sheet");
        assert_eq!(page.matches("<style>").count(), 1);
    }
}

#[test]
fn events_of_a_wait_that_did_not_arrive_are_counted() {
    let of_lost = |count| {
        let mut file = recorded();
        file.observation.as_mut().expect("it was observed").worst[0].lost_events = count;
        html_of(&file)
    };
    assert!(of_lost(1).contains("1 event of this wait did not arrive"));
    assert!(of_lost(12).contains("12 events of this wait did not arrive"));
    assert!(!of_lost(0).contains("of this wait did not arrive"));
}

#[test]
fn what_is_drawn_is_the_lateness() {
    for wait in &recorded().observation.expect("it was observed").worst {
        let timeline = Timeline::of(wait);
        // A timer that is set before the program's deadline gives a negative part, which isn't drawn.
        let drawn: i64 = wait.segments.iter().map(|segment| segment.to_ns - segment.from_ns).sum();
        assert_eq!(drawn, wait.lateness_ns - wait.parts.api.min(0));
        for pair in wait.segments.windows(2) {
            assert_eq!(pair[0].to_ns, pair[1].from_ns, "no gap between segments");
        }
        assert_eq!(wait.segments.last().map(|segment| segment.to_ns), Some(signed(wait.end)));
        for &part in Part::ALL {
            let own = wait.segments.iter().filter(|segment| segment.part == part);
            let own: i64 = own.map(|segment| segment.to_ns - segment.from_ns).sum();
            assert_eq!(own, wait.parts.get(part).max(0));
        }
        let views = timeline.views();
        assert_eq!(views.iter().map(|view| view.name).take(2).collect::<Vec<_>>(), ["late", "all"]);
        assert!(views.iter().all(|view| view.span > 0.0 && view.from >= 0.0 && view.from + view.span <= 1.000_001));
    }
}

#[test]
fn the_ends_of_the_range_are_no_reason_to_panic() {
    let mut file = recorded();
    let observation = file.observation.as_mut().expect("it was observed");
    for (n, wait) in observation.worst.iter_mut().enumerate() {
        let far = [0, 1, i64::MAX as u64, u64::MAX][n % 4];
        (wait.deadline, wait.end) = (far, u64::MAX - far);
        wait.marks.entered = Some(far);
        for segment in &mut wait.segments {
            (segment.from_ns, segment.to_ns) = (i64::MIN, i64::MAX);
        }
        for culprit in &mut wait.culprits {
            (culprit.ran_ns, culprit.prio) = (u64::MAX, i32::MIN);
            culprit.turns.iter_mut().for_each(|turn| (turn.from_ns, turn.to_ns) = (u64::MAX, 0));
        }
    }
    assert!(html_of(&file).contains("wait-10"));
}
