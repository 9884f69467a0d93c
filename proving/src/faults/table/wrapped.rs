//! Kinds of conditions under every command that runs a program: each ends, and writes, as the program does by itself.

use super::programs::{COMMANDS, PRELOADED, SERVER};
use crate::faults::row::{Case, Expect, Need, Row};

const KIND: &str = "wrapped";
const MUSL: &str = "musl-gcc -static -idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu";

pub fn rows() -> Vec<Row> {
    vec![thresholds(), signals(), stops(), namespaces(), killed(), privileges(), layouts(), churn(), stress()]
}

/// `$O` and a command, as words of a shell.
fn commands() -> impl Iterator<Item = String> {
    COMMANDS.iter().map(|command| format!("\"$O\" {command}"))
}

/// A case that runs `script` twice, with a program's command line after `"$@"`: by itself, and under the command. What it
/// leaves in `f.txt`, and its exit code, are the same.
pub(super) fn alike(script: &str, command: &str) -> Case {
    Case::script(format!(
        "t() {{ {script}\n}}; both() {{ : >f.txt; c=0; t \"$@\" >/dev/null || c=$?; echo \"ends with $c\" >>f.txt; }}; \
         both && mv f.txt a.txt && both {command} && diff a.txt f.txt >&2"
    ))
}

fn row(name: &str, cases: Vec<Case>, needs: &[Need], sampled: usize) -> Row {
    Row::new(KIND, name, Expect::codes(&[0]), cases).needing(needs).sampling(sampled)
}

/// 64 threads have one tracer, a place is patched after 16 stops, and 32 timeouts of sockets have a filter.
fn thresholds() -> Row {
    let builds = ["gcc", "gcc -static", MUSL];
    let numbers = ["65 17 33", "63 15 31", "64 16 32", "130 40 40", "1 100 1"];
    let modes = || commands().chain([PRELOADED.to_owned()]);
    let case = |build: &str, mode: &str, number: &str| {
        let inner = format!("\"$@\" sh -c './p {number} >f.txt'");
        let mut case = alike(&inner, mode).given("p.c", include_str!("thresholds.c"));
        case.script = format!("{build} -w -o p p.c -pthread || exit 8; {}", case.script);
        case
    };
    let of = |number: &'static str| {
        builds.into_iter().flat_map(move |build| modes().map(move |mode| case(build, &mode, number)))
    };
    let needs = [Need::Command("gcc"), Need::Command("musl-gcc"), Need::Filter];
    row(
        "what changes at a number of threads, waits and timeouts",
        numbers.into_iter().flat_map(of).collect(),
        &needs,
        7,
    )
}

/// Every signal that ends or wakes, however it is treated at the start and by the program, to whom it may be sent.
fn signals() -> Row {
    let case = |command: &str, signal: &str, how: &str, to: &str, handles: &str| {
        let script = format!(
            "rm -f ready; setsid env --{how}-signal={signal} \"$@\" python3 p.py {handles} & p=$!; \
             for i in $(seq 400); do test -s ready && break; sleep 0.05; done; q=$(cat ready); env kill -{signal} -- {to}; wait $p"
        );
        alike(&script, command).given("p.py", SERVER)
    };
    let mut cases = Vec::new();
    for signal in ["INT", "QUIT", "TERM", "HUP", "USR1", "ALRM", "RTMIN+3"] {
        for how in ["default", "ignore", "block"] {
            for to in ["-$p", "$q", "$p"] {
                for handles in [&*signal.replace('+', "_"), ""] {
                    cases.extend(commands().map(|command| case(&command, signal, how, to, handles)));
                }
            }
        }
    }
    let needs = [Need::Command("python3"), Need::Command("setsid")];
    row("a signal to the command, the program or the group, handled or not", cases, &needs, 12)
}

/// Stopped and continued by others.
fn stops() -> Row {
    let case = |command: &str, signal: &str, to: &str| {
        let script = format!(
            "rm -f ready; setsid timeout -s KILL 60 \"$@\" sh -c 'echo $$ >ready; sleep 1.2; exit 3' & p=$!; \
             for i in $(seq 400); do test -s ready && break; sleep 0.05; done; q=$(cat ready); for j in 1 2; do kill -{signal} -- {to}; sleep 0.2; \
             kill -CONT -- {to}; sleep 0.1; done; wait $p"
        );
        alike(&script, command)
    };
    let mut cases = Vec::new();
    for to in ["$p", "-$p", "$q"] {
        for signal in ["STOP", "TSTP", "TTIN", "TTOU"] {
            cases.extend(commands().map(|command| case(&command, signal, to)));
        }
    }
    row("others stop and continue the command, the group or the program", cases, &[Need::Command("setsid")], 6)
}

/// In namespaces of their own, around the command and inside it.
fn namespaces() -> Row {
    let kinds = [
        "--pid --fork --mount-proc",
        "--time --fork --monotonic 1000 --boottime 1000",
        "--user --map-root-user",
        "--time --fork --monotonic -10 --boottime -10",
        "--user --map-root-user --pid --fork --mount-proc",
    ];
    let program = "sh -c 'sleep 0.05; sh -c \"sleep 0.05; exit 4\"; echo $? >>f.txt; exit 3'";
    let outside =
        |kind: &str, command: &str| alike(&format!("timeout -k 5 30 unshare {kind} \"$@\" {program}"), command);
    let inside =
        |kind: &str, command: &str| alike(&format!("timeout -k 5 30 \"$@\" unshare {kind} {program}"), command);
    let of = move |kind: &'static str| {
        // Root of a user namespace may not load programs into the kernel.
        let around = commands().filter(move |one| !kind.contains("--user") || !one.contains("--by kernel"));
        around.map(|one| outside(kind, &one)).chain(commands().map(|one| inside(kind, &one))).collect::<Vec<Case>>()
    };
    row("in namespaces of their own", kinds.into_iter().flat_map(of).collect(), &[Need::Mounts], 12)
}

/// What the command leaves when it is killed ends by itself, or with it.
fn killed() -> Row {
    let case = |command: String| {
        let script = format!(
            "{command} sh -c 'echo $$ >ready; sleep 1; sleep 0.5; exit 3' & p=$!; for i in $(seq 400); do test -s ready && break; sleep 0.05; done; \
             kill -KILL $p; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.5; kill -0 $(cat ready) 2>/dev/null || exit 3; done; exit 9"
        );
        Case::script(script)
    };
    Row::new(KIND, "what the command leaves when it is killed", Expect::codes(&[3]), commands().map(case).collect())
        .sampling(6)
}

/// Programs that give up privileges, while `run` holds each setting.
fn privileges() -> Row {
    let settings = ["--lock-memory", "--slack 1us", "--policy fifo:1", "--nice -5", "--pin 0", "--dma-latency 10us"];
    let drops = [
        "setpriv --reuid 65534 --regid 65534 --clear-groups",
        "setpriv --bounding-set=-all --inh-caps=-all --no-new-privs",
        "prlimit --memlock=8388608 setpriv --reuid 65534 --regid 65534 --clear-groups",
    ];
    let program = "import threading, time
all = [bytearray(1 << 20) for _ in range(40)]
threads = [threading.Thread(target=time.sleep, args=[0.01]) for _ in range(70)]
[one.start() for one in threads]
[one.join() for one in threads]
";
    let case = |setting: &str, drop: &str| {
        let mut case = alike(&format!("\"$@\" {drop} python3 - <p.py"), &format!("\"$O\" run -q {setting} --"));
        // What this machine refuses holds nothing.
        case.script = format!("\"$O\" run -q {setting} -- true || exit 0; {}", case.script);
        case.given("p.py", program)
    };
    let cases = settings.iter().flat_map(|setting| drops.map(|drop| case(setting, drop))).collect();
    let needs = [Need::Command("setpriv"), Need::Command("python3"), Need::Mounts];
    row("programs that give up privileges while `run` holds a setting", cases, &needs, 6)
}

/// Compiler options that change how code lies in memory.
fn layouts() -> Row {
    let options = [
        "-O2 -fpatchable-function-entry=16,8",
        "-O2 -pg -mfentry -mnop-mcount -fno-pie -no-pie",
        "-Os",
        "-O0",
        "-O2",
        "-O3 -falign-functions=64",
        "-O2 -fno-align-functions",
        "-O2 -fpatchable-function-entry=5",
        "-O2 -fcf-protection=full",
        "-O2 -ffunction-sections -Wl,--gc-sections",
        "-O2 -static-pie",
        "-O2 -static",
        "-O2 -mcmodel=large -fno-pie -no-pie",
        "-O2 -fsanitize=address",
        "-O1 -fstack-protector-all -fno-omit-frame-pointer",
    ];
    let modes = [
        "\"$O\" emulate -q windows-10-1909 --",
        "\"$O\" emulate -q linux-hz250 --",
        "\"$O\" why -q --by supervisor --out r.out --",
    ];
    let case = |options: &str, mode: &str| {
        let script = "ASAN_OPTIONS=detect_leaks=0 \"$@\" sh -c './p >>f.txt'";
        let mut case = alike(script, mode).given("p.c", include_str!("layout.c"));
        case.script = format!("gcc {options} -w -o p p.c || exit 8; {}", case.script);
        case
    };
    let cases = modes.iter().flat_map(|mode| options.map(|options| case(options, mode))).collect();
    row("functions beside places that are patched, by compiler option", cases, &[Need::Command("gcc")], 4)
}

/// Programs and threads come and go: the supervisor's threads, mappings and memory don't grow.
fn churn() -> Row {
    let program = "import subprocess, sys, threading, time
def burst(count):
    all = [threading.Thread(target=time.sleep, args=[0.001]) for _ in range(count)]
    [one.start() for one in all]
    [one.join() for one in all]
    subprocess.run(['true'])
def size(process):
    lines = dict(line.split(':', 1) for line in open(f'/proc/{process}/status') if ':' in line)
    return [int(lines['VmRSS'].split()[0]), len(open(f'/proc/{process}/maps').readlines()), int(lines['Threads'])]
tracer = next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('TracerPid'))
tracer = tracer and next(int(line.split()[1]) for line in open(f'/proc/{tracer}/status') if line.startswith('Tgid'))
def most(rounds):
    sizes = []
    for _ in range(rounds):
        burst(100)
        time.sleep(0.05)
        sizes.append(size(tracer))
    return [max(column) for column in zip(*sizes)]
rounds = int(sys.argv[1])
first, last = most(rounds // 3), most(rounds)
print(first, last, file=sys.stderr)
sys.exit(0 if last[0] < first[0] + 4000 and last[1] <= first[1] + 20 and last[2] <= first[2] + 4 else 9)
";
    let modes = ["emulate -q windows-10-1909 --", "why -q --by supervisor --out r.out --"];
    let case = |rounds: &str, mode: &str| {
        Case::script(format!("exec \"$O\" {mode} python3 p.py {rounds}")).given("p.py", program)
    };
    let cases = ["30", "600"].iter().flat_map(|rounds| modes.map(|mode| case(rounds, mode))).collect();
    row("programs and threads that come and go", cases, &[Need::Command("python3")], 2)
}

/// Another project's programs that check their own results.
fn stress() -> Row {
    let stressors = [
        "nanosleep",
        "timer",
        "timerfd",
        "itimer",
        "sem",
        "futex",
        "poll",
        "sigsuspend",
        "mq",
        "clock",
        "epoll",
        "fork",
    ];
    let modes = [
        "\"$O\" emulate -q windows-10-1909 --",
        "\"$O\" emulate -q linux-hz250 --",
        "\"$O\" run -q --lock-memory --",
        "\"$O\" why -q --by supervisor --out r.out --",
        PRELOADED,
    ];
    let case = |stressor: &str, mode: &str| {
        alike(
            &format!(
                "timeout -k 5 120 \"$@\" stress-ng --quiet --verify --{stressor} 2 --{stressor}-ops 40 --timeout 20"
            ),
            mode,
        )
    };
    let cases = modes.iter().flat_map(|mode| stressors.map(|stressor| case(stressor, mode))).collect();
    row("`stress-ng --verify`", cases, &[Need::Command("stress-ng"), Need::Filter], 12)
}
