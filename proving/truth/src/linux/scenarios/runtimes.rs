//! The same millisecond in other languages.

use std::process::Command;
use std::time::Duration;

use oversleep_why::{Part, Wait};

use super::{Scenario, us};
use crate::system::observe::{judge, p50, waits_from};
use crate::system::program::{self, Dir};

pub const ALL: &[(&str, Scenario)] = &[
    ("python 1 ms", || runtime(Command::new("python3").args(["-c", PYTHON]))),
    ("java 1 ms", java),
    ("go 1 ms", go),
    ("node 1 ms", || runtime(Command::new("node").args(["-e", NODE]))),
];

const PYTHON: &str = "import time\nwhile True: time.sleep(0.001)";
const NODE: &str = "setInterval(() => {}, 1)";
const JAVA: &str = "class T { public static void main(String[] a) throws Exception { while (true) Thread.sleep(1); } }";
const GO: &str = "package main\nimport \"time\"\nfunc main() { for { time.Sleep(time.Millisecond) } }\n";

/// Waits of 1 ms, with the slack that a thread begins with.
fn runtime(command: &mut Command) -> Result<String, String> {
    let waits = waits_from(command, Duration::from_secs(4))?;
    let near = |wait: &Wait| wait.requested_ns.is_some_and(|ns| (900_000..=1_100_000).contains(&ns));
    let waits: Vec<Wait> = waits.into_iter().filter(near).collect();
    let slack = p50(&waits, Part::Slack)?;
    let calls: std::collections::BTreeSet<_> = waits.iter().filter_map(|wait| wait.call.clone()).collect();
    let calls = calls.into_iter().collect::<Vec<_>>().join(", ");
    judge((45_000..=50_000).contains(&slack), format!("slack {} at p50 of {} waits ({calls})", us(slack), waits.len()))
}

fn java() -> Result<String, String> {
    let dir = Dir::new()?;
    let source = dir.file("T.java", JAVA)?;
    runtime(Command::new("java").arg(source))
}

fn go() -> Result<String, String> {
    let dir = Dir::new()?;
    let (source, binary) = (dir.file("t.go", GO)?, dir.0.join("t"));
    program::build(Command::new("go").args(["build", "-o"]).arg(&binary).arg(source).env("GO111MODULE", "off"))?;
    runtime(&mut Command::new(binary))
}
