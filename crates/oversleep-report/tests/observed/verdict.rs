//! The verdict and the causes in every document.

use oversleep_explain::verdict::{Verdict, causes};
use oversleep_record::observed::Blame;
use oversleep_record::{Nanos, ResultFile};
use oversleep_report::document::{HTML, Layout, MARKDOWN, bytes};
use oversleep_report::terminal::Detail;
use oversleep_report::view::observed::{culprits, part_note};
use oversleep_report::view::verdict::{delays, worst_in_brief};

use crate::support::{brief, everything, observation, recorded, renamed, report, result, so_far};

/// Two screens.
const LINES_MAX: usize = 59;

/// The recording as if it had come from many threads that many others delay.
fn crowded(threads: usize, culprits: usize) -> ResultFile {
    let mut file = recorded();
    let waits = file.series[0].observed.as_mut().expect("it is observed");
    let first = waits.blames[0].clone();
    waits.blames = (0..culprits)
        .map(|n| Blame {
            name: format!("a-task-with-a-long-name-{n}"),
            total_ns: 100_000_000 - n as u64,
            ..first.clone()
        })
        .collect();
    let series = file.series[0].clone();
    let named = |n: usize| {
        renamed(&series, |identity| {
            identity.thread = format!("worker-{n}");
            identity.call = ["clock_nanosleep", "futex", "poll", "epoll_wait"][n % 4].to_owned();
            identity.requested_ns = Some(Nanos(1_000_000 * (1 + n as i64 / 4)));
        })
    };
    file.series.extend((0..threads).map(named));
    let wait = &mut observation(&mut file).worst[0];
    let culprit = wait.culprits[0].clone();
    wait.culprits.extend((0..20).map(|_| culprit.clone()));
    file
}

#[test]
fn a_report_in_brief_fits_two_screens_of_any_width() {
    for file in [recorded(), everything(), crowded(0, 6), crowded(60, 16), result("made-all"), result("recorded-none")]
    {
        for width in [80, 100, 120] {
            let text = brief(&file, width);
            assert!(text.lines().count() <= LINES_MAX, "{width}: {} lines\n{text}", text.lines().count());
        }
        for width in 60..=100 {
            let text = brief(&file, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}\n{text}");
        }
    }
}

#[test]
fn while_a_program_is_followed_its_verdict_fits_the_screen() {
    for file in [recorded(), crowded(60, 16), result("made-all"), result("recorded-none")] {
        for (width, height) in [(80, 24), (80, 10), (60, 24), (120, 50), (40, 5)] {
            let text = so_far(&file, width, height);
            assert!(text.lines().count() < height, "{height}: {} lines\n{text}", text.lines().count());
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}\n{text}");
            assert!(text.starts_with("Verdict so far: "), "{text}");
        }
    }
    let text = so_far(&crowded(60, 16), 100, 40);
    assert!(text.contains("First: ") && text.contains("worker-1"), "{text}");
}

#[test]
fn in_brief_a_report_names_what_it_leaves_out() {
    let text = brief(&crowded(60, 16), 80).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "more causes",
        "57 more rows; --full shows all.",
        "burst 63.3 ms, build 1.91 ms and app 19.4 µs",
        "--full for all evidence",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let full = report(&crowded(60, 16));
    assert!(full.contains("\nVerdict\n") && full.contains("10. "), "{full}");
}

#[test]
fn what_a_cause_delayed_is_collapsed_by_thread() {
    let of = |file: &ResultFile| delays(file, &causes(file)[0]);
    assert_eq!(of(&recorded()), ["app: clock_nanosleep for 1 ms"]);
    assert_eq!(
        of(&crowded(10, 1)),
        [
            "app: clock_nanosleep for 1 ms",
            "app (worker-*, 10 threads): clock_nanosleep for 1 ms to 3 ms (3 requests), futex for 1 ms to 3 ms (3 requests), \
             poll for 1 ms to 2 ms (2 requests) and 1 more call"
        ]
    );
    assert_eq!(of(&crowded(1, 1))[1], "app (worker-0): clock_nanosleep for 1 ms");
    let mut passed = recorded();
    let without_span = renamed(&passed.series[0], |identity| identity.requested_ns = None);
    passed.series.push(without_span);
    assert_eq!(of(&passed), ["app: clock_nanosleep for 1 ms"], "the deadlines of some had passed");
}

#[test]
fn those_who_ran_instead_add_up_to_the_time_in_the_run_queue() {
    let mut file = recorded();
    let wait = &mut observation(&mut file).worst[0];
    let (runq, seen) = (wait.parts.runq, wait.culprits.iter().map(|of| of.ran_ns).sum::<u64>());
    assert!(runq.unsigned_abs() - seen < runq.unsigned_abs() / 50, "a switch or two");
    assert_eq!(culprits(wait, 6).len(), wait.culprits.len());
    wait.culprits.truncate(2);
    wait.culprits[1].ran_ns = 1_000_000;
    let told = culprits(wait, 6);
    let names: Vec<&str> = told.iter().map(|ran| ran.name.as_str()).collect();
    assert_eq!(names, ["burst", "build", "nobody seen"]);
    assert_eq!(told.iter().map(|ran| ran.ran.0).sum::<i64>(), runq);
    let third = wait.culprits[1].clone();
    wait.culprits.extend([third.clone(), third.clone()]);
    wait.parts.runq += 2_000_000;
    let told = culprits(wait, 2);
    assert_eq!(told[2].name, "2 other tasks");
    assert_eq!(told.iter().map(|ran| ran.ran.0).sum::<i64>(), runq + 2_000_000);
    assert_eq!(culprits(wait, 3).len(), 5, "one other is named: four tasks, and nobody");
    assert!(part_note(oversleep_record::part::Part::Runq, wait).ends_with(&format!("; nobody seen {}", told[3].ran)));
    let (what, parts) = worst_in_brief(wait);
    assert!(what.starts_with("5.04 ms late: app ("), "{what}");
    assert!(parts.contains("and nobody seen "), "{parts}");
}

#[test]
fn a_wake_up_on_another_cpu_names_both() {
    let mut file = recorded();
    let wait = &mut observation(&mut file).worst[0];
    let mut note = |from, to, idle| {
        (wait.timer_cpu, wait.cpu, wait.cpu_idle) = (Some(from), Some(to), idle);
        part_note(oversleep_record::part::Part::Ipi, wait)
    };
    assert_eq!(note(2, 3, Some(1)), "CPU 2 → CPU 3, idle (state 1)");
    assert_eq!(note(2, 3, None), "CPU 2 → CPU 3");
    assert_eq!([note(3, 3, Some(1)), note(3, 3, None)], ["", ""]);
}

#[test]
fn every_document_begins_with_the_verdict() {
    let file = recorded();
    let verdict = Verdict::of(&file).expect("a program was observed");
    let gain = verdict.leaves.as_ref().expect("it can be computed");
    let (leaves, gain) = (gain.to_string(), format!("<strong>{} → about {}</strong>", gain.before, gain.after));
    let (sentence, first) = (verdict.sentence.as_str(), "First: let app use more than one CPU");
    let in_words = [sentence, first, "taskset -c N ./app", &leaves];
    // A page has it among its figures.
    let on_page = [sentence, &gain, first, "taskset -c N ./app"];
    for detail in [Detail::Brief, Detail::Full] {
        let layout = Layout { width: 100, detail, ..Layout::default() };
        for (format, said) in [(&MARKDOWN, in_words), (&HTML, on_page)] {
            let document = String::from_utf8(bytes(&file, format, &layout)).expect("it is text").replace('\u{a0}', " ");
            let at: Vec<Option<usize>> = said.iter().map(|words| document.find(words)).collect();
            assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{at:?}\n{document}");
            assert!(at[0] < document.find("kept 42 waits").or(document.find("OVS-Y015")), "the causes follow");
        }
    }
}
