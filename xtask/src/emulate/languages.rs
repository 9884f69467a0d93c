//! The sleep of each language on the machine's ticks: its median is on the tick, and its spread no wider than natively.

use super::{Bench, MACHINE, Verdict};

/// The number of sleeps of each language.
const COUNT: usize = 100;
/// The tolerance of a median from its tick, and of a percentile beyond the native one: 50 µs.
const ALLOWED_NS: i64 = 50_000;

/// Name, file, source, build command, run command.
type Language = (&'static str, &'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const C: &str = r#"
#include <stdio.h>
#include <time.h>
static long long ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
int main(void) {
    struct timespec span = { 0, 1000000 };
    static long long took[100];
    for (int at = 0; at < 100; at++) { long long begun = ns(); nanosleep(&span, 0); took[at] = ns() - begun; }
    for (int at = 0; at < 100; at++) printf("%lld\n", took[at]);
}
"#;
const RUST: &str = r#"
use std::time::{Duration, Instant};
fn main() {
    let took: Vec<_> = (0..100).map(|_| { let begun = Instant::now(); std::thread::sleep(Duration::from_millis(1)); begun.elapsed() }).collect();
    for span in took { println!("{}", span.as_nanos()); }
}
"#;
const PYTHON: &str = "\
import time
took = []
for _ in range(100):
    begun = time.perf_counter_ns()
    time.sleep(0.001)
    took.append(time.perf_counter_ns() - begun)
print(*took, sep='\\n')
";
const JAVA: &str = "\
public class Sleeps {
    public static void main(String[] typed) throws Exception {
        long[] took = new long[100];
        for (int warm = 0; warm < 20; warm++) Thread.sleep(1);
        for (int at = 0; at < 100; at++) { long begun = System.nanoTime(); Thread.sleep(1); took[at] = System.nanoTime() - begun; }
        for (long span : took) System.out.println(span);
    }
}
";
const GO: &str = r#"
package main

import ("fmt"; "time")

func main() {
    took := make([]time.Duration, 100)
    for at := range took { begun := time.Now(); time.Sleep(time.Millisecond); took[at] = time.Since(begun) }
    for _, span := range took { fmt.Println(span.Nanoseconds()) }
}
"#;
const NODE: &str = "\
const took = [];
const next = () => {
  const begun = process.hrtime.bigint();
  setTimeout(() => {
    took.push(process.hrtime.bigint() - begun);
    if (took.length < 100) next(); else console.log(took.join('\\n'));
  }, 1);
};
next();
";
const PASCAL: &str = "\
program sleeps;
uses baseunix, linux, sysutils;
var at: integer; took: array[0..99] of int64;
function ns: int64;
var t: timespec;
begin clock_gettime(CLOCK_MONOTONIC, @t); ns := int64(t.tv_sec) * 1000000000 + t.tv_nsec; end;
var begun: int64;
begin
  for at := 0 to 99 do begin begun := ns; sleep(1); took[at] := ns - begun; end;
  for at := 0 to 99 do writeln(took[at]);
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

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    println!("sleeps of 1 ms on {MACHINE}; p10, p50, p90 in µs, beside the native spread");
    let (mut is_fine, mut are_some) = (true, false);
    for &(name, file, source, build, typed) in LANGUAGES {
        let build: Vec<&str> = build.iter().map(|&word| if word == "-of" { "-o./f" } else { word }).collect();
        if bench.built(file, source, &build).is_none() {
            println!("  {name}: not installed");
            continue;
        }
        are_some = true;
        let typed: Vec<String> = typed.iter().map(|&word| word.to_owned()).collect();
        let native = percentiles(&bench.output(None, &typed)?)?;
        // A runtime is treated as its port unless that is turned off; here the calls themselves are tested.
        for (options, tick) in
            [(&["--adapters", "off"][..], 15_625_000), (&["--adapters", "off", "--resolution", "1ms"], 997_300)]
        {
            let [p10, p50, p90] = percentiles(&bench.output(Some(options), &typed)?)?;
            let ticks = (p50 + tick / 2) / tick;
            let wanted = if tick < 1_000_000 { 2 } else { 1 };
            let spread = native[2] - native[0];
            let is_on_tick = ticks == wanted && (p50 - ticks * tick).abs() <= ALLOWED_NS;
            let is_narrow = p50 - p10 <= spread + ALLOWED_NS && p90 - p50 <= spread + ALLOWED_NS;
            let words = if is_on_tick && is_narrow { "ok" } else { "NOT SO" };
            is_fine &= is_on_tick && is_narrow;
            let us = |ns: i64| ns as f64 / 1_000.0;
            println!(
                "  {name}, tick {:.1}: {:.1} {:.1} {:.1}, native spread {:.1}: {words}",
                us(tick),
                us(p10),
                us(p50),
                us(p90),
                us(spread)
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

fn percentiles(text: &str) -> Result<[i64; 3], String> {
    let mut spans: Vec<i64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    if spans.len() < COUNT {
        return Err(format!("{} spans instead of {COUNT}", spans.len()));
    }
    spans.sort_unstable();
    Ok([spans.len() / 10, spans.len() / 2, spans.len() * 9 / 10].map(|at| spans[at]))
}
