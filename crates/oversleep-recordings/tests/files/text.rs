//! Text of one run, as tracefs, `trace-cmd report` and `perf script` wrote it: 6 ms of several ways to wait. Names of other
//! tasks are replaced; two have a blank.

use oversleep_recordings::{recognise, replay};
use oversleep_why::Wait;

use crate::support::{PERF_SCRIPT, TRACE_CMD, TRACEFS, results, waits};

fn counts(bytes: &[u8]) -> Vec<(String, u64)> {
    recognise(bytes).unwrap().open(&bytes).unwrap().counts
}

#[test]
fn each_line_of_a_known_event_counts() {
    // As `grep -c` finds them.
    for text in [TRACEFS, TRACE_CMD, PERF_SCRIPT] {
        for (name, count) in counts(text) {
            let event = name.split_once(':').unwrap().1;
            let [plain, with_system] = [format!(" {event}: "), format!(":{event}: ")];
            let lines = str::from_utf8(text).unwrap().lines();
            let found = lines.filter(|line| line.contains(&plain) || line.contains(&with_system)).count() as u64;
            assert_eq!(count, found, "{name}");
        }
    }
    let total = |bytes| counts(bytes).iter().map(|(_, count)| count).sum::<u64>();
    assert_eq!([TRACEFS, TRACE_CMD, PERF_SCRIPT].map(total), [638, 638, 854]);
}

#[test]
fn text_of_one_kernel_has_the_same_waits() {
    let [of_tracefs, of_trace_cmd] = [TRACEFS, TRACE_CMD].map(waits);
    let near = |a: i64, b: i64| (a - b).abs() <= 1_000;
    assert_eq!((of_tracefs.len(), of_trace_cmd.len()), (15, 15));
    for (rounded, exact) in of_tracefs.iter().zip(&of_trace_cmd) {
        assert_eq!((rounded.tid, &rounded.thread, &rounded.call), (exact.tid, &exact.thread, &exact.call));
        assert!(near(rounded.lateness_ns, exact.lateness_ns), "{rounded:?}");
        assert!(
            rounded.culprits.first().map(|culprit| culprit.tid) == exact.culprits.first().map(|culprit| culprit.tid)
        );
    }
}

fn line(wait: &Wait) -> String {
    let call = wait.timer.as_deref().or(wait.call.as_deref()).unwrap_or("unknown");
    let culprit = wait.culprits.first().map_or("nobody", |culprit| &culprit.name);
    format!("{} {call} {} runq {} {culprit}", wait.thread, wait.lateness_ns, wait.parts.runq)
}

#[test]
fn the_waits_of_each_text() {
    let all = [TRACEFS, TRACE_CMD, PERF_SCRIPT].map(|text| waits(text).iter().map(line).collect::<Vec<_>>().join("\n"));
    let golden = include_str!("text.txt").trim_end();
    assert!(all.join("\n\n") == golden, "{}", all.join("\n\n"));
}

#[test]
fn who_wrote_it_is_told() {
    for (text, writer) in [(TRACEFS, "tracefs"), (TRACE_CMD, "trace-cmd report"), (PERF_SCRIPT, "perf script")] {
        assert_eq!(results(text).0.recorder.as_deref(), Some(writer));
    }
}

#[test]
fn a_line_that_tells_of_lost_events_is_a_gap() {
    let (_, whole) = results(TRACEFS);
    let latest = whole.iter().map(|wait| wait.lateness_ns).max().unwrap();
    for lost in ["CPU:0 [LOST 40 EVENTS]", "CPU:1 [40 EVENTS DROPPED]", "CPU:1 [LOST EVENTS]"] {
        let mut lines: Vec<&str> = str::from_utf8(TRACEFS).unwrap().lines().collect();
        lines.splice(520..560, [lost]);
        let all = waits((lines.join("\n") + "\n").as_bytes());
        assert!(all.len() < whole.len(), "{lost}");
        assert!(all.iter().all(|wait| wait.lateness_ns <= latest), "{lost}");
    }
}

#[test]
fn a_line_without_its_end_is_none() {
    let lines = str::from_utf8(TRACE_CMD).unwrap().trim_end();
    let file = |text: &str| replay(recognise(text.as_bytes()).unwrap(), &text.as_bytes()).unwrap();
    assert!(file(lines).observation.unwrap().losses.is_truncated);
    assert!(!file(&format!("{lines}\r\n")).observation.unwrap().losses.is_truncated);
    let long = format!("{lines}\n{}\n", "x".repeat(100_000));
    assert!(!file(&long).observation.unwrap().losses.is_truncated);
    assert_eq!(waits(long.as_bytes()).len(), 15);
}

/// Editors, mails, recorders and systems put lines of their own before the events, and other ends behind lines.
#[test]
fn what_is_before_the_events_hides_none() {
    let marks = [
        "A note of mine.\n\n",
        "perf 7496/7496 [003] 264874.155353: 1001001 cpu-clock:pppH: \n\tffffffff81 [unknown] (x)\n",
        "swapper     0 [000]     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1000) @ 0]: x [kernel]_text\n",
        "[ perf record: Woken up 1 times to write data ]\n[    1.000001] a line of the kernel's log: x\n",
        "\u{feff}",
        "<!DOCTYPE html>\n<html>\n<title>x</title>\n  <script class=\"trace-data\" type=\"application/text\">\n",
    ];
    for text in [TRACEFS, TRACE_CMD, PERF_SCRIPT] {
        let expected = waits(text);
        let text = str::from_utf8(text).unwrap();
        for mark in marks {
            let marked = format!("{mark}{text}");
            assert!(recognise(marked.as_bytes()).is_some(), "{mark}");
            assert!(waits(marked.as_bytes()) == expected, "{mark}");
            assert!(waits(marked.replace('\n', "\r\n").as_bytes()) == expected, "{mark}");
        }
    }
    let far = format!("{}{}", "A note of mine.\n".repeat(10_000), str::from_utf8(TRACEFS).unwrap());
    assert!(recognise(far.as_bytes()).is_none(), "the search is bounded");
}

/// A page of systrace has a megabyte of code before its lines; the first pages have them in a string.
#[test]
fn a_page_of_systrace_is_text() {
    let expected = waits(TRACEFS);
    let text = str::from_utf8(TRACEFS).unwrap();
    let head = format!("<!DOCTYPE html>\n<html>\n<title>Android System Trace</title>\n{}\n", "x();\n".repeat(50_000));
    let page = format!("{head}<script class=\"trace-data\" type=\"application/text\">\n{text}  </script>\n</html>\n");
    assert!(waits(page.as_bytes()) == expected);
    let page = format!("{head}var linuxPerfData = \"\\\n{}\";\n</html>\n", text.replace('\n', "\\n\\\n"));
    assert!(waits(page.as_bytes()) == expected);
}

#[test]
fn text_without_switches_says_so() {
    let text = b"perf 7496/7496 [003] 264874.155353:    1001001 cpu-clock: \n\tffffffff81 [unknown] (x)\n";
    let refused = replay(recognise(text).unwrap(), &&text[..]).unwrap_err().to_string();
    assert!(refused.contains("no events of sched:sched_switch"), "{refused}");
}

#[test]
fn other_text_is_no_recording() {
    for text in ["# tracer: timerlat\n#\n", "# a comment\n", "a,b\n1,2\n", "task-1 [000] 12: sched_switched: x\n", "\n"]
    {
        assert!(recognise(text.as_bytes()).is_none(), "{text}");
    }
    assert!(recognise(b"task 4 12 [001] 5.000001:  sched:sched_switch: \n").is_some());
}

/// Their times aren't those of a clock in seconds, so nothing is told from them.
#[test]
fn text_whose_times_are_others_is_refused_with_what_writes_it_again() {
    let says = |text: &str| recognise(text.as_bytes()).unwrap().open(&text.as_bytes()).unwrap_err().to_string();
    // As `latency-format` has them: `<idle>-0  1d.h1.  12us : EVENT`.
    let latency = |line: &str| match (line.split_once('('), line.split_once("] ")) {
        (Some((task, _)), Some((_, rest))) => {
            let (flags, event) = (&rest[..5], rest.split_once(": ").map_or("", |(_, event)| event));
            format!("{task} 1{flags}   12us+: {event}\n")
        }
        _ => format!("{line}\n"),
    };
    let text: String = str::from_utf8(TRACEFS).unwrap().lines().map(latency).collect();
    for text in [&*text, text.strip_prefix("# tracer: nop").unwrap()] {
        assert!(says(text).contains("latency-format") && says(text).contains("trace-cmd report"), "{}", says(text));
    }
    // perf's differences between lines.
    let mut last = 0.0;
    let difference = |line: &str| {
        let (task, rest) = line.split_once("] ").unwrap();
        let (t, rest) = rest.trim_start().split_once(": ").unwrap();
        let t: f64 = t.parse().unwrap();
        let difference = if last == 0.0 { 0.0 } else { t - last };
        last = t;
        format!("{task}] {difference:15.9}: {rest}\n")
    };
    let text: String = str::from_utf8(PERF_SCRIPT).unwrap().lines().map(difference).collect();
    assert!(says(&text).contains("--deltatime"), "{}", says(&text));
}
