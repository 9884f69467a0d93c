//! Programs that are stopped, held back or moved.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use oversleep_why::Wait;

use super::{Scenario, us};
use crate::system::observe::{Running, judge, waits_of, watch_while};
use crate::system::victim;

pub const ALL: &[(&str, Scenario)] = &[
    ("SIGSTOP", stopped),
    ("SIGSTOP in select", stopped_select),
    ("CPU quota", quota),
    ("CPU changed", moved),
    ("cpuset changed", cpuset),
    ("CPU hotplug", hotplug),
];

pub fn signal(pid: u32, name: &str) {
    let _ = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
}

fn stop_and_go(pid: u32, stop: Duration) {
    for _ in 0..4 {
        sleep(Duration::from_millis(130));
        signal(pid, "STOP");
        sleep(stop);
        signal(pid, "CONT");
    }
}

fn stopped() -> Result<String, String> {
    let victim = Running::start(&mut victim::command("waits:100000"))?;
    let pid = victim.pid();
    let waits = watch_while(&[pid], || stop_and_go(pid, Duration::from_millis(150)))?;
    let longest = waits.iter().max_by_key(|wait| wait.parts.stop).ok_or("no wait was seen")?;
    let text = format!("stop {} of {} lateness", us(longest.parts.stop), us(longest.lateness_ns));
    judge(longest.parts.stop > 20_000_000 && longest.parts.irq < 5_000_000, text)
}

/// A control group that is removed with this value.
pub struct Cgroup(pub String);

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
    let waits = watch_while(&[victim.pid()], || {
        for n in 0..100 {
            let _ = Command::new("taskset").args(["-pc", if n % 2 == 0 { "0" } else { "1" }, &pid]).output();
            sleep(Duration::from_millis(10));
        }
    })?;
    unbroken(&waits, 1)
}

/// `select` begins again with what was left of its span, so the wait takes longer by the stop.
fn stopped_select() -> Result<String, String> {
    let program = "import ctypes\nc = ctypes.CDLL(None)\n\
        while True: c.select(0, None, None, None, (ctypes.c_long * 2)(0, 100000))";
    let victim = Running::start(Command::new("python3").args(["-c", program]))?;
    sleep(Duration::from_millis(300));
    let pid = victim.pid();
    let waits = watch_while(&[pid], || stop_and_go(pid, Duration::from_millis(250)))?;
    let longest = waits.iter().max_by_key(|wait| wait.parts.stop).ok_or("no wait was seen")?;
    let text = format!(
        "stop {} of {} lateness, requested {} ns",
        us(longest.parts.stop),
        us(longest.lateness_ns),
        longest.requested_ns.unwrap_or(0)
    );
    let is_whole = longest.is_attributed() && longest.requested_ns == Some(100_000_000);
    let is_stop = longest.parts.stop >= 200_000_000 && longest.parts.stop * 10 >= longest.lateness_ns * 8;
    judge(is_whole && is_stop, text)
}

/// A group of CPUs that changes under the program.
fn cpuset() -> Result<String, String> {
    let base = ["/sys/fs/cgroup/cpuset", "/sys/fs/cgroup"]
        .into_iter()
        .find(|base| ["cpuset.cpus", "cpuset.cpus.effective"].iter().any(|file| Path::new(base).join(file).exists()));
    let base = base.ok_or("SKIPPED: no cpuset controller")?;
    let group = Cgroup(format!("{base}/oversleep-truth-{}", std::process::id()));
    fs::create_dir(&group.0).map_err(|error| format!("SKIPPED: {error}"))?;
    let write = |file: &str, text: &str| fs::write(format!("{}/{file}", group.0), text);
    // Version 1 wants the memory nodes, too.
    let _ = write("cpuset.mems", "0");
    write("cpuset.cpus", "0").map_err(|error| format!("SKIPPED: {error}"))?;
    let victim = Running::start(&mut victim::command("waits:1000"))?;
    write("cgroup.procs", &victim.pid().to_string()).map_err(|error| format!("SKIPPED: {error}"))?;
    let pid = victim.pid();
    let waits = watch_while(&[pid], || {
        for n in 0..100 {
            let _ = write("cpuset.cpus", if n % 2 == 0 { "1" } else { "0" });
            sleep(Duration::from_millis(10));
        }
    })?;
    drop(victim);
    unbroken(&waits, 1)
}

/// The second CPU goes and comes back.
fn hotplug() -> Result<String, String> {
    const ONLINE: &str = "/sys/devices/system/cpu/cpu1/online";
    fs::write(ONLINE, "1").map_err(|error| format!("SKIPPED: {ONLINE}: {error}"))?;
    let victims = (0..3).map(|_| Running::start(&mut victim::command("waits:1000"))).collect::<Result<Vec<_>, _>>()?;
    let pids: Vec<u32> = victims.iter().map(Running::pid).collect();
    let waits = watch_while(&pids, || {
        for online in ["0", "1", "0", "1"] {
            sleep(Duration::from_millis(300));
            let _ = fs::write(ONLINE, online);
        }
    })?;
    unbroken(&waits, 0)
}

/// Nothing was lost, and timer and thread were on two CPUs that often.
fn unbroken(waits: &[Wait], across_min: usize) -> Result<String, String> {
    let (whole, all) = (waits.iter().filter(|wait| wait.is_attributed()).count(), waits.len());
    let across = waits.iter().filter(|wait| wait.timer_cpu != wait.cpu).count();
    let text = format!("{whole} of {all} waits without a gap, {across} with timer and thread on two CPUs");
    judge(all > 100 && whole * 1_000 >= all * 995 && across >= across_min, text)
}
