//! What holds a program up that is neither its timer nor another task: a freezer, a group above its own, signals, its own
//! work, a page that is missing.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use oversleep_why::culprit::Why;
use oversleep_why::{Outcome, Wait};

use super::stops::{Cgroup, signal};
use super::{SPAN, Scenario, us};
use crate::system::observe::{Running, collector, judge, median, waits_of, watch, watch_while};
use crate::system::victim;

pub const ALL: &[(&str, Scenario)] = &[
    ("frozen group", frozen),
    ("quota of the group above", quota_above),
    ("signals in between", signals),
    ("own work overruns", overruns),
    ("page served late", page_served_late),
    ("FIFO that never rests", restless_fifo),
];

/// Version 1 has a hierarchy for each controller.
fn base_with(version_1: &str, file: &str) -> Result<String, String> {
    let bases =
        [format!("/sys/fs/cgroup/{version_1}"), "/sys/fs/cgroup/unified".to_owned(), "/sys/fs/cgroup".to_owned()];
    for base in bases {
        let group = Cgroup(format!("{base}/oversleep-probe-{}", std::process::id()));
        if fs::create_dir(&group.0).is_ok() && Path::new(&group.0).join(file).exists() {
            return Ok(base);
        }
    }
    Err(format!("SKIPPED: no control group has {file}"))
}

/// Container engines pause a program this way: no signal arrives, but its waits begin anew.
fn frozen() -> Result<String, String> {
    let base = base_with("unified", "cgroup.freeze")?;
    let group = Cgroup(format!("{base}/oversleep-truth-{}", std::process::id()));
    fs::create_dir(&group.0).map_err(|error| format!("SKIPPED: {error}"))?;
    let victim = Running::start(&mut victim::command("waits:100000"))?;
    let write = |file: &str, text: &str| fs::write(format!("{}/{file}", group.0), text);
    write("cgroup.procs", &victim.pid().to_string()).map_err(|error| format!("SKIPPED: {error}"))?;
    let waits = watch_while(&[victim.pid()], || {
        for _ in 0..4 {
            sleep(Duration::from_millis(130));
            let _ = write("cgroup.freeze", "1");
            sleep(Duration::from_millis(250));
            let _ = write("cgroup.freeze", "0");
        }
    })?;
    drop(victim);
    let longest = waits.iter().max_by_key(|wait| wait.lateness_ns).ok_or("no wait was seen")?;
    let text = format!("stop {} of {} lateness", us(longest.parts.stop), us(longest.lateness_ns));
    judge(longest.lateness_ns > 100_000_000 && longest.parts.stop * 10 >= longest.lateness_ns * 9, text)
}

/// The limit is on the group that the program's own group is in.
fn quota_above() -> Result<String, String> {
    let (base, is_version_1) = match base_with("cpu", "cpu.cfs_quota_us") {
        Ok(base) => (base, true),
        Err(_) => (base_with("cpu", "cpu.max")?, false),
    };
    let above = Cgroup(format!("{base}/oversleep-above-{}", std::process::id()));
    fs::create_dir(&above.0).map_err(|error| format!("SKIPPED: {error}"))?;
    let own = Cgroup(format!("{}/own", above.0));
    fs::create_dir(&own.0).map_err(|error| format!("SKIPPED: {error}"))?;
    let limits: &[(&str, &str)] = if is_version_1 {
        &[("cpu.cfs_period_us", "50000"), ("cpu.cfs_quota_us", "10000")]
    } else {
        &[("cpu.max", "10000 50000")]
    };
    for (file, text) in limits {
        fs::write(format!("{}/{file}", above.0), text).map_err(|error| format!("SKIPPED: {error}"))?;
    }
    let victim = Running::start(&mut victim::command("works:500"))?;
    let procs = format!("{}/cgroup.procs", own.0);
    fs::write(procs, victim.pid().to_string()).map_err(|error| format!("SKIPPED: {error}"))?;
    let waits = waits_of(victim.pid(), Duration::from_secs(4))?;
    drop(victim);
    // The inner group goes first.
    drop(own);
    let most = waits.iter().map(|wait| wait.parts.quota).max().unwrap_or(0);
    let count = waits.iter().filter(|wait| wait.parts.quota > 5_000_000).count();
    judge(count > 0, format!("quota up to {}, in {count} of {} waits", us(most), waits.len()))
}

/// A signal with a handler ends the call, and the program calls again for the rest: neither the signal nor what came before
/// it is taken for lateness.
fn signals() -> Result<String, String> {
    const SIGNALS: usize = 60;
    let program = "import signal,time\nsignal.signal(signal.SIGUSR1,lambda *_:None)\nwhile True: time.sleep(0.02)";
    let victim = Running::start(Command::new("python3").args(["-c", program]))?;
    sleep(Duration::from_millis(500));
    let mut collector = collector()?;
    collector.follow(victim.pid()).map_err(|error| error.to_string())?;
    let pid = victim.pid();
    let waits = std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..SIGNALS {
                signal(pid, "USR1");
                sleep(Duration::from_millis(13));
            }
        });
        watch(&mut collector, SPAN)
    });
    let timed: Vec<&Wait> = waits.iter().filter(|wait| wait.outcome == Outcome::Timer).collect();
    // A call that asks for the same deadline again goes on with its wait.
    let restarts: u32 = timed.iter().map(|wait| wait.restarts).sum();
    let ended = waits.iter().filter(|wait| wait.outcome == Outcome::Signal).count() + restarts as usize;
    let latest = timed.iter().map(|wait| wait.lateness_ns - wait.parts.runq).max().unwrap_or(0);
    let exact = timed.iter().all(|wait| wait.parts.sum() == wait.lateness_ns);
    let text = format!(
        "{SIGNALS} signals: {ended} calls ended by them, {} by their timer, at most {} late",
        timed.len(),
        us(latest)
    );
    judge(exact && (SIGNALS * 4 / 5..=SIGNALS).contains(&ended) && timed.len() > 40 && latest < 5_000_000, text)
}

/// A program that takes longer for its work than its period asks for deadlines that have passed: no part of the kernel's
/// lateness, but told.
fn overruns() -> Result<String, String> {
    let program = "import ctypes,time\nc=ctypes.CDLL(None)\nwhile True:\n begin=time.monotonic_ns();at=begin+2000000\n \
                   while time.monotonic_ns()<begin+3000000: pass\n \
                   c.clock_nanosleep(1,1,(ctypes.c_long*2)(at//10**9,at%10**9),None)";
    let victim = Running::start(Command::new("python3").args(["-c", program]))?;
    sleep(Duration::from_millis(300));
    let waits = waits_of(victim.pid(), SPAN)?;
    let called_late = median(waits.iter().map(|wait| wait.called_late_ns as i64));
    let lateness = median(waits.iter().map(|wait| wait.lateness_ns));
    let text = format!("{} waits, called {} after their deadline, {} late", waits.len(), us(called_late), us(lateness));
    judge(waits.len() > 100 && called_late > 900_000 && lateness < 500_000, text)
}

/// The result of a wait is written to a page that another thread fetches only after 5 ms: time on the way out of the call.
fn page_served_late() -> Result<String, String> {
    let dir = crate::system::program::Dir::new()?;
    let text = include_str!("../../../programs/late_page.c");
    let program = crate::system::program::c(&dir, "late_page", text, &[])?;
    let mut collector = collector()?;
    let longest = Duration::from_secs(20);
    let (waits, status) = crate::system::observe::watch_until(&mut collector, &mut Command::new(program), longest)?;
    if status.code() == Some(2) {
        return Err("SKIPPED: userfaultfd isn't available".to_owned());
    }
    let waits: Vec<&Wait> = waits.iter().filter(|wait| wait.timer.as_deref() == Some("timerfd_settime")).collect();
    let late = waits.iter().filter(|wait| wait.parts.ret > 4_000_000 && wait.is_attributed()).count();
    let ret = median(waits.iter().map(|wait| wait.parts.ret));
    judge(waits.len() == 20 && late >= 19, format!("ret {} at p50, in {late} of {} waits", us(ret), waits.len()))
}

/// A real-time thread that never waits: ordinary work on its CPU runs by the kernel's leave only, and names it.
fn restless_fifo() -> Result<String, String> {
    let cpu = victim::cpu();
    let victim = Running::start(&mut victim::with(&["taskset", "-c", cpu], "waits:1000"))?;
    let pid = victim.pid();
    let mut hog = victim::with(&["taskset", "-c", cpu, "chrt", "-f", "3"], "bursts:2500");
    let mut started = Err(String::new());
    let waits = watch_while(&[pid], || {
        started = Running::start(&mut hog);
        sleep(Duration::from_millis(2_400));
    })?;
    drop(started?);
    let longest = waits.iter().max_by_key(|wait| wait.parts.runq).ok_or("no wait was seen")?;
    let named = longest.culprits.first().ok_or("nobody was named")?;
    let text =
        format!("runq {}: {} (priority {}), {:?}", us(longest.parts.runq), named.name, 99 - named.prio, named.why);
    judge(longest.parts.runq > 100_000_000 && named.prio == 96 && named.why == Why::HigherPolicy, text)
}
