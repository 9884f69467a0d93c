//! Records that Windows wrote.

use oversleep_recordings::{recognise, replay};
use oversleep_why::etw::{Class, Record, Translator, decode};
use oversleep_why::event::Kind;

use crate::support::{open, result};
use crate::write::{Header, LOST_CPU, PROCESS, THREAD, Trace};

const RECORDS: &str = include_str!("files/switches.txt");
const COMPRESSED: &[u8] = include_bytes!("files/compressed.etl");

struct Real {
    t: u64,
    cpu: u16,
    group: u8,
    opcode: u8,
    version: u16,
    payload: Vec<u8>,
}

fn records() -> Vec<Real> {
    let one = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let [t, cpu, class, opcode, version, hex] = fields[..] else { panic!("{line}") };
        let payload = hex.as_bytes().chunks(2).map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap());
        Real {
            t: t.parse().unwrap(),
            cpu: cpu.parse().unwrap(),
            group: if class == "thread" { THREAD } else { PROCESS },
            opcode: opcode.parse().unwrap(),
            version: version.parse().unwrap(),
            payload: payload.collect(),
        }
    };
    RECORDS.lines().map(one).collect()
}

/// Sleeps of Windows 7, in a file of today: one thread's sleep begins, and is over 1 ms later.
fn file() -> Vec<u8> {
    let mut trace = Trace::default();
    let all = records();
    let us = |t: u64| (t - all[0].t) as f64 / 10.0 + 100.0;
    for real in &all {
        let of = (real.group, real.opcode, real.version);
        trace.kernel(real.cpu, us(real.t), Header::PerfInfo, of, &real.payload);
    }
    let sleeper = 964;
    trace.ready(0, 1_100.0, sleeper);
    trace.switch_from(0, 1_130.0, (3_128, sleeper), LOST_CPU);
    trace.write(&[])
}

#[test]
fn each_switch_says_whom_the_one_before_brought() {
    let mut translator = Translator::new(None, false);
    let (mut events, mut states) = (Vec::new(), Vec::new());
    for real in records().iter().filter(|real| real.opcode == 36) {
        let record = decode(Class::Thread, real.opcode, &real.payload).unwrap();
        let Record::Switch { old, old_state, .. } = record else { panic!("{record:?}") };
        if old != 0 {
            states.push(old_state);
        }
        let stamped = oversleep_why::etw::Stamped { t: real.t, cpu: real.cpu, thread: u32::MAX, record };
        translator.feed(&stamped, &mut events);
    }
    assert!(events.iter().all(|event| event.kind != Kind::Lost));
    // Of 13 switches away from a thread, three were made ready before: two are next, one goes on at once.
    states.sort_unstable();
    assert_eq!(states, [1, 2, 3, 3, 5, 5, 5, 5, 5, 5, 5, 5, 5]);
}

#[test]
fn real_switches_are_waits() {
    let file = file();
    let bytes = &file[..];
    let opened = open(&bytes);
    let counts: Vec<_> = opened.counts.iter().filter(|(_, count)| *count != 0).map(|(name, n)| (&**name, *n)).collect();
    assert_eq!(
        counts,
        [("CSwitch", 22), ("ReadyThread", 1), ("Thread", 1), ("Process", 1), ("records", 26)],
        "and the file's own"
    );
    let result = result(&file, None);
    let observation = result.observation.unwrap();
    let [wait] = &observation.worst[..] else { panic!("{:#?}", observation.worst) };
    assert_eq!((wait.tid, wait.lateness_ns, wait.parts.runq, wait.prio), (964, 30_000, 30_000, Some(22)));
    assert_eq!(observation.losses.no_room, 0);
    let program = observation.processes.iter().map(|named| (named.tgid, &*named.name)).collect::<Vec<_>>();
    assert_eq!(program, [(328, "audiodg.exe")]);
}

#[test]
fn a_compressed_trace_of_windows_11_is_read_to_its_end() {
    let format = recognise(COMPRESSED).unwrap();
    let fault = replay(format, &COMPRESSED).unwrap_err().to_string();
    assert!(fault.contains("no CSwitch events") && fault.contains("(it has 22 records)"), "{fault}");
    for end in 0..COMPRESSED.len() {
        let cut = &COMPRESSED[..end];
        assert!(recognise(cut).is_none_or(|format| replay(format, &cut).is_err()), "{end}");
    }
}
