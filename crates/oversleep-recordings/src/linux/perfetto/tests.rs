//! A run that trace-cmd recorded, as Perfetto would have written it.

use oversleep_why::part::Part;

use super::super::point::{POINTS, Point, Task, What};
use super::super::trace_dat;
use super::FORMAT;
use crate::{recognise, replay};

#[path = "../../../tests/shared/damage.rs"]
mod damage;

static RECORDED: &[u8] = include_bytes!("../../../tests/recorded/waits.7.dat");

/// How events are written.
#[derive(Clone, Copy, PartialEq)]
pub enum As {
    /// Messages of their own where there are some, and else with the names of their fields.
    Messages,
    /// What has no message of its own is described by the trace.
    Described,
    /// Switches and wake-ups in columns, and nothing else.
    Columns,
}

enum Of {
    Number(u64),
    Text(Vec<u8>),
    Numbers([u64; 6]),
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

pub fn number(field: u32, value: u64) -> Vec<u8> {
    [varint(u64::from(field) << 3), varint(value)].concat()
}

pub fn bytes(field: u32, value: &[u8]) -> Vec<u8> {
    [varint(u64::from(field) << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

fn written(field: u32, of: &Of) -> Vec<u8> {
    match of {
        Of::Number(value) => number(field, *value),
        Of::Text(text) => bytes(field, text),
        Of::Numbers(all) => all.iter().flat_map(|value| number(field, *value)).collect(),
    }
}

fn text(name: &[u8]) -> Of {
    Of::Text(name.iter().copied().take_while(|&byte| byte != 0).collect())
}

/// A point's tracepoint, and its fields.
fn fields(what: &What) -> Option<(&'static str, Vec<Of>)> {
    let task = |task: &Task| vec![text(&task.name), Of::Number(u64::from(task.tid)), Of::Number(task.prio as u64)];
    let one = |value: u64| vec![Of::Number(value)];
    let woken = |of: &Task, cpu: &u16| [task(of), one(u64::from(*cpu))].into_iter().flatten().collect();
    Some(match what {
        What::Switch { from, is_runnable, to } => {
            ("sched_switch", [task(from), one(u64::from(!is_runnable)), task(to)].into_iter().flatten().collect())
        }
        What::Waking { task, cpu } => ("sched_waking", woken(task, cpu)),
        What::Wakeup { task, cpu } => ("sched_wakeup", woken(task, cpu)),
        What::Migrate { tid, to } => {
            ("sched_migrate_task", vec![Of::Number(u64::from(*tid)), Of::Number(u64::from(*to))])
        }
        What::Renamed { tid, name, is_program } => {
            let event = if *is_program { "sched_process_exec" } else { "task_rename" };
            (event, vec![Of::Number(u64::from(*tid)), text(name)])
        }
        What::Fork { child, name } => ("sched_process_fork", vec![Of::Number(u64::from(*child)), text(name)]),
        What::NewTask { child, name, is_thread } => (
            "task_newtask",
            vec![
                Of::Number(u64::from(*child)),
                text(name),
                Of::Number(if *is_thread { 0x3d_0f00 } else { 0x120_0011 }),
            ],
        ),
        What::Gone { tid } => ("sched_process_exit", one(u64::from(*tid))),
        What::Start { timer, function, hard, soft } => {
            ("hrtimer_start", [*timer, *function, *hard, *soft].map(Of::Number).into_iter().collect())
        }
        What::Expire { timer, now } => ("hrtimer_expire_entry", [*timer, *now].map(Of::Number).into_iter().collect()),
        What::Expired => ("hrtimer_expire_exit", one(1)),
        What::TimerIn => ("local_timer_entry", Vec::new()),
        What::TimerOut => ("local_timer_exit", Vec::new()),
        What::IrqIn { number, name } => ("irq_handler_entry", vec![Of::Number(u64::from(*number)), text(name)]),
        What::IrqOut => ("irq_handler_exit", one(1)),
        What::SoftIn { vector } => ("softirq_entry", one(u64::from(*vector))),
        What::SoftOut => ("softirq_exit", one(1)),
        What::Idle { state } => ("cpu_idle", one(u64::from(state.unwrap_or(u32::MAX)))),
        What::Enter { number, registers } => {
            ("sys_enter", vec![Of::Number(u64::from(*number)), Of::Numbers(registers.unwrap_or_default())])
        }
        What::Exit { result } => ("sys_exit", one(*result as u64)),
        What::Named { .. } | What::Gap { .. } => return None,
    })
}

fn event(point: &Point, how: As) -> Vec<u8> {
    let Some((name, fields)) = fields(&point.what) else { return Vec::new() };
    let place = POINTS.iter().position(|entry| entry.name == name).unwrap();
    let entry = &POINTS[place];
    let message = match entry.message {
        (0, _) if how == As::Described => {
            let fields = fields.iter().enumerate().flat_map(|(at, of)| written(at as u32 + 1, of)).collect::<Vec<u8>>();
            bytes(65_536 + place as u32, &fields)
        }
        (0, _) => {
            let mut generic = bytes(1, name.as_bytes());
            for (called, of) in entry.fields.iter().zip(&fields) {
                generic.extend(bytes(2, &[bytes(1, called.as_bytes()), written(5, of)].concat()));
            }
            bytes(327, &generic)
        }
        (message, numbers) => {
            bytes(message, &numbers.iter().zip(&fields).flat_map(|(at, of)| written(*at, of)).collect::<Vec<u8>>())
        }
    };
    bytes(2, &[number(1, point.t), number(2, u64::from(point.tid)), message].concat())
}

/// Descriptions of all tracepoints without messages.
fn descriptions() -> Vec<u8> {
    let mut all = Vec::new();
    for (place, entry) in POINTS.iter().enumerate().filter(|(_, entry)| entry.message.0 == 0) {
        let mut description = bytes(1, entry.name.as_bytes());
        for (at, field) in entry.fields.iter().enumerate() {
            description.extend(bytes(2, &[bytes(1, field.as_bytes()), number(3, at as u64 + 1)].concat()));
        }
        let described = [number(1, 65_536 + place as u64), bytes(2, entry.system.as_bytes()), bytes(3, &description)];
        all.extend(bytes(11, &described.concat()));
    }
    all
}

fn columns(points: &[Point]) -> Vec<u8> {
    let mut names = Vec::new();
    let mut all: [Vec<u8>; 12] = std::array::from_fn(|_| Vec::new());
    let mut last = [0; 2];
    for point in points {
        let (first, task, other) = match &point.what {
            What::Switch { is_runnable, to, .. } => (1, to, u64::from(!is_runnable)),
            What::Waking { task, cpu } => (7, task, u64::from(*cpu)),
            _ => continue,
        };
        let at = names.iter().position(|name| *name == task.name).unwrap_or(names.len());
        names.extend((at == names.len()).then_some(task.name));
        let last = &mut last[usize::from(first == 7)];
        all[first].extend(varint(point.t - std::mem::replace(last, point.t)));
        let task_column = if first == 1 { 3 } else { 8 };
        all[if first == 1 { 2 } else { 9 }].extend(varint(other));
        all[task_column].extend(varint(u64::from(task.tid)));
        all[if first == 1 { 4 } else { 10 }].extend(varint(task.prio as u64));
        all[if first == 1 { 6 } else { 11 }].extend(varint(at as u64));
    }
    let mut message: Vec<u8> = names.iter().flat_map(|name| written(5, &text(name))).collect();
    for (field, column) in all.iter().enumerate().filter(|(_, column)| !column.is_empty()) {
        message.extend(bytes(field as u32, column));
    }
    bytes(4, &message)
}

pub fn recorded() -> Vec<Point> {
    let source = RECORDED;
    let mut stream = trace_dat::open(&source).unwrap();
    std::iter::from_fn(|| stream.next().unwrap()).collect()
}

/// The points as a trace, in packets of some events; without the packet of that number, which the next ones say.
fn trace(points: &[Point], how: As, is_compressed: bool, lost: Option<usize>) -> Vec<u8> {
    trace_of(points, how, is_compressed, lost, 1)
}

/// The same, as one sequence of packets. The first one says that those before it are missing.
pub fn trace_of(points: &[Point], how: As, is_compressed: bool, lost: Option<usize>, sequence: u64) -> Vec<u8> {
    let uname = [bytes(1, b"Linux"), bytes(3, b"6.18.44"), bytes(4, b"x86_64")].concat();
    let mut packets = vec![bytes(45, &bytes(1, &uname))];
    let mut is_dropped = true;
    for (at, part) in points.chunks(400).enumerate() {
        for cpu in 0..2 {
            let of: Vec<Point> = part.iter().filter(|point| point.cpu == cpu).copied().collect();
            if lost == Some(at) {
                is_dropped = true;
                continue;
            }
            let mut bundle = number(1, u64::from(cpu));
            if how == As::Described && at == 0 {
                bundle.extend(descriptions());
            }
            match how {
                As::Columns => bundle.extend(columns(&of)),
                _ => bundle.extend(of.iter().flat_map(|point| event(point, how))),
            }
            let dropped = if std::mem::take(&mut is_dropped) { number(42, 1) } else { Vec::new() };
            packets.push([bytes(1, &bundle), dropped, number(10, sequence)].concat());
        }
    }
    let mut all = Vec::new();
    for some in packets.chunks(3) {
        let plain: Vec<u8> = some.iter().flat_map(|packet| bytes(1, packet)).collect();
        all.extend(match is_compressed {
            true => bytes(1, &bytes(50, &zlib(&plain))),
            false => plain,
        });
    }
    all
}

fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, plain).unwrap();
    packed.finish().unwrap()
}

fn points(trace: &[u8]) -> Vec<Point> {
    assert_eq!(recognise(trace).map(|format| format.name), Some("a Perfetto trace"));
    let source = trace;
    let mut stream = super::open(&source).unwrap();
    let points = std::iter::from_fn(|| stream.next().unwrap()).collect();
    assert!(!stream.is_truncated() && stream.head().kernel == "6.18.44");
    points
}

#[test]
fn the_same_events_are_read_of_every_form() {
    let mut all = recorded();
    let last = *all.last().unwrap();
    let name = super::super::format::name(b"rustc");
    let more = [
        What::Migrate { tid: 7, to: 1 },
        What::Renamed { tid: 7, name, is_program: true },
        What::Renamed { tid: 7, name, is_program: false },
    ];
    all.extend((1..).zip(more).map(|(later, what)| Point { t: last.t + later, what, ..last }));
    for how in [As::Messages, As::Described] {
        for is_compressed in [false, true] {
            assert!(points(&trace(&all, how, is_compressed, None)) == all);
        }
    }
}

#[test]
fn columns_have_switches_and_wake_ups() {
    let read = points(&trace(&recorded(), As::Columns, false, None));
    let expected =
        recorded().into_iter().filter(|point| matches!(point.what, What::Switch { .. } | What::Waking { .. }));
    let what = |point: &Point| match point.what {
        What::Switch { is_runnable, to, .. } => (point.t, point.cpu, to, u16::from(is_runnable)),
        What::Waking { task, cpu } => (point.t, point.cpu, task, cpu),
        _ => unreachable!("columns have nothing else"),
    };
    assert_eq!(read.iter().map(what).collect::<Vec<_>>(), expected.map(|point| what(&point)).collect::<Vec<_>>());
}

/// Two data sources write by turns of their own: what one of them writes later may have happened before.
#[test]
fn sequences_are_merged_by_time() {
    let all = recorded();
    let (of_scheduler, rest): (Vec<Point>, Vec<Point>) =
        all.iter().copied().partition(|point| matches!(point.what, What::Switch { .. } | What::Wakeup { .. }));
    let write = |points: &[Point], sequence| trace_of(points, As::Messages, false, None, sequence);
    let by_time = |mut points: Vec<Point>| {
        points.sort_by_cached_key(|point| (point.t, point.cpu, format!("{:?}", point.what)));
        points
    };
    let two = [write(&rest, 3), write(&of_scheduler, 2)].concat();
    assert!(by_time(points(&two)) == by_time(all.clone()));
    // Both recorded the scheduler's events.
    let twice = [write(&all, 3), write(&of_scheduler, 2)].concat();
    assert!(by_time(points(&twice)) == by_time(all));
}

#[test]
fn dropped_packets_are_gaps() {
    let all = recorded();
    let (first, last) = (all[400].t, all[799].t);
    let gaps: Vec<(u64, u64)> = points(&trace(&all, As::Messages, false, Some(1)))
        .iter()
        .filter_map(|point| match point.what {
            What::Gap { until, .. } => Some((point.t, until)),
            _ => None,
        })
        .collect();
    assert_eq!(gaps.len(), 2);
    assert!(gaps.iter().all(|&(from, until)| from < first + 1_000_000 && from < until && until > last - 1_000_000));
}

#[test]
fn a_thread_that_was_started_meanwhile_is_of_the_process_that_started_it() {
    let all = recorded();
    let tid = |name: &[u8]| {
        let of = |point: &Point| match point.what {
            What::Switch { to, .. } if to.name.starts_with(name) => Some(to.tid),
            _ => None,
        };
        all.iter().find_map(of).unwrap()
    };
    let (loops, program) = (tid(b"v-abs"), tid(b"victim"));
    let name = super::super::format::name(b"victim");
    let started = |is_thread| {
        let begin = Point { tid: program, what: What::NewTask { child: loops, name, is_thread }, ..all[0] };
        let file = replay(&FORMAT, &&trace(&[&[begin], &all[..]].concat(), As::Messages, false, None)[..]).unwrap();
        let threads: Vec<_> = file.series.iter().filter_map(oversleep_record::Identity::of).collect();
        threads.into_iter().find(|of| of.thread == "v-abs").unwrap().program
    };
    assert_eq!([started(true), started(false)], ["victim", "v-abs"]);
}

/// Without each tracepoint, no wait claims a part that needs it.
#[test]
fn what_a_trace_lacks_is_in_no_wait() {
    let needs: [(&str, &[Part]); 7] = [
        ("sys_exit", &[Part::Api, Part::Ret]),
        ("hrtimer_start", &[Part::Api, Part::Slack, Part::Irq, Part::Irqbody, Part::Wake, Part::Ipi]),
        ("hrtimer_expire_entry", &[Part::Slack, Part::Irq, Part::Irqbody, Part::Wake]),
        ("hrtimer_expire_exit", &[]),
        ("local_timer_entry", &[Part::Irqbody]),
        ("sched_waking", &[Part::Wake, Part::Ipi]),
        ("sched_wakeup", &[Part::Ipi, Part::Runq]),
    ];
    for (lacks, parts) in needs {
        let mut rest = recorded();
        rest.retain(|point| fields(&point.what).is_none_or(|(name, _)| name != lacks));
        let file = replay(&FORMAT, &&trace(&rest, As::Described, false, None)[..]).unwrap();
        let unseen = file.observation.unwrap().unseen;
        // Without expiries, nothing tells how the trace's clock relates to the timers'.
        assert_eq!(file.series.is_empty(), lacks == "hrtimer_expire_entry", "{lacks}");
        for part in parts {
            let splits = file.series.iter().filter_map(|series| series.why.as_ref()?.parts.get(part));
            let claimed = splits.filter_map(|values| values.max()).max().unwrap_or(0);
            assert!(unseen.contains(part) && claimed == 0, "{lacks}: {part:?} {claimed}");
        }
    }
}

#[test]
fn dropped_packets_make_no_wait_later() {
    let all = recorded();
    let latest = |lost: Option<usize>| {
        let file = replay(&FORMAT, &&trace(&all, As::Messages, false, lost)[..]).unwrap();
        let waits: u64 = file.series.iter().map(|series| series.distribution.count()).sum();
        (waits, file.series.iter().filter_map(|series| series.distribution.max()).max().unwrap_or(0))
    };
    let (waits, most) = latest(None);
    for lost in 0..all.len() / 400 {
        let (fewer, late) = latest(Some(lost));
        assert!(fewer < waits && late <= most, "{lost}: {fewer} of {waits}, {late} of {most}");
    }
}

#[test]
fn damaged_traces_are_read_or_refused() {
    for how in [As::Messages, As::Described, As::Columns] {
        for is_compressed in [false, true] {
            damage::each(&trace(&recorded()[..500], how, is_compressed, None), damage::inputs(50), |bad| {
                if let Some(format) = recognise(bad) {
                    let says = replay(format, &bad).map_or_else(|fault| fault.to_string(), |_| String::new());
                    assert!(says.len() < 300 && !says.contains(char::is_control), "{says}");
                }
            });
        }
    }
}

#[test]
fn every_truncation_is_read_or_refused() {
    let whole = trace(&recorded(), As::Described, true, None);
    let is_thorough = std::env::var_os("OVERSLEEP_INPUTS").is_some();
    let (first, rest) = (0..whole.len().min(16 << 10), 16 << 10..whole.len());
    let sizes =
        first.step_by(if is_thorough { 1 } else { 997 }).chain(rest.step_by(if is_thorough { 97 } else { 9_973 }));
    sizes.for_each(|size| drop(replay(&FORMAT, &&whole[..size])));
}

#[test]
fn a_name_is_cut_where_it_says_least() {
    let cut = |called: &str| String::from_utf8(super::short(called.as_bytes()).to_vec()).unwrap();
    assert_eq!(cut("/system/bin/logd"), "logd");
    assert_eq!(cut("ksoftirqd/2"), "ksoftirqd/2");
    assert_eq!(cut("kworker/0:2-events"), "kworker/0:2-events", "its beginning is kept");
    assert_eq!(cut("com.android.chrome"), ".android.chrome");
    assert_eq!(cut("/vendor/bin/hw/android.hardware.graphics.composer@2.3-service"), "ser@2.3-service");
}
