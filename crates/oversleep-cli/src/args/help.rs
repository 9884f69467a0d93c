//! The examples that help opens with, and the exit codes that it ends with.

use oversleep_native::EXAMPLE_PROGRAM;
use oversleep_system::examples::Examples;

pub use crate::exit::CODES;

/// The memory use of commands, for the top-level help; docs/memory.md has the measurements.
pub const MEMORY: &str = "\
Memory: no command takes more than 150 MB for files of up to 200 MB, and check takes less
than 60 MB, however long it measures.";

/// Commands as typed on this system, each with its purpose, in two columns.
fn block(rows: &[(String, &str)]) -> String {
    const WIDTH_MIN: usize = 37;
    let width = rows.iter().map(|(typed, _)| typed.len()).max().unwrap_or_default().max(WIDTH_MIN);
    let lines = rows.iter().map(|(typed, does)| format!("\n  {typed:width$}  {does}"));
    std::iter::once("Examples:".to_owned()).chain(lines).collect()
}

/// At the head of `oversleep --help`. Lines are short, so that none wraps.
pub fn examples() -> String {
    let Examples { waits: [sleep, _], finer: (tunable, setting), .. } = oversleep_native::examples();
    block(&[
        ("oversleep".to_owned(), "find what is wrong here, and what helps"),
        ("oversleep check --quick".to_owned(), "the same in about 5 s"),
        (format!("oversleep waits {sleep} --request 300us,1ms"), "how late does a sleep end?"),
        (format!("oversleep waits --{tunable} {setting} --load spin"), "every wait, while the CPUs are busy"),
        ("oversleep clocks --json".to_owned(), "what each clock costs, as JSON"),
        ("oversleep doctor".to_owned(), "what oversleep can observe and change here"),
    ])
}

/// At the head of `check`.
pub const CHECK: &str = "\
Examples:
  oversleep check                        everything, in under 20 s
  oversleep check --quick                the large effects, in about 5 s
  oversleep check --only B2,D1           two experiments
  oversleep check --out r.json --quiet   everything, into a result file, without progress";

/// At the head of `why`.
pub const WHY: &str = "\
Examples:
  oversleep why -- ./app                 run a program and show where its lateness went
  oversleep why --try -- ./app           and run it again with each remedy that is a setting
  oversleep why -p 1234 --for 10s        a process that runs already
  oversleep why --system --only '>1ms'   every wait of this machine that is late by more than 1 ms
  oversleep why --record r.why -- ./app  keep every event, to look at it again elsewhere
  oversleep why r.why --want 1ms         a recording, for a program that meant 1 ms";

/// At the head of `clocks`.
pub fn clocks() -> String {
    let [one, other] = oversleep_native::examples().clocks;
    block(&[
        ("oversleep clocks".to_owned(), "every clock: cost, step, and whether it is valid"),
        (format!("oversleep clocks {one} {other}"), "two of them"),
        ("oversleep clocks --list".to_owned(), "their names, calls and properties"),
        ("oversleep clocks a.json b.json".to_owned(), "which is valid on both machines?"),
    ])
}

/// At the head of `waits`.
pub fn waits() -> String {
    let Examples { waits: [sleep, other], policy, .. } = oversleep_native::examples();
    block(&[
        ("oversleep waits".to_owned(), "every wait"),
        (format!("oversleep waits {sleep} {other} --request 1ms"), "two of them, for 1 ms"),
        (format!("oversleep waits {sleep} --policy {policy} --for 5s"), "one under another policy, for 5 s"),
        ("oversleep waits --list".to_owned(), "their names, calls and properties"),
    ])
}

/// At the head of `forkjoin`.
pub const FORKJOIN: &str = "\
Examples:
  oversleep forkjoin                     a main thread that blocks, spins or polls
  oversleep forkjoin --count 100         with 100 fork-joins each
  oversleep forkjoin --threads 8 --work 10..20ms --count 100  as published (20 s on 2 CPUs)";

/// At the head of `handoff`.
pub fn handoff() -> String {
    let [one, other] = oversleep_native::examples().handoffs;
    block(&[
        ("oversleep handoff".to_owned(), "every way to wake a thread"),
        (format!("oversleep handoff {one} {other}"), "two of them"),
        ("oversleep handoff --list".to_owned(), "their names and calls"),
    ])
}

/// At the head of `run`.
pub const RUN: &str = "\
Examples:
  oversleep run --slack 1ns -- ./app             waits without the usual slack
  oversleep run --policy fifo:50 --pin 1 -- ./app  before all others, on one CPU
  oversleep run --dma-latency 0 -- ./app         no CPU enters an idle state meanwhile
  oversleep run --slice 100us --measure -- ./app  twice, without and with it, and what that changed";

/// At the head of `emulate`.
pub const EMULATE: &str = "\
Examples:
  oversleep emulate windows-10-1909 -- ./app     waits end on ticks of 15.6 ms
  oversleep emulate windows-11 --resolution 1ms -- ./app  as if it had requested 1 ms
  oversleep emulate linux-hz250 --set slack=1ms -- ./app  with another slack
  oversleep emulate windows-7 --summary -- make test  and say what was emulated
  oversleep emulate windows-11 --clocks all -- ./app  times of day move with the timer interrupt, too
  oversleep emulate ctl 4711 --resolution 1ms    while it runs";

/// At the head of `emulate ctl`.
pub const EMULATE_CTL: &str = "\
Examples:
  oversleep emulate ctl $OVERSLEEP_EMULATE --resolution 1ms  from a script in the program
  oversleep emulate ctl 4711 --release           back to the default
  oversleep emulate ctl 4711 --report            what was emulated until now";

/// At the head of `idle`.
pub const IDLE: &str = "\
Examples:
  oversleep idle                         every idle strategy: throughput, latency, CPU time
  oversleep idle jet condvar --rate 1000,50000           two of them at two rates
  oversleep idle --spins 500 --park-to 100us             a back-off of your own
  oversleep idle --on windows-10-1909                    what a tick of 15.6 ms makes of them
  oversleep idle --on windows-10-1909 --resolution 1ms   and one of 1 ms";

/// At the head of `resolution`.
pub fn resolution() -> String {
    block(&[
        ("oversleep resolution show".to_owned(), "what the system grants, and who inherits it"),
        (format!("oversleep resolution hold 1ms -- {}", EXAMPLE_PROGRAM), "run a program while 1 ms is held"),
        ("oversleep resolution sweep".to_owned(), "what each setting does to this process"),
        ("oversleep resolution neighbours".to_owned(), "what other processes' settings do to it"),
        ("oversleep resolution watch".to_owned(), "what changes while people use the machine"),
    ])
}

/// At the head of `resolution show`.
pub const RESOLUTION_SHOW: &str = "\
Examples:
  oversleep resolution show              what the system states, and who holds what
  oversleep resolution show --json       the same as JSON, without names of processes";

/// At the head of `resolution hold`.
pub fn resolution_hold() -> String {
    block(&[
        (format!("oversleep resolution hold 1ms -- {}", EXAMPLE_PROGRAM), "while a program runs"),
        ("oversleep resolution hold 1ms".to_owned(), "until Ctrl-C"),
    ])
}

/// At the head of `resolution sweep`.
pub const RESOLUTION_SWEEP: &str = "\
Examples:
  oversleep resolution sweep                     a sleep, a poll and a timer at each setting
  oversleep resolution sweep thread-sleep        one wait at each setting
  oversleep resolution sweep --hold 1ms,5ms      at these settings";

/// At the head of `resolution neighbours`.
pub const RESOLUTION_NEIGHBOURS: &str = "\
Examples:
  oversleep resolution neighbours                table and curve
  oversleep resolution neighbours --quick        in a few seconds
  oversleep resolution neighbours --on windows-10-1909,windows-10-2004  two models, compared";

/// At the head of `resolution watch`.
pub const RESOLUTION_WATCH: &str = "\
Examples:
  oversleep resolution watch                     until Ctrl-C
  oversleep resolution watch --for 8h --out r.json --html r.html
  oversleep resolution watch --on windows-10-1909 --neighbour 1ms@2s..5s,4ms@3s..9s
  oversleep resolution watch --on windows-7 --neighbour 1ms/8ms@1s..9s --on-battery 4s..7s";

/// At the head of `runtimes`.
pub const RUNTIMES: &str = "\
Examples:
  oversleep runtimes                     every language runtime found here
  oversleep runtimes java go --only park   the waits of two whose names contain park
  oversleep runtimes --list              what is found, what is missing, how to install it
  oversleep runtimes java --published    parkNanos of 1 ns and 55 µs, as published
  oversleep runtimes java --on windows-10-2004   the calls of Java on a modelled machine
  oversleep runtimes jet --fetch         a streaming engine, and what its parks cost
  oversleep runtimes ./my-engine-timer   a program of yours that speaks probes/PROTOCOL.md";

/// At the head of `ask`. Every shell understands double quotes, including those of Windows.
pub fn ask() -> String {
    let Examples { waits: [sleep, _], finer: (tunable, setting), .. } = oversleep_native::examples();
    block(&[
        ("oversleep ask \"sleep(1ms)\" --on windows-10-2004 --neighbour 2ms".to_owned(), "beside another process"),
        ("oversleep ask \"parkNanos(1ms)\" --like r.json".to_owned(), "a model of its machine"),
        ("oversleep ask \"sleep(1ms)\" --on windows-7,windows-11,linux-hz250".to_owned(), "side by side"),
        (format!("oversleep ask \"{sleep}(300us)\" --{tunable} {setting}"), "this machine"),
    ])
}

/// At the head of `machines`.
pub const MACHINES: &str = "\
Examples:
  oversleep machines                     the modelled machines
  oversleep machines windows-11          one: every figure with its source
  oversleep check --on windows-11        measure it, in virtual time";

/// At the head of `machines verify`.
pub const MACHINES_VERIFY: &str = "\
Examples:
  oversleep machines verify              observations that the models don't reproduce
  oversleep machines verify --all        and those that they reproduce
  oversleep machines verify --leave-out  each one predicted without its own source";

/// At the head of `doctor`.
pub const DOCTOR: &str = "\
Examples:
  oversleep doctor                       what can be observed and changed here, and what not
  oversleep doctor --json                with every fact known about the machine";

/// At the head of `experiments`.
pub const EXPERIMENTS: &str = "\
Examples:
  oversleep experiments                  all of them, by id
  oversleep experiments B2               one: its question, method and published figures";

/// At the head of `explain`.
pub const EXPLAIN: &str = "\
Examples:
  oversleep explain                      every finding
  oversleep explain timer-slack          one: its cause, its evidence and its remedy
  oversleep explain OVS-L001             the same by id
  oversleep explain quota                every finding that mentions it";

/// At the head of `report`.
pub const REPORT: &str = "\
Examples:
  oversleep report r.json                on the terminal
  oversleep report r.json --html r.html  as an HTML page
  oversleep report results/              one table of machines and waits
  oversleep handoff --quick --json | oversleep report -";

/// At the head of `compare`.
pub const COMPARE: &str = "\
Examples:
  oversleep compare a.json b.json         how b differs from a
  oversleep compare a.json b.json --full  every series, including those with too few values
  oversleep compare a.json b.json --html c.html  with the pictures side by side
  oversleep compare a.json b.json --csv   a line for each result of each series
  oversleep compare a.json b.json --md    for a pull request";

/// At the head of `page`.
pub const PAGE: &str = "\
Examples:
  oversleep page                        oversleep-page.html, which asks and checks models
  oversleep page a.json b.json          it opens with the comparison of these results
  oversleep check --json | oversleep page - --html p.html";

/// At the head of `share`.
pub const SHARE: &str = "\
Examples:
  oversleep share r.json                   a copy for an issue or a mail, in this directory
  oversleep share r.json --out copy.json   to that file
  oversleep check --json | oversleep share - --out copy.json
  oversleep report DIR                     copies of several machines in one table";

/// At the head of `completions`.
pub const COMPLETIONS: &str = "\
Examples:
  oversleep completions bash > oversleep.bash  then `source oversleep.bash`
  oversleep completions fish > oversleep.fish  then move it to ~/.config/fish/completions";

/// At the head of `man`.
pub const MAN: &str = "\
Examples:
  oversleep man --out man1               then `man -l man1/oversleep.1`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_wraps() {
        let written = [
            CHECK,
            FORKJOIN,
            RESOLUTION_SHOW,
            RESOLUTION_SWEEP,
            RESOLUTION_NEIGHBOURS,
            RESOLUTION_WATCH,
            RUNTIMES,
            MACHINES,
            MACHINES_VERIFY,
            DOCTOR,
            EXPERIMENTS,
            EXPLAIN,
            REPORT,
            COMPARE,
            PAGE,
            SHARE,
            COMPLETIONS,
            MAN,
            CODES,
        ];
        let made = [examples(), clocks(), waits(), handoff(), resolution(), resolution_hold(), ask()];
        for line in written.into_iter().chain(made.iter().map(String::as_str)).flat_map(str::lines) {
            assert!(line.chars().count() <= 92, "{line}");
        }
    }
}
