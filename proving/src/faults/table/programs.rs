//! Programs that run under another command: they end as they do by themselves.

use crate::faults::row::{Case, Expect, Need, Row};

const KIND: &str = "programs";
/// The commands that run a program.
pub(super) const COMMANDS: [&str; 6] = [
    "emulate windows-10-1909 --",
    "run -q --slack 1us --",
    "run -q --lock-memory --",
    "why -q --by supervisor --out r.out --",
    "why -q --by kernel --out r.out --",
    "resolution hold 1us -q --",
];
/// Where nobody may trace.
pub(super) const PRELOADED: &str = "\"$X\" faults-filter ptrace:1 -- \"$O\" emulate -q windows-10-1909 --";
/// More threads than one tracer keeps. They neither sleep nor wait for a time, so a filter may forbid that.
const THREADS: &str = "import threading
def threads(count):
    go = threading.Event()
    all = [threading.Thread(target=go.wait) for _ in range(count)]
    [one.start() for one in all]
    go.set()
    [one.join() for one in all]
";
/// A filter of the program's own, which kills it for nanosleep.
const FILTER: &str = "import ctypes, struct
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 35), (6, 0, 0, 0x80000000), (6, 0, 0, 0x7fff0000)]
steps = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *step) for step in code))
head = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', len(code), ctypes.addressof(steps)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, head) == 0
";
/// Ends by a signal that it handles, or by a limit that natively comes for signals that are ignored alone.
pub(super) const SERVER: &str = "import os, signal, sys
def stop(number, frame):
    os._exit(3)
numbers = [signal.SIGRTMIN + 3 if name == 'RTMIN_3' else getattr(signal, 'SIG' + name) for name in sys.argv[1:]]
for number in numbers:
    signal.signal(number, stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
with open('new', 'w') as ready:
    ready.write(str(os.getpid()))
os.rename('new', 'ready')
for _ in range(600 if numbers else 15):
    signal.sigtimedwait([signal.SIGCONT], 0.1)
os._exit(9)
";

pub fn rows() -> Vec<Row> {
    vec![
        threads(),
        signals(),
        stopped(),
        lists(),
        endless(),
        outlived(),
        privileges(),
        unfiltered(),
        untraceable(),
        timed(),
        cancelled(),
        unusual(),
    ]
}

fn python(script: &str, program: &str) -> Case {
    Case::script(script).given("p.py", program)
}

/// All that changes at 64 threads.
fn threads() -> Row {
    let run = |command: &str, setup: &str| {
        let bursts = "for _ in range(3): threads(150)\n";
        python(&format!("exec \"$O\" {command} python3 p.py"), &[THREADS, setup, bursts].concat())
    };
    let all = ["", FILTER].into_iter().flat_map(|setup| COMMANDS.map(|command| run(command, setup)));
    Row::new(
        KIND,
        "more threads than one tracer keeps, also under a filter of their own",
        Expect::codes(&[0]),
        all.collect(),
    )
    .needing(&[Need::Command("python3"), Need::Filter])
    .sampling(12)
}

/// A job in the background of a shell without job control is started with INT and QUIT ignored.
fn signals() -> Row {
    let started = ["ignore", "default", "block"];
    let case = |command: &str, signal: &str, how: &str| {
        let script = format!(
            "S={signal}; exec env --{how}-signal=$S \"$O\" {command} python3 p.py $S & p=$!; until test -s ready; do sleep 0.05; done; \
             env kill -$S $p; wait $p"
        );
        python(&script, SERVER)
    };
    let mut cases = Vec::new();
    for how in started {
        for command in COMMANDS {
            cases.extend(["QUIT", "INT", "TERM", "USR1", "ALRM", "RTMIN"].map(|signal| case(command, signal, how)));
        }
    }
    Row::new(
        KIND,
        "a signal to the command that is ignored or blocked at its start, and that the program handles",
        Expect::codes(&[3]),
        cases,
    )
    .needing(&[Need::Command("python3")])
    .sampling(12)
}

/// As a monitor or a limiter of CPU time does.
fn stopped() -> Row {
    let case = |command: &str, signal: &str| {
        let program = format!("p=$$; (sleep 0.3; kill -{signal} $p; sleep 0.3; kill -CONT $p) & sleep 1.5; exit 3");
        Case::script(format!("timeout -s KILL 60 \"$O\" {command} sh -c '{program}'"))
    };
    let cases = ["STOP", "TSTP"].iter().flat_map(|signal| COMMANDS.map(|command| case(command, signal)));
    Row::new(KIND, "others stop the program and continue it", Expect::codes(&[3]), cases.collect()).sampling(6)
}

/// Waits in code that it generated, so that its names are looked up in a list that any user may write.
const GENERATED: &str = "import ctypes, mmap, os, struct, sys
path = f'/tmp/perf-{os.getpid()}.map'
{'fifo': lambda: os.mkfifo(path), 'zero': lambda: os.symlink('/dev/zero', path)}[sys.argv[1]]()
code = bytes([0x55, 0x48, 0x89, 0xe5, 0xb8, 35, 0, 0, 0, 0x31, 0xf6, 0x0f, 0x05, 0x5d, 0xc3])
memory = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
memory.write(code)
call = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_char_p)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
for _ in range(50):
    call(struct.pack('qq', 0, 1000000))
print(path)
os._exit(0)
";

fn lists() -> Row {
    let case = |kind: &&str| {
        let script = format!(
            "timeout -k 5 60 \"$O\" why --stacks --by kernel --out r.out -- python3 p.py {kind} >o.txt; c=$?; \
             rm -f $(head -n 1 o.txt); exit $c"
        );
        python(&script, GENERATED)
    };
    Row::new(
        KIND,
        "the list of generated code is a named pipe, or a link to a device without an end",
        Expect::codes(&[0]),
        ["fifo", "zero"].iter().map(case).collect(),
    )
    .needing(&[Need::Command("python3")])
    .sampling(2)
}

fn endless() -> Row {
    let script = "ulimit -v 4000000; exec timeout -k 5 60 \"$O\" why /dev/zero";
    let expect = Expect::codes(&[1]).says(&["neither a recording nor a result"]);
    Row::new(KIND, "`why` of a device without an end", expect, vec![Case::script(script)])
}

/// Where nobody may trace, the program's environment names a library, also for what runs on after the end.
fn outlived() -> Row {
    let program = "case $LD_PRELOAD in /proc/*) exit 7;; esac; test \"$(stat -c %u $LD_PRELOAD)\" = \"$(id -u)\" || exit 8; \
         (sleep 1; env true; echo over >o.txt) & exit 3";
    let script = format!(
        "\"$X\" faults-filter ptrace:1 -- \"$O\" emulate windows-10-1909 -- sh -c '{program}' 2>e.txt; c=$?; cat e.txt >&2; test $c = 3 || exit $c; \
         until test -s o.txt; do sleep 0.1; done; grep 'ERROR: ld.so' e.txt && exit 9; exit $c"
    );
    Row::new(KIND, "what it leaves running where ptrace is forbidden", Expect::codes(&[3]), vec![Case::script(script)])
        .needing(&[Need::Filter])
}

/// Programs that give up their privileges, or start others without, allocate after that.
fn privileges() -> Row {
    let drops = "import os
os.setgroups([]); os.setgid(65534); os.setuid(65534)
";
    let allocates = "all = [bytearray(1 << 20) for _ in range(40)]\n";
    let other =
        "setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'all=$(seq 5000000); test ${#all} -gt 30000000'";
    let run = |command: &str| {
        let script = format!("ulimit -l 8192; exec \"$O\" run -q --lock-memory -- {command}");
        python(&script, &[drops, allocates].concat())
    };
    let cases = vec![run("python3 p.py"), run(other)];
    Row::new(KIND, "`run --lock-memory` of a program that gives up its privileges", Expect::codes(&[0]), cases)
        .needing(&[Need::Command("python3"), Need::Command("setpriv"), Need::Mounts])
        .sampling(2)
}

fn untraceable() -> Row {
    let script = "exec \"$X\" faults-filter ptrace:1 -- \"$O\" run -q --lock-memory -- sh -c 'exit 3'";
    let expect = Expect::codes(&[3]).says(&["lock-memory on is not held: can't trace 'sh'"]);
    Row::new(KIND, "`run --lock-memory` where ptrace is forbidden", expect, vec![Case::script(script)])
        .needing(&[Need::Filter])
}

/// Its filter only keeps ignored signals from ending waits.
fn unfiltered() -> Row {
    let script = "exec \"$X\" faults-filter seccomp:1 -- \"$O\" run -q --lock-memory -- sh -c 'exit 3'";
    let name = "`run --lock-memory` where filters of system calls are forbidden";
    Row::new(KIND, name, Expect::codes(&[3]), vec![Case::script(script)]).needing(&[Need::Filter])
}

const BUILDS: [&str; 3] = [
    "gcc -pthread",
    "gcc -static -pthread",
    "musl-gcc -static -idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu",
];
const MODES: [&str; 5] = [
    "\"$O\" emulate -q windows-10-1909 --",
    "\"$O\" run -q --lock-memory --",
    "\"$O\" why -q --by supervisor --out r.out --",
    "\"$O\" emulate -q linux-hz250 --",
    PRELOADED,
];

/// A program says the same as by itself, in each build and mode, with each of these arguments.
fn alike_in_all(name: &str, source: &str, arguments: &[&str]) -> Row {
    let case = |build: &str, mode: &str, argument: &str| {
        let script = format!(
            "{build} -w -o p p.c -lrt && ./p {argument} >a.txt && {mode} sh -c './p {argument} >b.txt' >/dev/null && diff a.txt b.txt >&2"
        );
        Case::script(script).given("p.c", source)
    };
    let of =
        |build| MODES.iter().flat_map(move |mode| arguments.iter().map(move |argument| case(build, mode, argument)));
    Row::new(KIND, name, Expect::codes(&[0]), BUILDS.into_iter().flat_map(of).collect())
        .needing(&[Need::Command("gcc"), Need::Command("musl-gcc"), Need::Filter])
        .sampling(6)
}

fn timed() -> Row {
    let name = "each timed call's result, error, rest and restarts, with every argument and signal";
    alike_in_all(name, include_str!("timed.c"), &["signals", "arguments", "timers"])
}

fn cancelled() -> Row {
    alike_in_all("a thread that is cancelled in each wait", include_str!("cancel.c"), &[""])
}

fn unusual() -> Row {
    let name = "a program that handles its own page faults, files, system calls or stacks, or traces them in a signal's handler";
    let arguments = ["faults", "files", "filters", "dispatch", "stack", "callers"];
    alike_in_all(name, include_str!("unusual.c"), &arguments).needing(&[Need::Mounts]).sampling(10)
}
