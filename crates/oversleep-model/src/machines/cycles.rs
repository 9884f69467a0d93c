//! What a machine's processor decides: a read of a clock is a number of cycles along the path of its call, and so is a
//! wake-up on a board; an idle state is chosen and left as the kernel's table says.

use oversleep_record::Nanos;

use super::evidence;
use super::nature::{Nature, RATE};
use super::processor::Idle::{Acpi, Table, Tree, Unknown};
use super::processor::Reads::{Generic, Tsc};
use super::processor::{PROCESSOR, Processor, TREES};
use super::sources::{ASSUMED, Source};
use super::value::{Stated, Value};
use crate::sim::Spread;

/// The share of the exit latency that a wake-up waits for, because Intel's tables state the most: Skylake's C6 (85 µs) and
/// C7 (124 µs) take 23 to 32 and 37 µs on a desktop (rpcs3-6697).
const EXIT_SHARE: f64 = 0.35;
/// The same of ACPI's figures on AMD's processors: C3 of a Ryzen states 350 µs (qubes-6923) and takes 27 (trickybits-2024).
const EXIT_SHARE_ACPI: f64 = 0.08;

/// Cycles of a read besides RDTSC and its fence: a call, a check that the page didn't change, a multiplication. Reads on
/// processors that their sources name leave 15 to 50 (ostack-553788, perf-book-84, velocity-1174, clockperf).
const CALL: f64 = 35.0;
/// Of a system call and its return (clockperf, ostack-553788: 173 to 176 cycles with a read).
const ENTRY: f64 = 120.0;
/// Of what keeps it from being spied on since [`ISOLATES`], on every processor (oversleep-2026, devgem-thread-cputime).
const GUARDS: f64 = 250.0;
/// Of the changes of page tables on its way, on processors that need them (easy-profiler-146, refal-206, nim-chronos-15).
const ISOLATION: f64 = 340.0;
/// Of adding up CPU time in the kernel (clockperf, ostack-553788: 302 to 370 cycles with the system call).
const CPU_TIME: f64 = 200.0;
/// Of making a time of day from the counter, and a Rust `Instant`, on Windows (clock-methods-2022).
const TO_DAY: f64 = 75.0;
const TO_INSTANT: f64 = 50.0;
/// Of a read of a page that the kernel writes at each tick: loads that hit the cache, checked for a change, and a return. Go
/// takes 7 to 8 (fishgoddess-cachego, jcdtechnology-betago), a call of a library 8 to 14 (refal-206, akinshin-2018).
const MEMORY: f64 = 10.0;
/// Of making nanoseconds or a time of day from the counter on macOS (tracy-1237, templexxx-tsc).
const TO_NANOSECONDS: f64 = 40.0;
const TO_TIMEVAL: f64 = 80.0;

/// How often the counter of an Arm processor counts in a second; and what is said where only its core was named.
const COUNTER: &str = "frequencies.cntvct";
const OTHER_CHIP: &str = "chips with that core have counters of 8 MHz to 1 GHz; this machine's own is kept";

/// What is said of a clock rate that nobody stated for this machine.
const USUAL: &str = "the usual clock rate of a busy core";

/// The Linux that isolates its pages, and the first whose vDSO reads CLOCK_MONOTONIC_RAW and CLOCK_BOOTTIME.
const ISOLATES: (u32, u32) = (4, 15);
const RAW_IN_VDSO: (u32, u32) = (5, 3);

impl Processor {
    /// What it decides on that machine, by path, without that source. A clock rate that the user or a profile stated stays.
    pub(super) fn figures(&self, machine: &Nature<'_>, without: Option<&str>) -> Result<Vec<(String, Stated)>, String> {
        self.fits(machine)?;
        let own = machine.stated.get(RATE).filter(|stated| !stated.source.contains(USUAL));
        let mhz = own.and_then(|stated| stated.value.as_integer()).unwrap_or(self.mhz);
        let mut figures = vec![self.figure(RATE, Value::Integer(mhz), ASSUMED, USUAL)?];
        match self.reads {
            Tsc { rdtsc, lfence, isolates } => {
                for path in machine.stated.keys().filter(|path| machine.takes_cycles(path)) {
                    let clock = path.strip_prefix("costs.");
                    let cycles = clock.and_then(|clock| cycles(clock, machine, (rdtsc, lfence), isolates));
                    let cost = cycles.and_then(|cycles| Some((cycles, Value::cost(cycles * 1e3 / mhz as f64)?)));
                    if let Some((cycles, cost)) = cost {
                        let says = match machine.is_in_memory(path) {
                            true => format!("{cycles} cycles for a read of memory"),
                            false => format!("RDTSC {rdtsc} and LFENCE {lfence} cycles, {cycles} with the whole call"),
                        };
                        figures.push(self.figure(path, cost, "instlatx64", &says)?);
                    }
                }
            }
            Generic { kind, counter, .. } => {
                // A guest's timers are delivered by its host.
                let is_decided = |path: &str| machine.is_bare() || !path.starts_with("wake.");
                let of_kind = evidence::figures_at_rate(kind, without, mhz as f64)?;
                figures.extend(of_kind.into_iter().filter(|(path, _)| is_decided(path)));
                let kept = machine.stated.get(COUNTER).and_then(|stated| stated.value.as_integer());
                match (counter, kept) {
                    (Some((hz, id)), _) => figures.push(self.figure(COUNTER, Value::Integer(hz), id, "the counter")?),
                    (None, Some(hz)) if machine.word(PROCESSOR) != self.name => {
                        figures.push(self.figure(COUNTER, Value::Integer(hz), ASSUMED, OTHER_CHIP)?);
                    }
                    (None, _) => {}
                }
            }
        }
        let (id, exits) = self.idle_exits();
        for path in ["wake.idle-exits", "wake.real-time-idle-exits"] {
            if machine.is_bare() && machine.stated.contains_key(path) && !exits.is_empty() {
                let exits = Value::Ladder(exits.clone());
                figures.push(self.figure(path, exits, id, "a share of the exit latencies that it states")?);
            }
        }
        Ok(figures)
    }

    /// Whether a machine can have it.
    ///
    /// # Errors
    /// Why not.
    fn fits(&self, machine: &Nature<'_>) -> Result<(), String> {
        let (name, own, arch, system) = (self.name, self.arch(), machine.word("machine.arch"), machine.os());
        if arch != own {
            let instead = match own {
                _ if self.is_apple() => "macos-14-m1",
                "aarch64" => "raspberry-pi-4, or linux-arm-cloud for a guest",
                "arm" => "linux-arm-32",
                _ => "linux-hz1000, or linux-cloud for a guest",
            };
            return Err(format!(
                "'{PROCESSOR}': '{name}' is a processor of {own}, and this machine is {arch}; take {instead}"
            ));
        }
        if !machine.makes_its_own_calls() {
            return Err(format!("'{PROCESSOR}': reads of its clocks are calls of another system"));
        }
        let (known, of) = if self.is_apple() { ("macos", "macOS") } else { ("linux", "Linux") };
        if let (Generic { .. }, true) = (&self.reads, system != known) {
            return Err(format!(
                "'{PROCESSOR}': what '{name}' takes is known of {of} alone, and this machine is {system}"
            ));
        }
        Ok(())
    }

    fn figure(&self, path: &str, value: Value, source_id: &str, says: &str) -> Result<(String, Stated), String> {
        let source = Source::find(source_id).ok_or_else(|| format!("'{source_id}' is not in the file of sources"))?;
        let source = source.cite(&format!("{}: {says}", self.title));
        Ok((path.to_owned(), Stated { value, written: None, source_id: source_id.to_owned(), source }))
    }

    /// The source of its idle states, and when each is chosen and what leaving it takes.
    fn idle_exits(&self) -> (&'static str, Vec<(Nanos, Spread)>) {
        let exit = |us: i64, share: f64| Spread::fixed(Nanos((us as f64 * share * 1e3).round() as i64));
        let stated = |states: &[(i64, i64)]| {
            states.iter().map(|&(from, us)| (Nanos::from_micros(from), exit(us, EXIT_SHARE))).collect()
        };
        match self.idle {
            Table(states) => ("linux-intel-idle-c", stated(states)),
            Tree(states) => (TREES, stated(states)),
            Acpi(states) => {
                let state = |&us: &i64| (Nanos::from_micros(2 * us), exit(us, EXIT_SHARE_ACPI));
                ("linux-processor-idle-c", states.iter().map(state).collect())
            }
            Unknown => ("linux-intel-idle-c", Vec::new()),
        }
    }
}

/// Cycles of a read of that clock on x86-64, whose RDTSC and LFENCE take these; `None` if its instructions don't decide
/// them.
fn cycles(clock: &str, machine: &Nature<'_>, (rdtsc, lfence): (f64, f64), isolates: bool) -> Option<f64> {
    let fenced = rdtsc + lfence;
    let read = fenced + CALL;
    let entry = match (machine.kernel() >= ISOLATES, isolates) {
        (false, _) => ENTRY,
        (true, false) => ENTRY + GUARDS,
        (true, true) => ENTRY + GUARDS + ISOLATION,
    };
    let of_call = if machine.word("facts.clocksource.vdso") == "false" { read + entry } else { read };
    Some(match (machine.os(), clock) {
        (_, "tsc") => rdtsc,
        (_, "tscp" | "tsc-fenced") => fenced,
        ("linux", "other" | "monotonic" | "realtime" | "gettimeofday") => of_call,
        ("linux", "monotonic-raw" | "boottime") if machine.kernel() >= RAW_IN_VDSO => of_call,
        ("linux", "monotonic-raw" | "boottime" | "monotonic-syscall") => read + entry,
        ("linux", "process-cputime" | "thread-cputime" | "clock") => fenced + entry + CPU_TIME,
        ("windows", "qpc" | "clock") => read,
        ("windows", "system-time" | "interrupt-time" | "unbiased-interrupt-time") => MEMORY,
        ("windows", "get-tick-count" | "get-tick-count-64") => MEMORY,
        ("windows", "system-time-precise" | "std-systemtime") => read + TO_DAY,
        ("windows", "std-instant") => read + TO_INSTANT,
        // The page of the kernel has a fence on both sides of the read.
        ("macos", "mach-absolute") => read + lfence,
        ("macos", "uptime-raw" | "monotonic-raw") => read + lfence + TO_NANOSECONDS,
        ("macos", "realtime" | "gettimeofday") => read + lfence + TO_TIMEVAL,
        _ => return None,
    })
}
