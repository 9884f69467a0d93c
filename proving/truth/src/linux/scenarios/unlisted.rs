//! What nobody had in mind when the split was written: it has to name these causes as well.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use oversleep_why::culprit::{IrqCause, Why};
use oversleep_why::{Builder, Outcome, Part, Wait};

use super::{SPAN, Scenario, us};
use crate::system::observe::{
    Running, collector, collector_with, judge, p50, timed, waits_from, waits_of, watch, watch_until, watch_while,
};
use crate::system::victim;

pub const ALL: &[(&str, Scenario)] = &[
    ("stacks", stacks),
    ("debugger", debugger),
    ("nice 19 hog", nice_hog),
    ("loopback flood", loopback_flood),
    ("thread of SCHED_RR", round_robin),
    ("memory limit", memory_limit),
    ("exec in between", executes),
    ("waits across fork", forks),
    ("without children", without_children),
    ("FIFO above FIFO", higher_fifo),
];

fn on_cpu(program: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", victim::cpu(), "python3", "-c", program]);
    command
}

/// Where the worst waits were called from.
fn stacks() -> Result<String, String> {
    let victim = Running::start(&mut victim::command("waits:1000"))?;
    let mut collector = collector_with(true)?;
    collector.follow(victim.pid()).map_err(|error| error.to_string())?;
    let arch = oversleep_why::calls::Arch::named(std::env::consts::ARCH).ok_or("another processor")?;
    let (mut machine, mut builder, mut events) = (oversleep_why::Machine::new(arch), Builder::new(), Vec::new());
    for round in 0..10 {
        sleep(Duration::from_millis(100));
        events.clear();
        collector.drain_all(&mut events, round == 9);
        events.iter().for_each(|event| machine.feed(event));
        machine.take().iter().for_each(|wait| builder.add(wait, "truth"));
        collector.stacks_from(builder.worst_from().unwrap_or(0));
    }
    let meta = oversleep_why::recording::Meta::of(arch);
    let result = builder.finish(meta, None, Default::default(), &machine);
    let worst = result.observation.map(|observation| observation.worst).ok_or("the result has no waits in full")?;
    let has = |frames: &[String], name: &str| frames.iter().any(|frame| frame.contains(name));
    let kernel = worst.iter().filter(|wait| has(&wait.stack.kernel, "nanosleep")).count();
    let user = worst.iter().filter(|wait| has(&wait.stack.user, "clock_nanosleep")).count();
    let own = worst.iter().filter(|wait| has(&wait.stack.user, "(truth)")).count();
    let example = worst.first().map(|wait| wait.stack.user.join(" ← ")).unwrap_or_default();
    let text = format!(
        "of {} worst waits, {kernel} name the kernel's function, {user} the library's, {own} the program's: {example}",
        worst.len()
    );
    judge(kernel == worst.len() && user == worst.len() && own == worst.len() && worst.len() == 10, text)
}

/// A debugger stops the program in the middle of a wait.
fn debugger() -> Result<String, String> {
    let victim = Running::start(&mut victim::command("waits:100000"))?;
    let pid = victim.pid();
    let program = format!(
        "import ctypes,os,time\nc=ctypes.CDLL(None,use_errno=True)\nc.ptrace.argtypes=[ctypes.c_long]*4\n\
         for n in range(4):\n c.ptrace(0x4206,{pid},0,0);c.ptrace(0x4207,{pid},0,0);time.sleep(0.25);c.ptrace(17,{pid},0,0);time.sleep(0.15)"
    );
    let waits = watch_while(&[pid], || {
        let _ = Command::new("python3").args(["-c", &program]).status();
    })?;
    let longest = waits.iter().max_by_key(|wait| wait.parts.stop).ok_or("no wait was seen")?;
    let text = format!("stop {} of {} lateness", us(longest.parts.stop), us(longest.lateness_ns));
    judge(longest.parts.stop > 100_000_000 && longest.parts.stop * 10 > longest.lateness_ns * 9, text)
}

/// A task that gives way to everybody else still keeps a wait, until its turn is over.
fn nice_hog() -> Result<String, String> {
    let hog = victim::with(&["taskset", "-c", victim::cpu(), "nice", "-n", "19"], "bursts:1000");
    let waits = beside(hog)?;
    let named = waits.iter().filter(|wait| wait.culprits.iter().any(|one| one.name == "truth" && one.prio == 139));
    let named: Vec<&Wait> = named.collect();
    let right = named.iter().filter(|wait| wait.culprits.iter().any(|one| one.why == Why::TurnNotOver)).count();
    let text = format!(
        "{} of {} waits name the hog with nice 19, {right} that its turn was not over",
        named.len(),
        waits.len()
    );
    judge(named.len() > 10 && right == named.len(), text)
}

fn beside(mut hog: Command) -> Result<Vec<Wait>, String> {
    let _hog = Running::start(&mut hog)?;
    let victim = Running::start(&mut victim::with(&["taskset", "-c", victim::cpu()], "waits:1000"))?;
    sleep(Duration::from_millis(100));
    waits_of(victim.pid(), SPAN)
}

/// Packets that a program sends to itself: softirqs and its own turns delay the waits of its CPU.
fn loopback_flood() -> Result<String, String> {
    let flood = "import socket\na=socket.socket(type=socket.SOCK_DGRAM);a.bind(('127.0.0.1',0))\n\
                 b=socket.socket(type=socket.SOCK_DGRAM);b.connect(a.getsockname());d=b'x'*60000\nwhile True:\n b.send(d);a.recv(65536)";
    let waits = beside(on_cpu(flood))?;
    let whole = waits.iter().filter(|wait| wait.is_attributed()).count();
    let caused = waits.iter().filter(|wait| wait.irq_cause.is_some()).count();
    let soft = waits.iter().filter(|wait| matches!(wait.irq_cause, Some(IrqCause::Softirq { .. }))).count();
    let delayed: Vec<&Wait> = waits.iter().filter(|wait| wait.parts.runq > 20_000).collect();
    let named = delayed.iter().filter(|wait| wait.culprits.iter().any(|one| one.name == "python3")).count();
    // Others that want this CPU are culprits, too.
    let blamed = delayed.iter().filter(|wait| !wait.culprits.is_empty()).count();
    let text = format!(
        "{whole} of {} waits without a gap; {caused} late interrupts, {soft} by softirqs; {blamed} of {} that waited for \
         the CPU name who ran, {named} of them the flood",
        waits.len(),
        delayed.len()
    );
    judge(
        whole * 1_000 >= waits.len() * 995 && named > 20 && blamed * 10 >= delayed.len() * 9 && waits.len() > 200,
        text,
    )
}

/// A thread of SCHED_RR among others of its priority waits for its turn.
fn round_robin() -> Result<String, String> {
    let cpu = victim::cpu();
    let _hog = Running::start(&mut victim::with(&["taskset", "-c", cpu, "chrt", "-r", "20"], "bursts:5"))?;
    let victim = Running::start(&mut victim::with(&["taskset", "-c", cpu, "chrt", "-r", "20"], "waits:1000"))?;
    sleep(Duration::from_millis(100));
    let waits = waits_of(victim.pid(), SPAN)?;
    let longest = waits.iter().max_by_key(|wait| wait.parts.runq).ok_or("no wait was seen")?;
    let culprit = longest.culprits.first().ok_or("nobody was named")?;
    let text =
        format!("runq {}: {} (policy {}), {:?}", us(longest.parts.runq), culprit.name, culprit.policy, culprit.why);
    judge(culprit.policy == 2 && culprit.why == Why::HigherPriority && longest.parts.runq > 1_000_000, text)
}

/// A program that is over its memory limit works for its memory on its way out of the call, or is held up there.
fn memory_limit() -> Result<String, String> {
    let base = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
    let base = base.into_iter().find(|base| {
        std::fs::read_to_string(format!("{base}/cgroup.controllers")).is_ok_and(|text| text.contains("memory"))
    });
    let group = format!("{}/oversleep-memory-{}", base.ok_or("SKIPPED: no memory controller")?, std::process::id());
    std::fs::create_dir(&group).map_err(|error| format!("SKIPPED: {error}"))?;
    let ended = in_group(&group);
    let _ = std::fs::remove_dir(&group);
    ended
}

fn in_group(group: &str) -> Result<String, String> {
    std::fs::write(format!("{group}/memory.high"), "20000000").map_err(|error| format!("SKIPPED: {error}"))?;
    let program = "import time\nm=[]\nwhile len(m)<400:\n m.append(bytearray(200000));time.sleep(0.001)\nwhile True: time.sleep(0.001)";
    let victim = Running::start(Command::new("python3").args(["-c", program]))?;
    std::fs::write(format!("{group}/cgroup.procs"), victim.pid().to_string())
        .map_err(|error| format!("SKIPPED: {error}"))?;
    let waits = waits_of(victim.pid(), SPAN)?;
    let whole = waits.iter().filter(|wait| wait.is_attributed()).count();
    drop(victim);
    judge(whole == waits.len() && waits.len() > 100, format!("{whole} of {} waits without a gap", waits.len()))
}

/// A program that replaces itself between its waits is followed on.
fn executes() -> Result<String, String> {
    let program = "import os,sys,time\nn=int(sys.argv[1])\nfor i in range(100): time.sleep(0.001)\n\
                   n and os.execvp('python3',['python3','-c',sys.orig_argv[2],str(n-1)])\ntime.sleep(9)";
    let waits = waits_from(Command::new("python3").args(["-c", program, "3"]), Duration::from_secs(8))?;
    // Before the first wait of each program, its function is fetched from disk between the clock and the call: on a busy
    // machine the deadline has passed by then.
    let is_short = |wait: &&Wait| wait.requested_ns.is_none_or(|ns| ns < 2_000_000);
    let of = waits.iter().filter(is_short).count();
    let whole = waits.iter().filter(|wait| wait.is_attributed()).count();
    judge(
        of == 400 && whole * 100 >= waits.len() * 98,
        format!("{of} of 400 waits of four programs under one id, {whole} without a gap"),
    )
}

/// Children of threads of children are followed, and end.
fn forks() -> Result<String, String> {
    let program = "import os,time,threading\ndef w(d):\n for i in range(20): time.sleep(0.001)\n \
                   if d and os.fork()==0: w(d-1);os._exit(0)\nfor i in range(3):\n t=threading.Thread(target=w,args=(3,));t.start();t.join()\ntime.sleep(9)";
    let waits = waits_from(Command::new("python3").args(["-W", "ignore", "-c", program]), Duration::from_secs(3))?;
    let short: Vec<&Wait> = waits.iter().filter(|wait| wait.requested_ns.is_some_and(|ns| ns < 2_000_000)).collect();
    let programs: std::collections::BTreeSet<u32> = short.iter().map(|wait| wait.tgid).collect();
    let text = format!("{} of 240 waits in {} of 10 processes", short.len(), programs.len());
    judge(short.len() == 240 && programs.len() == 10, text)
}

/// The program that is started is followed, and no process that it starts.
fn without_children() -> Result<String, String> {
    let program = "import os,time\nfor i in range(50): time.sleep(0.001)\n\
                   if os.fork()==0:\n for i in range(50): time.sleep(0.002)\n os._exit(0)\nos.wait()";
    let options = oversleep_collect::Options {
        everyone: false,
        children: false,
        stacks: false,
        periods: true,
        tick_ns: 4_000_000,
    };
    let mut collector = oversleep_collect::Collector::open(options).map_err(|error| format!("SKIPPED: {error}"))?;
    let mut command = Command::new("python3");
    let longest = Duration::from_secs(20);
    let (waits, _) = watch_until(&mut collector, command.args(["-W", "ignore", "-c", program]), longest)?;
    let programs: std::collections::BTreeSet<u32> = waits.iter().map(|wait| wait.tgid).collect();
    let count = timed(waits).len();
    judge(count == 50 && programs.len() == 1, format!("{count} of 50 waits, of {} of 1 process", programs.len()))
}

/// A real-time thread below another one waits for it.
fn higher_fifo() -> Result<String, String> {
    let mut collector = collector()?;
    let victim = Running::start(&mut victim::with(&["taskset", "-c", victim::cpu(), "chrt", "-f", "5"], "waits:1000"))?;
    let _hog = Running::start(&mut victim::with(&["taskset", "-c", victim::cpu(), "chrt", "-f", "90"], "bursts:2"))?;
    collector.follow(victim.pid()).map_err(|error| error.to_string())?;
    let waits = timed(watch(&mut collector, SPAN));
    let right = waits.iter().filter(|wait| wait.outcome == Outcome::Timer && wait.parts.runq > 500_000);
    let right: Vec<&Wait> = right.collect();
    let named =
        right.iter().filter(|wait| wait.culprits.iter().any(|one| one.why == Why::HigherPriority && one.prio == 9));
    let named = named.count();
    let slack = p50(&waits, Part::Slack)?;
    let text = format!(
        "{named} of {} delayed waits of a FIFO thread name the higher priority; slack {}",
        right.len(),
        us(slack)
    );
    judge(named > 20 && named * 10 >= right.len() * 9, text)
}
