//! What becomes of streams, whole: the results of the recording and of each kind of wait are in `tests/results/`, where the
//! tests of reports and of shared copies read them. `OVERSLEEP_UPDATE_GOLDEN=1` writes them again; read the difference
//! before you commit it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use oversleep_record::ResultFile;
use oversleep_record::observed::{By, Losses};
use oversleep_why::calls::Arch;
use oversleep_why::recording::{Meta, Reader};
use oversleep_why::session::replay;
use oversleep_why::{Builder, Kind, Machine, Outcome, Part, Wait};

use crate::stream::{D, PAUSE, RECVFROM, Stream};

static FIFO: &[u8] = include_bytes!("../recorded/fifo.why");

fn folder() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.join("tests/results")
}

fn meta() -> Meta {
    Reader::new(FIFO).expect("a recording").meta
}

/// A result of the recording's waits, each changed.
fn of_recorded(meta: Meta, losses: Losses, count: usize, change: fn(Wait) -> Option<Wait>) -> ResultFile {
    let mut machine = Machine::new(meta.arch);
    let mut builder = Builder::new();
    for event in Reader::new(FIFO).expect("a recording") {
        builder.saw(event.t);
        machine.feed(&event);
    }
    machine.finish();
    for wait in machine.take().into_iter().take(count) {
        match change(wait.clone()) {
            Some(wait) => builder.add(&wait, "app"),
            None => builder.leave_out(&wait),
        }
    }
    builder.finish(meta, None, losses, &machine)
}

/// The recording as if no thread had waited for a CPU.
fn cured() -> ResultFile {
    of_recorded(meta(), Losses::default(), usize::MAX, |mut wait| {
        wait.lateness_ns -= wait.parts.get(Part::Runq);
        wait.parts.runq = 0;
        Some(wait)
    })
}

/// One wait and one that was not selected, in a recording that was cut off.
fn one() -> ResultFile {
    let losses = Losses { is_truncated: true, ..Losses::default() };
    of_recorded(meta(), losses, 2, |wait| (wait.tid == 403).then_some(wait))
}

/// Waits of a program that a supervisor followed, none of which ended by its timer.
fn none() -> ResultFile {
    let meta = Meta { target: String::new(), by: By::Supervisor, ..meta() };
    of_recorded(meta, Losses::default(), usize::MAX, |wait| {
        (wait.tid == 403).then_some(Wait { outcome: Outcome::Event, ..wait })
    })
}

/// Waits of every kind.
fn streams() -> Vec<(&'static str, Stream)> {
    let plain = Stream::plain;
    let changed = |change: fn(&mut Stream)| {
        let mut stream = plain();
        change(&mut stream);
        stream
    };
    let late = changed(|stream| stream.late_by(200_000));
    let at = D + 50_000;
    let mut idle = late.context((1, 2), (1, 2), 0);
    idle.find(Kind::Fire).fields[2] = 3;
    vec![
        ("plain", plain()),
        ("stopped", Stream::stopped()),
        ("stopped-select", Stream::stopped_select()),
        ("posix-timer", Stream::posix_timer(PAUSE, -4_i64 as u64)),
        ("timerfd", Stream::timerfd()),
        ("late", late.clone()),
        ("late-by-softirq", late.context((0, 0), (at, at + 200_000), 3)),
        ("late-by-interrupt", late.context((at + 10_000, at + 190_000), (1, 2), 11 << 32)),
        ("late-by-idle-cpu", idle),
        ("quota", changed(|stream| stream.throttled_after_return(2_000, 40_000_000))),
        ("preempted", changed(|stream| stream.preempted_before_return(100, 800))),
        ("stolen", changed(|stream| stream.steal(D, D + 10_000_000, 20_000_000))),
        (
            "hog",
            changed(|stream| {
                stream.run("hog", 77, (D, D + 56_900), (1, 49));
            }),
        ),
        (
            "called-late",
            changed(|stream| {
                let arm = stream.find(Kind::Arm);
                (arm.fields, arm.t) = ([D + 20_000, D, 2, D, D, 0], D + 20_100);
                stream.find(Kind::Out).t = D + 20_200;
            }),
        ),
        // The timer's own event is missing, and the call says that its time was over.
        ("timer-lost", changed(|stream| stream.lose(Kind::Fire))),
        ("signal", changed(|stream| stream.find(Kind::Return).fields[0] = -4_i64 as u64)),
        ("socket-timeout", of_timer(2)),
        ("unseen-timer", of_timer(3)),
    ]
}

/// A call with a timer of that kind.
fn of_timer(kind: u64) -> Stream {
    let mut stream = Stream::of(RECVFROM);
    stream.find(Kind::Arm).fields = [D - 1_000_000, 0, kind << 8, D, D, 0];
    stream.lose(Kind::Fire);
    stream.find(Kind::Return).fields[0] = -11_i64 as u64;
    stream
}

/// Each wait so many times, every second of them later: what is added up is seen in the sums. Of equal waits one is shown.
fn of_streams(streams: &[(&str, Stream)], times: u64) -> ResultFile {
    let mut builder = Builder::new();
    let mut machine = Machine::new(Arch::X86_64);
    for (_, stream) in streams {
        for n in 0..times {
            let mut stream = stream.clone();
            stream.events.last_mut().unwrap().t += 700 * (n % 2);
            machine = Machine::new(Arch::X86_64);
            stream.events.iter().for_each(|event| machine.feed(event));
            machine.finish();
            machine.take().iter().for_each(|wait| builder.add(wait, "app"));
        }
    }
    let mut file = builder.finish(meta(), None, Losses::default(), &machine);
    file.observation.iter_mut().for_each(|observation| observation.worst.dedup());
    file
}

/// Every result, by the name of its file.
fn all() -> Vec<(String, ResultFile)> {
    let streams = streams();
    // A conclusion needs eight waits.
    let one_kind = |stream| of_streams(std::slice::from_ref(stream), 10);
    let alone = streams.iter().map(|stream| (format!("made-{}", stream.0), one_kind(stream)));
    let recorded = [
        ("recorded", replay(FIFO).expect("a recording")),
        ("recorded-cured", cured()),
        ("recorded-one", one()),
        ("recorded-none", none()),
        ("made-all", of_streams(&streams, 2)),
    ];
    recorded.map(|(name, file)| (name.to_owned(), file)).into_iter().chain(alone).collect()
}

#[test]
fn streams_become_the_results_that_reports_are_tested_with() {
    let mut names = BTreeSet::new();
    for (name, mut file) in all() {
        file.tool.version = "0.0.0".to_owned();
        let name = format!("{name}.json");
        let path = folder().join(&name);
        if std::env::var_os("OVERSLEEP_UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(folder()).unwrap();
            std::fs::write(&path, file.write()).unwrap();
        }
        let kept = std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(ResultFile::read(&kept).expect("a result") == file, "{name} is the result of another stream");
        names.insert(name);
    }
    let kept = std::fs::read_dir(folder()).unwrap();
    let kept: BTreeSet<String> = kept.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(kept, names, "no other file is there");
}
