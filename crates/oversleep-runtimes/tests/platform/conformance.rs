//! Whether the probe of every runtime that is installed here follows the protocol. Probes are compiled into a directory of
//! the build and kept there. Some seconds, and a minute where nothing is compiled yet: run with `-- --ignored`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use oversleep_record::probe::{Hello, OpKind, Record};
use oversleep_runtimes::{Cache, Installation, Launch, Op, Surroundings, Wanted};
use oversleep_testing::skip;

/// Only to end a probe that hangs.
const LONGEST: Duration = Duration::from_secs(3_600);

/// Every runtime here whose probe can be compiled, and how it is started.
fn here() -> (Surroundings, Vec<(Installation, Launch)>) {
    let mut surroundings = Surroundings::here(&oversleep_native::here().id().os);
    surroundings.variables.retain(|(name, _)| name != "XDG_CACHE_HOME");
    surroundings.variables.push(("XDG_CACHE_HOME".to_owned(), OsString::from(env!("CARGO_TARGET_TMPDIR"))));
    let survey = Wanted::default().survey(&surroundings).unwrap();
    survey.missing.iter().for_each(|one| skip(format!("{}: {}", one.name, one.reason)));
    let cache = Cache::open(&surroundings);
    let launch = |one: Installation| match one.launch(&cache, &surroundings) {
        Ok(launch) => Some((one, launch)),
        Err(reason) => {
            skip(format!("{}: {reason}", one.id));
            None
        }
    };
    let all = survey.found.into_iter().filter_map(launch).collect();
    (surroundings, all)
}

/// What a probe says of these steps, from `hello` to `end`, its lines of other kinds left out.
fn records(launch: &Launch, tokens: &[String]) -> Vec<Record> {
    let conversation = launch.converse(tokens, LONGEST);
    assert_eq!(conversation.unfinished, None, "{} {tokens:?}: {:?}", launch.id, conversation.lines);
    let read = |line: &String| Record::read(line).unwrap_or_else(|error| panic!("{}: {error}", launch.id));
    conversation.lines.iter().filter_map(read).collect()
}

fn now(record: &Record) -> i64 {
    match record {
        Record::Hello(Hello { now, .. }) | Record::End { now } => *now,
        other => panic!("neither hello nor end: {other:?}"),
    }
}

fn check(launch: &Launch, op: &Op) {
    let (id, name) = (&launch.id, &op.name);
    let requests: &[i64] = if op.kind == OpKind::Wait { &[2_000_000, 1_000_000] } else { &[0] };
    let count = if op.slow { 1 } else { 3 };
    let token = |request: &i64| match op.kind {
        OpKind::Work => format!("{name}@1000000@{count}"),
        _ => format!("{name}@{request}@{count}"),
    };
    let all = records(launch, &requests.iter().map(token).collect::<Vec<_>>());
    let (first, last) = (now(&all[0]), now(all.last().unwrap()));
    assert!(first < last, "{id}: {first} to {last}");
    let mut earlier = first;
    let mut answered = Vec::new();
    for record in &all[1..all.len() - 1] {
        match record {
            Record::S(samples) => {
                assert_eq!((&samples.op, samples.n), (name, count), "{id}");
                if samples.by.is_some() {
                    continue;
                }
                answered.push(samples.requested);
                for (start, duration) in samples.t.iter().zip(&samples.d) {
                    assert!(*start >= earlier && *duration > 0, "{id} {name}: {samples:?}");
                    earlier = start + duration;
                }
                assert!(earlier <= last, "{id} {name}: it ended after the end");
                assert!(samples.rounded <= samples.requested + 1_000_000, "{id} {name}: {samples:?}");
            }
            Record::C(reads) => {
                assert!(reads.op == *name && reads.n == count, "{id}: {reads:?}");
                assert!(reads.d.iter().all(|&ns| ns > 0) && reads.step.iter().all(|&ns| ns > 0), "{id}: {reads:?}");
                answered.push(0);
            }
            Record::Skip { op, why } => panic!("{id} {op}: {why}"),
            other => panic!("{id} {name}: {other:?}"),
        }
    }
    let expected = if op.kind == OpKind::Work { vec![1_000_000] } else { requests.to_vec() };
    assert_eq!(answered, expected, "{id} {name}: each step is answered, in its order");
}

#[test]
#[ignore = "real time; compiles the probes of all runtimes"]
fn every_probe_follows_the_protocol() {
    let (surroundings, all) = here();
    for (installation, launch) in &all {
        let id = &launch.id;
        let listed = records(launch, &["list".to_owned()]);
        let Record::Hello(hello) = &listed[0] else { panic!("{id}: hello comes first") };
        assert_eq!(hello.runtime, launch.runtime.name, "{id}");
        assert!(!hello.version.is_empty() && !hello.clock.is_empty(), "{hello:?}");
        let named = |record: &Record| match record {
            Record::Op { op, kind } => Some((op.clone(), format!("{kind:?}"))),
            _ => None,
        };
        let listed: BTreeSet<_> = listed.iter().filter_map(named).collect();
        let is_here = |op: &&Op| op.is_on(&surroundings.os) && installation.has(op);
        let described: Vec<&Op> = installation.descriptor.op.iter().filter(is_here).collect();
        let expected: BTreeSet<_> = described.iter().map(|op| (op.name.clone(), format!("{:?}", op.kind))).collect();
        assert_eq!(listed, expected, "{id}: what it lists, and what its description has");
        for op in described {
            check(launch, op);
        }
        // Nobody knows this one, and the next step is done all the same.
        let clock = installation.descriptor.op.iter().find(|op| op.kind == OpKind::Clock).unwrap();
        let answers = records(launch, &["no-such-call@1000@1".to_owned(), format!("{}@0@1", clock.name)]);
        assert!(matches!(&answers[1], Record::Skip { op, .. } if op == "no-such-call"), "{id}: {answers:?}");
        assert!(matches!(answers[2], Record::C(_)), "{id}: {answers:?}");
        println!("{id}: {} waits, clocks and workloads", expected.len());
    }
}

/// A probe is killed at the end of its time and by Ctrl-C. .NET left sockets then, and Mono its performance counters.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "real time; compiles the probes of all runtimes"]
fn a_probe_that_is_killed_leaves_no_file() {
    use std::fs;
    use std::io::{BufRead, BufReader};

    let (surroundings, all) = here();
    for (installation, launch) in &all {
        let is_wait = |op: &&Op| op.kind == OpKind::Wait && op.is_on(&surroundings.os) && installation.has(op);
        let Some(wait) = installation.descriptor.op.iter().find(is_wait) else { continue };
        let steps = [format!("{}@1000000@1", wait.name), format!("{}@1000000000@60", wait.name)];
        let mut child = launch.command(&steps).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let has_waited = lines.any(|line| matches!(Record::read(&line), Ok(Some(Record::S(_)))));
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
        assert!(has_waited, "{}", launch.id);
        let pid = child.id().to_string();
        let files = ["/dev/shm", "/tmp"].iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let mut names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
        assert_eq!(names.find(|name| name.contains(&pid)), None, "{}", launch.id);
    }
}

/// Go's scheduler interrupts system calls with SIGURG whenever it likes; a wait that ended then would be no wait.
#[test]
#[ignore = "real time; compiles the probe of Go"]
fn a_signal_of_the_scheduler_does_not_end_a_wait_of_go() {
    let (_, all) = here();
    let Some((_, launch)) = all.iter().find(|(one, _)| one.descriptor.name == "go") else {
        return skip("Go isn't installed");
    };
    let tokens = ["syscall.Nanosleep@20000000@20".to_owned()];
    let mut child = launch.command(&tokens).stdout(Stdio::piped()).spawn().expect("it starts");
    let pid = child.id().to_string();
    // tgkill, for each thread: a signal to the process would reach its first thread only.
    let number = if cfg!(target_arch = "x86_64") { "234" } else { "131" };
    let script =
        r#"syscall($ARGV[1] + 0, $ARGV[0] + 0, $_ =~ /(\d+)$/ ? $1 + 0 : 0, 23) for glob "/proc/$ARGV[0]/task/*""#;
    while child.try_wait().expect("it is ours").is_none() {
        if Command::new("perl").args(["-e", script, &pid, number]).status().is_err() {
            return skip("Perl isn't installed, which sends the signals");
        }
        thread::sleep(Duration::from_millis(2));
    }
    let mut text = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut text).expect("it is text");
    let samples = text.lines().find_map(|line| match Record::read(line) {
        Ok(Some(Record::S(samples))) => Some(samples),
        _ => None,
    });
    let samples = samples.unwrap_or_else(|| panic!("{text}"));
    assert!(samples.d.len() == 20 && samples.d.iter().all(|&d| d >= 20_000_000), "{samples:?}");
}
