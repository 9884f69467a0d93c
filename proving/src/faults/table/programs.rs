//! Programs that run under another command: they end as they do by themselves.

use crate::faults::row::{Case, Expect, Need, Row};

const KIND: &str = "programs";
/// The commands that run a program.
const COMMANDS: [&str; 6] = [
    "emulate windows-10-1909 --",
    "run -q --slack 1us --",
    "run -q --lock-memory --",
    "why -q --by supervisor --out r.out --",
    "why -q --by kernel --out r.out --",
    "resolution hold 1us -q --",
];
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
/// Ends by a signal that it handles, or by a limit that natively never comes.
const SERVER: &str = "import os, signal, sys
def stop(number, frame):
    sys.exit(3)
for name in sys.argv[1:]:
    signal.signal(getattr(signal, 'SIG' + name), stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [getattr(signal, 'SIG' + name)])
with open('ready', 'w') as ready:
    ready.write('yes')
for _ in range(600):
    signal.sigtimedwait([signal.SIGCONT], 0.1)
sys.exit(9)
";

pub fn rows() -> Vec<Row> {
    vec![threads(), signals(), stopped()]
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
