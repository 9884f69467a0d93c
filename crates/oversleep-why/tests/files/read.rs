//! Everything that a reader sees of results, word for word: a figure, a part or a sentence that changes is seen in the
//! difference. `OVERSLEEP_UPDATE_GOLDEN=1` writes the texts again; read the difference before you commit it.

use std::path::PathBuf;

use oversleep_why::by::By;
use oversleep_why::calls::Arch;
use oversleep_why::compare::{compare, words};
use oversleep_why::share::share;
use oversleep_why::{Builder, Kind, Machine, Part, Summary, text};

use crate::stream::{D, PAUSE, RECVFROM, Stream};

static FIFO: &[u8] = include_bytes!("../recorded/fifo.why");

fn reads(name: &str, text: &str) {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let golden = here.join("tests/files/read").join(name);
    if std::env::var_os("OVERSLEEP_UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, text).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap().replace("\r\n", "\n");
    let changed = text.lines().zip(expected.lines()).position(|(now, before)| now != before);
    let line = |text: &str| changed.and_then(|line| text.lines().nth(line).map(str::to_owned));
    assert_eq!(line(text), line(&expected), "{name}, line {changed:?}");
    assert_eq!(text.lines().count(), expected.lines().count(), "{name}");
}

fn recorded() -> Summary {
    Summary::of_bytes(FIFO).expect("a recording")
}

/// The recording as if no thread had waited for a CPU, and one had made another call.
fn cured() -> Summary {
    let before = recorded();
    let mut machine = Machine::new(before.meta.arch);
    oversleep_why::recording::Reader::new(FIFO).unwrap().for_each(|event| machine.feed(&event));
    machine.finish();
    let mut builder = Builder::new();
    for mut wait in machine.take() {
        wait.lateness_ns -= wait.parts.get(Part::Runq);
        wait.parts.runq = 0;
        builder.add(&wait, "app");
    }
    builder.finish(before.meta, None, Default::default(), &machine)
}

/// Results that say of themselves, in order: all that a result can say; one selected wait; no wait.
fn special() -> [Summary; 3] {
    let mut one = recorded();
    (one.left_out, one.losses.is_truncated) = (1, true);
    one.groups.truncate(1);
    one.groups[0].count = 1;
    one.worst.truncate(1);
    one.worst[0].stack.user = vec!["clock_nanosleep+0x5a (libc.so.6)".to_owned()];
    let mut none = recorded();
    none.meta.target.clear();
    (none.left_out, none.meta.by) = (2, By::Supervisor);
    none.groups.iter_mut().for_each(|group| group.count = 0);
    (none.worst, none.findings) = (Vec::new(), Vec::new());
    [super::golden::everything(), one, none]
}

/// Waits of every kind, each kind for itself, then all of them.
fn made() -> Vec<Summary> {
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
    let streams = [
        plain(),
        Stream::stopped(),
        Stream::stopped_select(),
        Stream::posix_timer(PAUSE, -4_i64 as u64),
        Stream::timerfd(),
        late.clone(),
        late.context((0, 0), (at, at + 200_000), 3),
        late.context((at + 10_000, at + 190_000), (1, 2), 11 << 32),
        idle,
        changed(|stream| stream.throttled_after_return(2_000, 40_000_000)),
        changed(|stream| stream.preempted_before_return(100, 800)),
        changed(|stream| stream.steal(D, D + 10_000_000, 20_000_000)),
        changed(|stream| {
            stream.run("hog", 77, (D, D + 56_900), (1, 49));
        }),
        changed(|stream| {
            let arm = stream.find(Kind::Arm);
            (arm.fields, arm.t) = ([D + 20_000, D, 2, D, D, 0], D + 20_100);
            stream.find(Kind::Out).t = D + 20_200;
        }),
        // The timer's own event is missing, and the call says that its time was over.
        changed(|stream| stream.lose(Kind::Fire)),
        changed(|stream| stream.find(Kind::Return).fields[0] = -4_i64 as u64),
        // A socket's timeout, and a call whose timer nobody saw.
        of_timer(2),
        of_timer(3),
    ];
    streams.chunks(1).chain([&streams[..]]).map(summary_of).collect()
}

/// Each wait twice, the second later: what is added up is seen in the sums.
fn summary_of(streams: &[Stream]) -> Summary {
    let mut builder = Builder::new();
    let mut machine = Machine::new(Arch::X86_64);
    for (stream, later) in streams.iter().flat_map(|stream| [(stream, 0), (stream, 700)]) {
        let mut stream = stream.clone();
        stream.events.last_mut().unwrap().t += later;
        machine = Machine::new(Arch::X86_64);
        stream.events.iter().for_each(|event| machine.feed(event));
        machine.finish();
        machine.take().iter().for_each(|wait| builder.add(wait, "app"));
    }
    builder.finish(recorded().meta, None, Default::default(), &machine)
}

/// A call with a timer of that kind.
fn of_timer(kind: u64) -> Stream {
    let mut stream = Stream::of(RECVFROM);
    stream.find(Kind::Arm).fields = [D - 1_000_000, 0, kind << 8, D, D, 0];
    stream.lose(Kind::Fire);
    stream.find(Kind::Return).fields[0] = -11_i64 as u64;
    stream
}

#[test]
fn reports() {
    let all = [recorded(), share(&recorded())].into_iter().chain(special()).chain(made());
    reads("reports.txt", &all.map(|summary| text::report(&summary)).collect::<Vec<_>>().join("\n----\n"));
}

#[test]
fn comparisons() {
    let [everything, one, none] = special();
    let mut other_call = cured();
    other_call.groups[0].key.call = "epoll_pwait2".to_owned();
    let mut two_calls = other_call.clone();
    two_calls.groups.push(two_calls.groups[0].clone());
    two_calls.groups.last_mut().unwrap().key.call = "poll".to_owned();
    let all = [
        vec![recorded(), cured(), recorded()],
        vec![cured(), recorded()],
        vec![recorded(), other_call],
        vec![recorded(), two_calls],
        vec![recorded(), everything],
        vec![one, none],
    ];
    let texts = all.iter().map(|runs| words::text(&compare(runs).expect("two results")));
    reads("comparisons.txt", &texts.collect::<Vec<_>>().join("\n----\n"));
}
