//! The sleep of each language on the machine's ticks: its median is on the tick, and its spread no wider than natively.

use super::{Bench, MACHINE, Verdict};

/// The number of sleeps of a program, after ten that warm it up.
const COUNT: usize = 40;
/// The tolerance of a median from its tick, and of a percentile beyond the native one: 50 µs.
const ALLOWED_NS: i64 = 50_000;
/// Rounds of all runs of a language, which alternate. Percentiles are medians over them: a host that is busy for some
/// seconds disturbs whole rounds, and not always in the same way.
const ROUNDS: usize = 9;

/// Name, file, source, build command, run command. A program takes the milliseconds to sleep, and prints durations in ns.
type Language = (&'static str, &'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static long long ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
int main(int count, char **typed) {
    struct timespec span = { 0, atol(typed[1]) * 1000000 };
    static long long took[50];
    for (int at = 0; at < 50; at++) { long long begun = ns(); nanosleep(&span, 0); took[at] = ns() - begun; }
    for (int at = 10; at < 50; at++) printf("%lld\n", took[at]);
}
"#;
const RUST: &str = r#"
use std::time::{Duration, Instant};
fn main() {
    let span = Duration::from_millis(std::env::args().nth(1).unwrap().parse().unwrap());
    let took: Vec<_> = (0..50).map(|_| { let begun = Instant::now(); std::thread::sleep(span); begun.elapsed() }).collect();
    for span in &took[10..] { println!("{}", span.as_nanos()); }
}
"#;
const PYTHON: &str = "\
import sys, time
span = int(sys.argv[1]) / 1000
took = []
for _ in range(50):
    begun = time.perf_counter_ns()
    time.sleep(span)
    took.append(time.perf_counter_ns() - begun)
print(*took[10:], sep='\\n')
";
const JAVA: &str = "\
public class Sleeps {
    public static void main(String[] typed) throws Exception {
        long[] took = new long[50];
        long span = Long.parseLong(typed[0]);
        for (int at = 0; at < 50; at++) { long begun = System.nanoTime(); Thread.sleep(span); took[at] = System.nanoTime() - begun; }
        for (int at = 10; at < 50; at++) System.out.println(took[at]);
    }
}
";
const GO: &str = r#"
package main

import ("fmt"; "os"; "strconv"; "time")

func main() {
    span, _ := strconv.Atoi(os.Args[1])
    took := make([]time.Duration, 50)
    for at := range took { begun := time.Now(); time.Sleep(time.Duration(span) * time.Millisecond); took[at] = time.Since(begun) }
    for _, span := range took[10:] { fmt.Println(span.Nanoseconds()) }
}
"#;
const NODE: &str = "\
const took = [];
const span = Number(process.argv[2]);
const next = () => {
  const begun = process.hrtime.bigint();
  setTimeout(() => {
    took.push(process.hrtime.bigint() - begun);
    if (took.length < 50) next(); else console.log(took.slice(10).join('\\n'));
  }, span);
};
next();
";
const PASCAL: &str = "\
program sleeps;
uses baseunix, linux, sysutils;
var at: integer; took: array[0..49] of int64;
function ns: int64;
var t: timespec;
begin clock_gettime(CLOCK_MONOTONIC, @t); ns := int64(t.tv_sec) * 1000000000 + t.tv_nsec; end;
var begun: int64; span: cardinal;
begin
  span := StrToInt(ParamStr(1));
  for at := 0 to 49 do begin begun := ns; sleep(span); took[at] := ns - begun; end;
  for at := 10 to 49 do writeln(took[at]);
end.
";

const LANGUAGES: &[Language] = &[
    ("C, glibc", "c.c", C, &["cc", "-O2", "-o", "c-glibc", "c.c"], &["./c-glibc"]),
    ("C, glibc, static", "c.c", C, &["cc", "-O2", "-static", "-o", "c-static", "c.c"], &["./c-static"]),
    ("C, musl, static", "c.c", C, &["musl-gcc", "-O2", "-static", "-o", "c-musl", "c.c"], &["./c-musl"]),
    ("Rust", "r.rs", RUST, &["rustc", "-O", "-o", "r", "r.rs"], &["./r"]),
    ("Python", "p.py", PYTHON, &["python3", "--version"], &["python3", "p.py"]),
    ("Java 17", "Sleeps.java", JAVA, &["javac", "--release", "17", "Sleeps.java"], &["java", "Sleeps"]),
    (
        "Java 25",
        "Sleeps.java",
        JAVA,
        &["/usr/lib/jvm/temurin-25-jdk-amd64/bin/java", "--version"],
        &["/usr/lib/jvm/temurin-25-jdk-amd64/bin/java", "Sleeps"],
    ),
    ("Go, static", "g.go", GO, &["go", "build", "-o", "g", "g.go"], &["./g"]),
    ("Node", "n.js", NODE, &["node", "--version"], &["node", "n.js"]),
    ("Free Pascal", "f.pas", PASCAL, &["fpc", "-O2", "-of", "f.pas"], &["./f"]),
];

/// How a language's program runs: emulated with which options, and the milliseconds that it requests.
struct Way {
    options: Option<&'static [&'static str]>,
    request_ms: i64,
}

/// A runtime is treated as its port unless that is turned off; here the calls themselves are tested.
const WAYS: [Way; 5] = [
    Way { options: None, request_ms: 1 },
    Way { options: None, request_ms: 16 },
    Way { options: None, request_ms: 2 },
    Way { options: Some(&["--adapters", "off"]), request_ms: 1 },
    Way { options: Some(&["--adapters", "off", "--resolution", "1ms"]), request_ms: 1 },
];
const NATIVE: usize = 0;
/// An emulated way, the native one that waits as long, the tick in ns, and the ticks that a sleep takes.
const EMULATED: [(usize, usize, i64, i64); 2] = [(3, 1, 15_625_000, 1), (4, 2, 997_300, 2)];

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    println!(
        "sleeps of 1 ms on {MACHINE} in µs, medians of {ROUNDS} alternated rounds. A sleep on a grid begins as late as the one"
    );
    println!(
        "before ended, so its duration varies as differences of two wake-ups do. Beside the native spread (p10 to p90) of"
    );
    println!("1 ms is that of the differences of wake-ups after native sleeps that are as long as the emulated ones.");
    let (mut is_fine, mut are_some) = (true, false);
    for &(name, file, source, build, typed) in LANGUAGES.iter().filter(|language| bench.wants("languages", language.0))
    {
        let build: Vec<&str> = build.iter().map(|&word| if word == "-of" { "-o./f" } else { word }).collect();
        if bench.built(file, source, &build).is_none() {
            println!("  {name}: not installed");
            continue;
        }
        are_some = true;
        // By way: the durations of each round.
        let mut took = [const { Vec::new() }; WAYS.len()];
        for round in 0..ROUNDS {
            for way in (0..WAYS.len()).map(|at| (at + round) % WAYS.len()) {
                let mut typed: Vec<String> = typed.iter().map(|&word| word.to_owned()).collect();
                typed.push(WAYS[way].request_ms.to_string());
                took[way].push(durations(&bench.output(WAYS[way].options, &typed)?)?);
            }
        }
        let [low, _, high] = percentiles(&took[NATIVE]);
        for (way, as_long, tick, wanted) in EMULATED {
            let [p10, p50, p90] = percentiles(&took[way]);
            let differences: Vec<Vec<i64>> =
                took[as_long].iter().map(|spans| spans.windows(2).map(|pair| pair[1] - pair[0]).collect()).collect();
            let [low_of_two, _, high_of_two] = percentiles(&differences);
            let spreads = [high - low, high_of_two - low_of_two];
            let is_on_tick = (p50 - wanted * tick).abs() <= ALLOWED_NS;
            let [is_narrow, is_as_native] = spreads.map(|spread| (p50 - p10).max(p90 - p50) <= spread + ALLOWED_NS);
            let words = match (is_on_tick, is_narrow, is_as_native) {
                (true, true, _) => "ok",
                (true, false, true) => "ok beside sleeps as long",
                _ => "NOT SO",
            };
            is_fine &= is_on_tick && (is_narrow || is_as_native);
            let us = |ns: i64| ns as f64 / 1_000.0;
            println!(
                "  {name}, tick {:.1}: p10 {:.1}, p50 {:.1}, p90 {:.1}; natively {:.1}, as long {:.1}: {words}",
                us(tick),
                us(p10),
                us(p50),
                us(p90),
                us(spreads[0]),
                us(spreads[1]),
            );
        }
    }
    Ok(if !are_some {
        Verdict::Skipped
    } else if is_fine {
        Verdict::Holds
    } else {
        Verdict::Fails
    })
}

fn durations(text: &str) -> Result<Vec<i64>, String> {
    let spans: Vec<i64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    if spans.len() == COUNT { Ok(spans) } else { Err(format!("{} spans instead of {COUNT}", spans.len())) }
}

/// The medians over all rounds of each round's p10, p50 and p90.
fn percentiles(rounds: &[Vec<i64>]) -> [i64; 3] {
    [1, 5, 9].map(|tenths| {
        let mut of_rounds: Vec<i64> = rounds.iter().map(|round| quantile(round.clone(), tenths)).collect();
        of_rounds.sort_unstable();
        of_rounds[of_rounds.len() / 2]
    })
}

fn quantile(mut values: Vec<i64>, tenths: usize) -> i64 {
    values.sort_unstable();
    values[values.len() * tenths / 10]
}
