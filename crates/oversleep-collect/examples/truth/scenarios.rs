//! Programs that do what the split should show.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use oversleep_why::{Part, Wait};

use crate::observe::{Running, collector, judge, p50, quantile, timed, waits_from, waits_of, watch};
use crate::victim;

type Scenario = fn() -> Result<String, String>;

pub const ALL: &[(&str, Scenario)] = &[
    ("slack 1 ns", || slack(1, 0, 1_000)),
    ("slack 50 µs", || slack(50_000, 45_000, 50_000)),
    ("slack 5 ms", || slack(5_000_000, 500_000, 5_000_000)),
    ("epoll_wait rounds", epoll_rounds),
    ("select's share", selects_share),
    ("FIFO hog", fifo_hog),
    ("fair hog", fair_hog),
    ("SIGSTOP", stopped),
    ("CPU quota", quota),
    ("CPU changed", moved),
    ("timerfd", timerfd),
    ("socket timeout", socket),
    ("python 1 ms", || runtime(Command::new("python3").args(["-c", PYTHON]))),
    ("java 1 ms", java),
    ("go 1 ms", go),
    ("node 1 ms", || runtime(Command::new("node").args(["-e", NODE]))),
];

const SPAN: Duration = Duration::from_secs(2);
const PYTHON: &str = "import time\nwhile True: time.sleep(0.001)";
const NODE: &str = "setInterval(() => {}, 1)";

fn us(ns: i64) -> String {
    format!("{:.1} µs", ns as f64 / 1e3)
}

fn slack(ns: u64, least: i64, most: i64) -> Result<String, String> {
    let victim = Running::start(&mut victim::command(&format!("slack:{ns}")))?;
    sleep(Duration::from_millis(100));
    let waits = waits_of(victim.pid(), SPAN)?;
    let seen = p50(&waits, Part::Slack)?;
    judge((least..=most).contains(&seen), format!("slack {} at p50 of {} waits", us(seen), waits.len()))
}

fn epoll_rounds() -> Result<String, String> {
    let program = "import select\ne = select.epoll()\nwhile True: e.poll(0.0012)";
    let waits = waits_from(Command::new("python3").args(["-c", program]), SPAN)?;
    let waits: Vec<Wait> = waits.into_iter().filter(|wait| wait.call.as_deref() == Some("epoll_wait")).collect();
    let waits: Vec<Wait> = waits.into_iter().map(|wait| wait.wanting(1_200_000)).collect();
    let api = p50(&waits, Part::Api)?;
    judge((800_000..830_000).contains(&api), format!("api {} of what is wanted (1.2 ms)", us(api)))
}

fn selects_share() -> Result<String, String> {
    let program = "import select\nwhile True: select.select([], [], [], 0.3)";
    let waits = waits_from(Command::new("python3").args(["-c", program]), Duration::from_secs(4))?;
    let waits: Vec<Wait> = waits.into_iter().filter(|wait| wait.requested_ns == Some(300_000_000)).collect();
    let most = quantile(&waits, Part::Slack, 0.99)?;
    judge((150_000..=300_000).contains(&most), format!("slack up to {} of 300 ms", us(most)))
}

/// The victim and its hog on one CPU; the victim's waits.
fn beside(hog: &mut Command) -> Result<Vec<Wait>, String> {
    let _hog = Running::start(hog)?;
    let victim = Running::start(&mut victim::with(&["taskset", "-c", "1"], "waits:1000"))?;
    sleep(Duration::from_millis(100));
    waits_of(victim.pid(), SPAN)
}

fn fifo_hog() -> Result<String, String> {
    let waits = beside(&mut victim::with(&["taskset", "-c", "1", "chrt", "-f", "50"], "bursts:3"))?;
    let longest = waits.iter().max_by_key(|wait| wait.parts.runq).ok_or("no wait was seen")?;
    let culprit = longest.culprits.first().ok_or("nobody was named")?;
    let text = format!(
        "runq {}: {} (policy {}, priority {})",
        us(longest.parts.runq),
        culprit.name,
        culprit.policy,
        99 - culprit.prio
    );
    let is_right = culprit.name == "truth" && culprit.policy == 1 && culprit.prio == 49 && culprit.is_pinned;
    judge(is_right && longest.parts.runq > 1_500_000, text)
}

fn fair_hog() -> Result<String, String> {
    let waits = beside(&mut victim::with(&["taskset", "-c", "1"], "bursts:1000"))?;
    let delayed: Vec<&Wait> = waits.iter().filter(|wait| wait.parts.runq > 5_000).collect();
    let named = delayed.iter().filter(|wait| wait.culprits.iter().any(|culprit| culprit.name == "truth")).count();
    let blamed = delayed.iter().filter(|wait| !wait.culprits.is_empty()).count();
    let text = format!("{blamed} of {} delayed waits name who ran, {named} of them the hog", delayed.len());
    // Others that want this CPU are culprits, too.
    judge(named > 10 && blamed * 10 >= delayed.len() * 9, text)
}

fn signal(pid: u32, name: &str) {
    let _ = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
}

fn stopped() -> Result<String, String> {
    let victim = Running::start(&mut victim::command("waits:100000"))?;
    let pid = victim.pid();
    let stopper = std::thread::spawn(move || {
        for _ in 0..4 {
            sleep(Duration::from_millis(130));
            signal(pid, "STOP");
            sleep(Duration::from_millis(150));
            signal(pid, "CONT");
        }
    });
    let waits = waits_of(pid, SPAN);
    let _ = stopper.join();
    let waits = waits?;
    let longest = waits.iter().max_by_key(|wait| wait.parts.stop).ok_or("no wait was seen")?;
    let text = format!("stop {} of {} lateness", us(longest.parts.stop), us(longest.lateness_ns));
    judge(longest.parts.stop > 20_000_000 && longest.parts.irq < 5_000_000, text)
}

/// A CPU group that is removed with this value.
struct Cgroup(String);

impl Drop for Cgroup {
    fn drop(&mut self) {
        sleep(Duration::from_millis(100));
        let _ = fs::remove_dir(&self.0);
    }
}

fn quota() -> Result<String, String> {
    let base = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup"].into_iter().find(|base| {
        let file = if *base == "/sys/fs/cgroup" { "cpu.max" } else { "cpu.cfs_quota_us" };
        Path::new(base).join(file).exists() || Path::new(base).join("cgroup.controllers").exists()
    });
    let base = base.ok_or("SKIPPED: no CPU controller")?;
    let group = Cgroup(format!("{base}/oversleep-truth-{}", std::process::id()));
    let write = |file: &str, text: &str| fs::write(format!("{}/{file}", group.0), text);
    fs::create_dir(&group.0).map_err(|error| format!("SKIPPED: {error}"))?;
    let version_1 = write("cpu.cfs_period_us", "50000").and_then(|()| write("cpu.cfs_quota_us", "10000"));
    version_1.or_else(|_| write("cpu.max", "10000 50000")).map_err(|error| format!("SKIPPED: {error}"))?;
    let victim = Running::start(&mut victim::command("works:500"))?;
    write("cgroup.procs", &victim.pid().to_string()).map_err(|error| format!("SKIPPED: {error}"))?;
    let waits = waits_of(victim.pid(), Duration::from_secs(4))?;
    drop(victim);
    let most = waits.iter().map(|wait| wait.parts.quota).max().unwrap_or(0);
    let count = waits.iter().filter(|wait| wait.parts.quota > 5_000_000).count();
    judge(count > 0, format!("quota up to {}, in {count} of {} waits", us(most), waits.len()))
}

fn moved() -> Result<String, String> {
    let victim = Running::start(&mut victim::command("waits:1000"))?;
    let pid = victim.pid().to_string();
    let mover = std::thread::spawn(move || {
        for n in 0..100 {
            let _ = Command::new("taskset").args(["-pc", if n % 2 == 0 { "0" } else { "1" }, &pid]).output();
            sleep(Duration::from_millis(10));
        }
    });
    let mut collector = collector()?;
    collector.follow(victim.pid()).map_err(|error| error.to_string())?;
    let waits = timed(watch(&mut collector, SPAN));
    let _ = mover.join();
    let (whole, all) = (waits.iter().filter(|wait| wait.is_attributed()).count(), waits.len());
    let across = waits.iter().filter(|wait| wait.timer_cpu != wait.cpu).count();
    let text = format!("{whole} of {all} waits without a gap, {across} with timer and thread on two CPUs");
    judge(whole * 1_000 >= all * 995 && across > 0, text)
}

fn timerfd() -> Result<String, String> {
    let program = "import ctypes, os, struct\n\
        c = ctypes.CDLL(None)\nfd = c.timerfd_create(1, 0)\n\
        t = ctypes.create_string_buffer(struct.pack('qqqq', 0, 2000000, 0, 2000000))\n\
        c.timerfd_settime(fd, 0, t, None)\nwhile True: os.read(fd, 8)";
    let waits = waits_from(Command::new("python3").args(["-c", program]), SPAN)?;
    let waits: Vec<Wait> = waits.into_iter().filter(|wait| wait.timer.as_deref() == Some("timerfd_settime")).collect();
    let periodic = waits.iter().filter(|wait| wait.requested_ns == Some(2_000_000)).count();
    let whole = waits.iter().filter(|wait| wait.is_attributed()).count();
    judge(
        periodic > 100 && whole * 100 >= waits.len() * 99,
        format!("{periodic} periods of 2 ms, {whole} of {} without a gap", waits.len()),
    )
}

fn socket() -> Result<String, String> {
    let program = "import socket, struct\n\
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 0, 20000))\n\
        while True:\n  try: s.recv(1)\n  except OSError: pass";
    let waits = waits_from(Command::new("python3").args(["-c", program]), SPAN)?;
    let waits: Vec<Wait> = waits.into_iter().filter(|wait| wait.call.as_deref() == Some("recvfrom")).collect();
    let slack = p50(&waits, Part::Slack)?;
    let text = format!("{} timeouts, the tick's part {}", waits.len(), us(slack));
    judge(waits.len() > 20 && (0..12_000_000).contains(&slack), text)
}

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

/// A source file in a directory of its own.
fn source(name: &str, text: &str) -> Result<(tempdir::Dir, String), String> {
    let dir = tempdir::Dir::new().map_err(|error| error.to_string())?;
    let path = dir.0.join(name);
    fs::write(&path, text).map_err(|error| error.to_string())?;
    Ok((dir, path.display().to_string()))
}

mod tempdir {
    pub struct Dir(pub std::path::PathBuf);

    impl Dir {
        pub fn new() -> std::io::Result<Dir> {
            let dir = std::env::temp_dir().join(format!("oversleep-truth-{}", std::process::id()));
            std::fs::create_dir_all(&dir)?;
            Ok(Dir(dir))
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

fn java() -> Result<String, String> {
    let text = "class T { public static void main(String[] a) throws Exception { while (true) Thread.sleep(1); } }";
    let (_dir, path) = source("T.java", text)?;
    runtime(Command::new("java").arg(path))
}

fn go() -> Result<String, String> {
    let text = "package main\nimport \"time\"\nfunc main() { for { time.Sleep(time.Millisecond) } }\n";
    let (dir, path) = source("t.go", text)?;
    let binary = dir.0.join("t");
    let built = Command::new("go").args(["build", "-o"]).arg(&binary).arg(path).env("GO111MODULE", "off").status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("SKIPPED: no go that builds".to_owned());
    }
    runtime(&mut Command::new(binary))
}
