//! What may happen to a program and to whoever follows it: a clear reason or less to see, and nothing left in the kernel.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use oversleep_collect::{CollectError, Collector, Options};
use oversleep_why::Wait;

use super::Scenario;
use crate::system::observe::{Running, judge, waits_of, watch_while};
use crate::system::victim;

pub const ALL: &[(&str, Scenario)] = &[
    ("robust: program killed", program_killed),
    ("robust: collector killed", collector_killed),
    ("robust: process gone", process_gone),
    ("robust: no types", no_types),
    ("robust: container", container),
    ("robust: seccomp", seccomp),
    ("robust: no new privileges", no_new_privileges),
    ("robust: nobody", nobody),
    ("robust: paranoid 4", paranoid),
];

/// A program that is killed in the middle of its waits: those that ended stay, each with all its parts.
fn program_killed() -> Result<String, String> {
    let victim = Running::start(&mut victim::command("paced:4"))?;
    let pid = victim.pid();
    let waits = watch_while(&[pid], move || {
        sleep(Duration::from_millis(700));
        drop(victim);
    })?;
    let whole = waits.iter().filter(|wait| wait.is_attributed()).count();
    let exact = waits.iter().all(|wait: &Wait| wait.parts.sum() == wait.lateness_ns);
    judge(
        exact && waits.len() > 500 && whole * 1_000 >= waits.len() * 995,
        format!("{whole} of {} waits without a gap before it was killed", waits.len()),
    )
}

/// The kernel's programs of that name: those of a collector.
fn loaded() -> usize {
    let names = ["on_hrtimer_star", "on_sys_enter", "on_switch"];
    let is_ours =
        |program: &aya::programs::ProgramInfo| program.name_as_str().is_some_and(|name| names.contains(&name));
    aya::programs::loaded_programs().flatten().filter(is_ours).count()
}

/// How many are loaded as soon as it is that many, or after a while: the kernel frees them a moment after the last one who
/// used them is gone.
fn settled(wanted: usize) -> usize {
    let began = Instant::now();
    while loaded() != wanted && began.elapsed() < Duration::from_secs(5) {
        sleep(Duration::from_millis(20));
    }
    loaded()
}

/// Whoever follows is killed by SIGKILL: the kernel unloads its programs.
fn collector_killed() -> Result<String, String> {
    // Those of the last scenario go first, unless another command follows something here.
    let before = settled(0);
    let mut most = before;
    for after_ms in [20, 60, 150, 400, 900] {
        let follower = Running::start(&mut victim::command("follows:1"))?;
        sleep(Duration::from_millis(after_ms));
        most = most.max(loaded());
        drop(follower);
    }
    let after = settled(before);
    judge(
        most > before && after == before,
        format!("{most} programs loaded while it ran, {after} after it was killed, {before} before"),
    )
}

/// A process that is gone, and one that goes while it is followed.
fn process_gone() -> Result<String, String> {
    let mut collector = crate::system::observe::collector()?;
    let gone = Running::start(&mut Command::new("true"))?;
    let pid = gone.pid();
    drop(gone);
    let said = collector.follow(pid).err().map(|error| error.to_string()).unwrap_or_default();
    let ends = Running::start(Command::new("sleep").arg("0.2"))?;
    let waits = waits_of(ends.pid(), Duration::from_millis(600))?;
    judge(
        said == format!("there is no process {pid}"),
        format!("{said:?}; {} waits of one that went meanwhile", waits.len()),
    )
}

/// What opening a collector says in a process that is started with that prefix.
fn opening(prefix: &[&str]) -> Result<String, String> {
    let mut command = victim::with(prefix, "opens:0");
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("SKIPPED: {}: {error}", prefix[0]))?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match said.strip_prefix("said ") {
        Some(said) => Ok(said.to_owned()),
        None => {
            let errors = String::from_utf8_lossy(&output.stderr);
            Err(format!("SKIPPED: {}: {}", prefix[0], errors.lines().next().unwrap_or("it said nothing")))
        }
    }
}

/// What such a process does.
pub fn opens() -> String {
    let options = Options { everyone: false, children: true, stacks: false, periods: true, tick_ns: 4_000_000 };
    match Collector::open(options) {
        Ok(_) => "said it opens".to_owned(),
        Err(error @ CollectError::Load(_)) => format!("said no reason: {error}"),
        Err(error) => format!("said {error}"),
    }
}

/// Follows everything until it is killed.
pub fn follows() {
    let options = Options { everyone: true, children: true, stacks: false, periods: true, tick_ns: 4_000_000 };
    let mut collector = Collector::open(options).expect("root may follow");
    let mut events = Vec::new();
    loop {
        events.clear();
        while collector.drain(&mut events, false) {}
        sleep(collector.pause());
    }
}

fn says(prefix: &[&str], words: &str) -> Result<String, String> {
    let said = opening(prefix)?;
    judge(said.contains(words), said)
}

fn no_types() -> Result<String, String> {
    // An empty directory in the place of the kernel's types.
    let hide = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /sys/kernel/btf && exec \"$0\" \"$@\""];
    says(&hide, "has no type information")
}

fn container() -> Result<String, String> {
    // As container engines start them: root with a few capabilities.
    let few = "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,\
               +sys_chroot,+mknod,+audit_write,+setfcap";
    let prefix = ["unshare", "--pid", "--fork", "--mount-proc", "setpriv", "--bounding-set", few, "--inh-caps=-all"];
    says(&prefix, "--cap-add BPF --cap-add PERFMON")
}

/// A filter that refuses bpf() alone, as those of container engines do, in a process that has every capability.
fn seccomp() -> Result<String, String> {
    let number = match std::env::consts::ARCH {
        "x86_64" => 321,
        "aarch64" => 280,
        _ => return Err("SKIPPED: another processor".to_owned()),
    };
    let program = format!(
        "import ctypes,os,struct,sys\nc=ctypes.CDLL(None,use_errno=True)\n\
         f=struct.pack('HBBI'*4,32,0,0,0,21,0,1,{number},6,0,0,0x50001,6,0,0,0x7fff0000)\n\
         b=ctypes.create_string_buffer(f);p=struct.pack('HxxxxxxQ',4,ctypes.addressof(b))\n\
         c.prctl(38,1,0,0,0) if os.geteuid() else 0\n\
         assert c.prctl(22,2,ctypes.create_string_buffer(p),0,0)==0,ctypes.get_errno()\n\
         os.execvp(sys.argv[1],sys.argv[1:])"
    );
    says(&["python3", "-c", &program], "a container's seccomp filter or a security module")
}

fn no_new_privileges() -> Result<String, String> {
    says(&["setpriv", "--reuid", "65534", "--clear-groups", "--no-new-privs"], "no_new_privs")
}

fn nobody() -> Result<String, String> {
    says(&["setpriv", "--reuid", "65534", "--clear-groups"], "CAP_BPF and CAP_PERFMON")
}

/// The setting forbids perf events, which this needs none of: with the two capabilities an ordinary user may follow.
fn paranoid() -> Result<String, String> {
    const SETTING: &str = "/proc/sys/kernel/perf_event_paranoid";
    struct Restored(String);
    impl Drop for Restored {
        fn drop(&mut self) {
            let _ = std::fs::write(SETTING, &self.0);
        }
    }
    let before = std::fs::read_to_string(SETTING).map_err(|error| format!("SKIPPED: {SETTING}: {error}"))?;
    let _restored = Restored(before);
    let capable = "+bpf,+perfmon,+sys_ptrace,+dac_read_search";
    let mut all = Vec::new();
    for level in ["3", "4"] {
        std::fs::write(SETTING, level).map_err(|error| format!("SKIPPED: {SETTING}: {error}"))?;
        let prefix =
            ["setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps", capable, "--ambient-caps", capable];
        all.push(format!("{level}: {} with the capabilities", opening(&prefix)?));
        all.push(opening(&["setpriv", "--reuid", "65534", "--clear-groups"])?);
    }
    let is_right = all[0].contains("it opens") && all[2].contains("it opens");
    let is_refused = all[1].contains("setcap") && all[3].contains("setcap");
    judge(is_right && is_refused, format!("{}; {}; without them refused with the command", all[0], all[2]))
}
