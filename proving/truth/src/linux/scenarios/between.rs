//! What holds a loop up between its waits, against what the program measures itself and what the kernel counts.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use oversleep_why::Wait;
use oversleep_why::period::Between;

use super::stops::{self, Cgroup};
use super::{Scenario, us};
use crate::system::observe::{Running, collector, judge, median, watch_until, watch_while};
use crate::system::program::{self, Dir};
use crate::system::victim;

pub const ALL: &[(&str, Scenario)] = &[
    ("between: own work", || held_up("work", work, |_| true)),
    ("between: a lock", || held_up("lock", |of| of.blocked_ns, |waits| blocks(waits, "futex", "other"))),
    ("between: an answer", || held_up("pipe", |of| of.blocked_ns, |waits| blocks(waits, "read", ""))),
    ("between: a late page", || held_up("page", |of| of.fault_ns, |_| true)),
    ("between: many pages", many_pages),
    ("between: a quota", quota),
    ("between: a neighbour", neighbour),
];

/// How far a median may be from what the program measured, or a mean from what the kernel counted.
const WITHIN_NS: u64 = 300_000;

/// On a CPU and in no page fault.
fn work(of: &Between) -> u64 {
    (of.until_ns - of.from_ns).saturating_sub(of.runq_ns + of.quota_ns + of.blocked_ns + of.fault_ns)
}

fn befores(waits: &[Wait]) -> impl Iterator<Item = &Between> {
    waits.iter().filter_map(|wait| wait.before.as_ref())
}

/// The loop's thread: the one of the program's name.
fn of_loop(waits: Vec<Wait>) -> Vec<Wait> {
    waits.into_iter().filter(|wait| wait.thread == "between").collect()
}

/// The waits of the loop, and what the program wrote down: its median, and its page faults.
fn followed(kind: &str) -> Result<(Vec<Wait>, [u64; 2]), String> {
    let dir = Dir::new()?;
    let program = program::c(&dir, "between", include_str!("../../../programs/between.c"), &[])?;
    let file = dir.0.join("measured");
    let mut collector = collector()?;
    let mut command = Command::new(program);
    let (waits, status) = watch_until(&mut collector, command.arg(kind).arg(&file), Duration::from_secs(20))?;
    if status.code() == Some(2) {
        return Err("SKIPPED: userfaultfd isn't available".to_owned());
    }
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let mut numbers = text.split_whitespace().filter_map(|number| number.parse().ok());
    let measured = [numbers.next(), numbers.next()].map(|number| number.unwrap_or(0));
    Ok((of_loop(waits), measured))
}

fn held_up(kind: &str, part: fn(&Between) -> u64, names: fn(&[Wait]) -> bool) -> Result<String, String> {
    let (waits, [measured, _]) = followed(kind)?;
    let seen = median(befores(&waits).map(|of| part(of) as i64)).unsigned_abs();
    let is_named = names(&waits);
    judge(
        is_named && seen.abs_diff(measured) <= WITHIN_NS,
        format!("{} at p50, {} as the program measured it, named: {is_named}", us(seen as i64), us(measured as i64)),
    )
}

/// Whether most of the loop's periods name this call, and who ended it.
fn blocks(waits: &[Wait], call: &str, woken_by: &str) -> bool {
    let is_named = |of: &&Between| {
        let mut blocks = of.held.iter().filter_map(|held| held.block.as_ref());
        blocks.any(|block| block.call == call && block.woken_by == woken_by)
    };
    2 * befores(waits).filter(is_named).count() > befores(waits).count()
}

/// Page faults that don't sleep are counted, as the kernel counts them; where their time isn't seen, it is work.
fn many_pages() -> Result<String, String> {
    let (waits, [measured, counted]) = followed("faults")?;
    let seen: u64 = befores(&waits).map(|of| of.fault_count).sum();
    let taken = median(befores(&waits).map(|of| (work(of) + of.fault_ns) as i64));
    let faults = median(befores(&waits).map(|of| of.fault_ns as i64));
    judge(
        counted - seen < 1_400 && (taken.unsigned_abs()).abs_diff(measured) <= WITHIN_NS,
        format!(
            "{seen} page faults of {counted} of the whole program; work and faults {} at p50, {} as the program measured \
             it; faults {}",
            us(taken),
            us(measured as i64),
            us(faults)
        ),
    )
}

/// The group's own count of how long it was stopped, while the program works.
fn quota() -> Result<String, String> {
    let bases = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup"];
    let base = bases.into_iter().find(|base| Path::new(base).join("cgroup.procs").exists());
    let base = base.ok_or("SKIPPED: no CPU controller")?;
    let group = Cgroup(format!("{base}/oversleep-between-{}", std::process::id()));
    fs::create_dir(&group.0).map_err(|error| format!("SKIPPED: {error}"))?;
    let write = |file: &str, text: &str| fs::write(format!("{}/{file}", group.0), text);
    let version_1 = write("cpu.cfs_period_us", "100000").and_then(|()| write("cpu.cfs_quota_us", "30000"));
    version_1.or_else(|_| write("cpu.max", "30000 100000")).map_err(|error| format!("SKIPPED: {error}"))?;
    let victim = Running::start(&mut victim::command("works:8000"))?;
    write("cgroup.procs", &victim.pid().to_string()).map_err(|error| format!("SKIPPED: {error}"))?;
    let stopped = || -> Option<(u64, u64)> {
        let text = fs::read_to_string(format!("{}/cpu.stat", group.0)).ok()?;
        let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        let total = of("throttled_time").or_else(|| of("throttled_usec").map(|us| us * 1_000))?;
        Some((total, of("nr_throttled")?))
    };
    let (mut before, mut after) = (None, None);
    let waits = watch_while(&[victim.pid()], || {
        sleep(Duration::from_millis(300));
        before = stopped();
        sleep(Duration::from_secs(4));
        after = stopped();
        let _ = write("cpu.cfs_quota_us", "-1").or_else(|_| write("cpu.max", "max"));
    })?;
    drop(victim);
    let (before, after) = before.zip(after).ok_or("SKIPPED: no cpu.stat")?;
    let seen: u64 = waits.iter().map(|wait| wait.parts.quota as u64).sum::<u64>()
        + befores(&waits).map(|of| of.quota_ns).sum::<u64>();
    let (counted, times) = (after.0 - before.0, (after.1 - before.1).max(1));
    // The program is followed for a little longer: at most four stops of 70 ms.
    let apart = seen.abs_diff(counted).saturating_sub(280_000_000) / times;
    judge(
        times > 20 && apart <= WITHIN_NS && seen > counted / 2,
        format!("{} in {times} stops, {} as the group counts", us(seen as i64), us(counted as i64)),
    )
}

/// How long the kernel says that the thread waited for its CPU.
fn neighbour() -> Result<String, String> {
    let _hog = Running::start(&mut victim::with(&["taskset", "-c", victim::cpu()], "bursts:1000000"))?;
    let victim = Running::start(&mut victim::with(&["taskset", "-c", victim::cpu()], "works:5000"))?;
    let delay = || -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/schedstat", victim.pid())).ok()?;
        text.split_whitespace().nth(1)?.parse().ok()
    };
    let (mut before, mut after) = (None, None);
    let waits = watch_while(&[victim.pid()], || {
        sleep(Duration::from_millis(200));
        before = delay();
        sleep(Duration::from_secs(3));
        after = delay();
        // It works no more.
        stops::signal(victim.pid(), "STOP");
    })?;
    let (before, after) = before.zip(after).ok_or("SKIPPED: no schedstat")?;
    let counted = after - before;
    let seen: u64 = waits.iter().map(|wait| wait.parts.runq as u64).sum::<u64>()
        + befores(&waits).map(|of| of.runq_ns).sum::<u64>();
    let by_hog = befores(&waits)
        .flat_map(|of| &of.held)
        .filter(|held| held.culprits.first().is_some_and(|first| first.name == "truth" && first.tgid != victim.pid()));
    let (named, waits) = (by_hog.count(), waits.len().max(1) as u64);
    // It is followed for a little longer before, half of which it waits.
    let apart = seen.abs_diff(counted).saturating_sub(100_000_000) / waits;
    judge(
        named > 10 && apart <= WITHIN_NS,
        format!(
            "{} in {waits} periods, {} as the kernel counts, {named} times behind the neighbour",
            us(seen as i64),
            us(counted as i64)
        ),
    )
}
