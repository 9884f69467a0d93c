//! How a program begins and ends under every command that runs one: as it does by itself.

use super::programs::{COMMANDS, PRELOADED, SERVER};
use super::wrapped::alike;
use crate::faults::row::{Case, Expect, Need, Row};

const KIND: &str = "ends";

pub fn rows() -> Vec<Row> {
    vec![signals(), sent(), counted(), stops(), beginnings(), nested()]
}

/// `$O` and a command, as words of a shell; the last is where nobody may trace.
fn modes() -> impl Iterator<Item = String> {
    COMMANDS.iter().map(|command| format!("\"$O\" {command}")).chain([PRELOADED.to_owned()])
}

/// Prints how what it runs ended. The program dumps no core, but nothing keeps the command from that.
const PARENT: &str = "import os, resource, signal, sys
hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
status = os.waitpid(os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)[1]
signalled, ended = os.WIFSIGNALED(status) and os.WTERMSIG(status), os.WIFEXITED(status) and os.WEXITSTATUS(status)
print(signalled, ended, os.WCOREDUMP(status), file=open('f.txt', 'a'))
";

/// A parent sees the signal that ended the program, not an exit code that stands for it.
fn signals() -> Row {
    const NUMBERS: [u8; 15] = [15, 9, 11, 6, 13, 3, 2, 1, 10, 14, 24, 25, 31, 34, 64];
    let case = |mode: &str, end: &str| {
        let script = format!("python3 p.py \"$@\" sh -c 'ulimit -c 0; {end}; sleep 9'");
        alike(&script, mode).given("p.py", PARENT)
    };
    let kills = NUMBERS.map(|number| format!("kill -{number} $$"));
    // Sent to the command, which passes it on.
    let passed = [15, 10, 2, 3, 34].map(|number| format!("case $W in 1) p=$PPID;; *) p=$$;; esac; kill -{number} $p"));
    let mut cases: Vec<Case> = kills.iter().flat_map(|end| modes().map(move |mode| case(&mode, end))).collect();
    for end in &passed {
        cases.extend(COMMANDS.iter().map(|command| case(&format!("env W=1 \"$O\" {command}"), end)));
    }
    Row::new(KIND, "a signal that ends the program ends the command", Expect::codes(&[0]), cases)
        .needing(&[Need::Command("python3"), Need::Filter])
        .sampling(14)
}

/// Signals that are mostly for faults and limits, sent to the command or the program, which handles them or not.
fn sent() -> Row {
    let case = |mode: &str, signal: &str, to: &str, handles: &str| {
        let script = format!(
            "rm -f ready; setsid \"$@\" python3 p.py {handles} & p=$!; for i in $(seq 400); do test -s ready && break; \
             sleep 0.05; done; q=$(cat ready); env kill -{signal} -- {to}; wait $p"
        );
        alike(&script, mode).given("p.py", SERVER)
    };
    let mut cases = Vec::new();
    for signal in ["ABRT", "RTMAX", "SEGV", "XCPU", "PIPE", "PWR", "TRAP", "SYS", "FPE", "XFSZ"] {
        for to in ["$p", "$q"] {
            for handles in [signal, ""] {
                cases.extend(COMMANDS.iter().map(|mode| case(&format!("\"$O\" {mode}"), signal, to, handles)));
            }
        }
    }
    let needs = [Need::Command("python3"), Need::Command("setsid")];
    Row::new(KIND, "a signal of faults and limits, sent by another process", Expect::codes(&[0]), cases)
        .needing(&needs)
        .sampling(12)
}

/// Counts signals, and ends with the count at another one.
const COUNTER: &str = "import os, signal, sys, time
count = 0
def one(*_):
    global count
    count += 1
    print(count, file=open(f'seen{count}', 'w'))
for name in sys.argv[1:]:
    signal.signal(getattr(signal, 'SIG' + name), one)
signal.signal(signal.SIGHUP, lambda *_: os._exit(count))
with open('new', 'w') as ready:
    ready.write(str(os.getpid()))
os.rename('new', 'ready')
for _ in range(600):
    time.sleep(0.1)
os._exit(99)
";

/// Signals to the group reach the program once, those to the command as well, also where the program leaves the group.
fn counted() -> Row {
    let case = |mode: &str, signals: &str, to: &str, program: &str| {
        let script = format!(
            "rm -f ready seen*; setsid \"$@\" {program} python3 p.py {signals} & p=$!; for i in $(seq 400); do test -s ready && break; \
             sleep 0.05; done; n=0; for s in {signals}; do n=$((n+1)); env kill -$s -- {to}; for i in $(seq 400); do test -e seen$n && break; \
             sleep 0.05; done; done; sleep 0.3; kill -HUP $(cat ready); wait $p"
        );
        alike(&script, mode).given("p.py", COUNTER)
    };
    let mut cases = Vec::new();
    // Those that are queued may be the same: of others, two that come at once are one.
    for signals in ["USR1 TERM INT USR2 ALRM QUIT", "RTMIN RTMIN RTMIN RTMIN RTMIN RTMIN"] {
        for (to, program) in [("-$p", ""), ("$p", "")] {
            cases.extend(modes().map(|mode| case(&mode, signals, to, program)));
        }
    }
    // It starts a group of its own where it isn't the first of one, and passes on what it gets.
    let leaves = |mode: &str| {
        let script = "rm -f ready; setsid \"$@\" timeout 60 python3 p.py TERM & p=$!; for i in $(seq 400); do \
            test -s ready && break; sleep 0.05; done; kill -TERM -- -$p; wait $p";
        alike(script, mode).given("p.py", SERVER)
    };
    cases.extend(modes().map(|mode| leaves(&mode)));
    let needs = [Need::Command("python3"), Need::Command("setsid"), Need::Filter];
    Row::new(KIND, "each signal to the group or the command reaches the program once", Expect::codes(&[0]), cases)
        .needing(&needs)
        .sampling(14)
}

/// What a shell sees of a job that stops: the first argument is sent to whom the second says, once the program runs. A shell
/// whose new child is stopped before it executes anything waits for that (`D`, vfork) and is stopped after it.
const SHELL: &str = "import os, signal, sys, time
number = getattr(signal, 'SIG' + sys.argv[1])
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    os.execvp(sys.argv[3], sys.argv[3:])
while not os.path.exists('ready'):
    time.sleep(0.02)
program = int(open('ready').read())
os.kill({'command': child, 'program': program, 'group': -child}[sys.argv[2]], number)
status = os.waitpid(child, os.WUNTRACED)[1]
print(os.WIFSTOPPED(status) and os.WSTOPSIG(status), file=open('f.txt', 'a'))
while open(f'/proc/{program}/stat').read().rsplit(')')[1].split()[0] not in 'tTD':
    time.sleep(0.02)
os.kill(-child, signal.SIGCONT)
while os.WIFSTOPPED(status):
    status = os.waitpid(child, os.WUNTRACED)[1]
print(status, file=open('f.txt', 'a'))
";

/// A stop of the program, by itself or others, is one of the command.
fn stops() -> Row {
    let case = |mode: &str, signal: &str, to: &str| {
        let program = "sh -c 'echo $$ >new; mv new ready; sleep 0.5; sleep 0.5; exit 3'";
        alike(&format!("rm -f ready; python3 p.py {signal} {to} \"$@\" {program}"), mode).given("p.py", SHELL)
    };
    let mut cases = Vec::new();
    for (to, signals) in
        [("program", &["STOP", "TSTP", "TTIN"][..]), ("command", &["TSTP", "TTOU"]), ("group", &["TSTP", "STOP"])]
    {
        for signal in signals {
            cases.extend(COMMANDS.iter().map(|mode| case(&format!("\"$O\" {mode}"), signal, to)));
        }
    }
    Row::new(KIND, "a shell sees its job stop and go on", Expect::codes(&[0]), cases)
        .needing(&[Need::Command("python3")])
        .sampling(12)
}

/// What a program inherits: signals, streams, limits and identity.
fn beginnings() -> Row {
    let started = [
        "env --ignore-signal=CHLD,PIPE,XFSZ,XCPU,URG,USR1,TTOU,WINCH,SEGV",
        "env --block-signal=CHLD,PIPE,INT,TERM,USR2,ALRM,WINCH,RTMIN+1 --ignore-signal=CHLD",
        "prlimit --cpu=100",
        "prlimit --cpu=50:100 --nofile=200:300 --core=0 --stack=4194304",
        "sh -c 'exec \"$@\" <&-' sh",
        "sh -c 'exec \"$@\" >&- 2>&-' sh",
        "sh -c 'exec \"$@\" <&- >&- 2>&-' sh",
        "sh -c 'exec 7<p.c 9>>p.c; umask 77; cd /; exec \"$@\"' sh",
        "nice -n 3",
        "setpriv --no-new-privs --inh-caps=-all --bounding-set=-sys_time",
        "env -i PATH=/usr/bin:/bin",
        "chrt --batch 0 taskset 1",
    ];
    let case = |mode: &str, started: &str| {
        let script = format!("F=$PWD/f.txt; {started} \"$@\" \"$PWD/p\" \"$F\" 3");
        let mut case = alike(&script, mode).given("p.c", include_str!("inherited.c"));
        case.script = format!(
            "gcc -w -o p p.c || exit 8; {}",
            case.script.replace("--out r.out", "--no-report --out \"$PWD/r.out\"")
        );
        case
    };
    let all = started.iter().flat_map(|started| {
        // `why` refuses to follow a program for a report that nobody gets.
        let may_start = |mode: &&&str| !(mode.starts_with("why") && started.contains(">&-"));
        COMMANDS.iter().filter(may_start).map(|mode| case(&format!("\"$O\" {mode}"), started)).collect::<Vec<_>>()
    });
    let needs = [Need::Command("gcc"), Need::Command("setpriv"), Need::Command("chrt"), Need::Mounts];
    Row::new(KIND, "what a program is started with", Expect::codes(&[0]), all.collect()).needing(&needs).sampling(14)
}

/// Commands that run commands.
fn nested() -> Row {
    let program = "sh -c 'sleep 0.02; case $1 in K) kill -TERM $$; sleep 9;; esac; exit 5' sh";
    let mut cases = Vec::new();
    for outer in COMMANDS {
        for inner in
            ["run -q --slack 1us --", "why -q --no-report --by kernel --out s.out --", "resolution hold -q 1us --"]
        {
            for how in ["E", "K"] {
                let script = format!("timeout -k 5 60 \"$@\" {program} {how}");
                cases.push(alike(&script, &format!("\"$O\" {outer} \"$O\" {inner}")));
            }
        }
    }
    Row::new(KIND, "commands that run commands", Expect::codes(&[0]), cases).sampling(6)
}
