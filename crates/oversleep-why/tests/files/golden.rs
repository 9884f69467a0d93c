//! The published result of `oversleep why`: it is read, the current version writes the same, the schema takes it, and
//! nothing is in the schema that it doesn't show.

use std::path::PathBuf;

use oversleep_record::Distribution;
use oversleep_record::file::Tool;
use oversleep_why::by::By;
use oversleep_why::culprit::{Activity, ActivityKind, IrqCause, Span, Why};
use oversleep_why::findings;
use oversleep_why::group::IrqBlame;
use oversleep_why::part::Segment;
use oversleep_why::recording::Named;
use oversleep_why::stack::Stack;
use oversleep_why::wait::{Marks, Outcome, Request};
use oversleep_why::{Part, Summary};
use serde_json::Value;

static FIFO: &[u8] = include_bytes!("../recorded/fifo.why");

fn schema_dir() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.join("../../schema")
}

fn golden_path() -> PathBuf {
    schema_dir().join("golden/why-v1/everything.json")
}

fn golden() -> Vec<u8> {
    std::fs::read(golden_path()).expect("it is committed")
}

/// A recording's result with every field and every word in it. Its figures agree where the reader compares them, and mean
/// nothing.
pub fn everything() -> Summary {
    let mut summary = Summary::of_bytes(FIFO).expect("a recording");
    summary.tool = Tool { name: "oversleep".to_owned(), version: "0.0.0".to_owned() };
    summary.meta.taken_unix_s = Some(1_790_000_000);
    summary.meta.by = By::Supervisor;
    summary.meta.processes =
        vec![Named { tgid: 7, name: "app".to_owned(), cgroup: Some("/system.slice/app.service".to_owned()) }];
    (summary.want_ns, summary.left_out) = (Some(1_000_000), 3);
    let losses = &mut summary.losses;
    (losses.no_room, losses.vanished, losses.not_run, losses.threads_not_followed, losses.unfinished) = (1, 2, 3, 4, 5);
    losses.missing = vec!["timeouts of sockets (no tracepoint timer_start)".to_owned()];
    losses.is_truncated = true;

    summary.groups.truncate(1);
    let requests = [Request::Span, Request::Deadline, Request::Timer, Request::Unknown];
    let first = summary.groups.remove(0);
    for (n, request) in requests.into_iter().enumerate() {
        let mut group = first.clone();
        (group.key.request, group.steal_count, group.slack_bound_ns) = (request, 1, Some(50_000));
        group.key.timer = (request == Request::Timer).then(|| "timerfd_settime".to_owned());
        for outcome in [Outcome::Timer, Outcome::Event, Outcome::Signal, Outcome::Unknown] {
            group.otherwise.insert(outcome, n as u64 + 1);
        }
        // A timer may expire before the program's deadline.
        let mut early = Distribution::growing();
        early.record_times(-5, group.count);
        group.parts.insert(Part::Api, early);
        for &part in Part::ALL {
            let mut equal = Distribution::growing();
            equal.record_times(5, group.count);
            group.parts.entry(part).or_insert(equal);
            group.total_ns.entry(part).or_insert(5 * group.count as i64);
        }
        group.irq_blames =
            causes().into_iter().map(|cause| IrqBlame { cause, count: 1, total_ns: 9, max_ns: 9 }).collect();
        summary.groups.push(group);
    }

    summary.worst.truncate(4);
    for (n, wait) in summary.worst.iter_mut().enumerate() {
        wait.request = requests[n];
        wait.timer = Some("timerfd_settime".to_owned());
        (wait.called_late_ns, wait.steal_ns, wait.lost_events, wait.restarts) = (4, 3, 2, 1);
        (wait.timer_cpu_idle, wait.cpu_idle) = (Some(1), Some(2));
        wait.slack_bound_ns = Some(50_000);
        wait.irq_cause = causes().into_iter().nth(n);
        wait.stack = Stack {
            kernel: vec!["schedule+0x1f".to_owned(), "do_nanosleep+0x66".to_owned()],
            user: vec!["clock_nanosleep+0x5a (libc.so.6)".to_owned(), "main+0x20 (app)".to_owned()],
        };
        let t = wait.deadline;
        let kinds = [ActivityKind::Interrupt, ActivityKind::Softirq, ActivityKind::Idle];
        let activity = |what| Activity { what, name: "1".to_owned(), span: Span { from_ns: t, to_ns: t + 1 } };
        wait.before_interrupt = kinds.into_iter().map(activity).collect();
        let t = Some(t);
        wait.marks = Marks {
            entered: t,
            soft: t,
            hard: t,
            rearmed: t,
            interrupt: t,
            fired: t,
            waking: t,
            wakeup: t,
            running: t,
            returned: t,
        };
        wait.segments = Part::ALL.iter().map(|&part| Segment { part, from_ns: 1, to_ns: 2 }).collect();
        let first = wait.culprits[0].clone();
        wait.culprits = [Why::HigherPolicy, Why::HigherPriority, Why::TurnNotOver, Why::NotYetPreempted]
            .map(|why| oversleep_why::culprit::Culprit { why, ..first.clone() })
            .to_vec();
    }
    let outcomes = [Outcome::Timer, Outcome::Event, Outcome::Signal, Outcome::Unknown];
    summary.worst.iter_mut().zip(outcomes).for_each(|(wait, outcome)| wait.outcome = outcome);
    summary.findings = findings::of(&summary);
    summary
}

fn causes() -> [IrqCause; 4] {
    [
        IrqCause::Interrupt { number: 24, name: "virtio0".to_owned(), ran_ns: 9 },
        IrqCause::Softirq { name: "NET_RX".to_owned(), ran_ns: 9 },
        IrqCause::Idle { state: 1 },
        IrqCause::Task { tid: 8, name: "hog".to_owned() },
    ]
}

#[test]
fn the_current_version_writes_what_was_published() {
    let mut bytes = Vec::new();
    everything().write_to(&mut bytes).unwrap();
    if std::env::var_os("OVERSLEEP_UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(golden_path().parent().unwrap()).unwrap();
        std::fs::write(golden_path(), &bytes).unwrap();
    }
    assert!(golden() == bytes, "run the tests with OVERSLEEP_UPDATE_GOLDEN=1 and read the difference");
    assert_eq!(Summary::of_bytes(&golden()).unwrap(), everything());
}

#[test]
fn fields_of_later_versions_are_ignored() {
    fn add(value: &mut Value) {
        match value {
            Value::Object(members) => {
                let is_map = ["unattributed", "timer", "event"].iter().any(|name| members.contains_key(*name));
                members.values_mut().for_each(add);
                if !is_map {
                    members.insert("from_a_later_version".to_owned(), serde_json::json!([1]));
                }
            }
            Value::Array(items) => items.iter_mut().for_each(add),
            _ => {}
        }
    }
    let mut value: Value = serde_json::from_slice(&golden()).unwrap();
    add(&mut value);
    assert_eq!(Summary::of_bytes(value.to_string().as_bytes()).unwrap(), everything());
}
