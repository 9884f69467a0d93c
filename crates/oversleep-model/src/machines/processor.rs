//! What instructions and idle states of a processor take, by microarchitecture. A read of a clock is a number of cycles
//! along the path of its call; an idle state is chosen and left as the kernel's table says.

use oversleep_record::Nanos;

use super::nature::{Nature, RATE};
use super::sources::{ASSUMED, Source};
use super::value::{Stated, Value};
use crate::sim::Spread;

/// The parameter that names it.
pub(super) const PROCESSOR: &str = "cpus.processor";

/// A microarchitecture of x86-64.
pub(super) struct Processor {
    pub name: &'static str,
    title: &'static str,
    /// The usual clock rate of one busy core.
    mhz: i64,
    /// Cycles of RDTSC and of LFENCE, each in a sequence of its kind (instlatx64).
    rdtsc: f64,
    lfence: f64,
    /// Whether Linux keeps the kernel's pages out of a program's reach on it (Meltdown).
    isolates: bool,
    idle: Idle,
}

/// The idle states of a processor's cores.
enum Idle {
    /// From intel_idle's table: target residency and exit latency, in µs. States of the package are left out: what a core
    /// saves in them is that of its own deepest state.
    Table(&'static [(i64, i64)]),
    /// From ACPI: exit latencies in µs; `acpi_idle` chooses a state from twice its latency on.
    Acpi(&'static [i64]),
    /// From ACPI, whose figures no source states.
    Unknown,
}

/// The share of the exit latency that a wake-up waits for, because Intel's tables state the most: Skylake's C6 (85 µs) and
/// C7 (124 µs) take 23 to 32 and 37 µs on a desktop (rpcs3-6697).
const EXIT_SHARE: f64 = 0.35;
/// The same of ACPI's figures on AMD's processors: C3 of a Ryzen states 350 µs (qubes-6923) and takes 27 (trickybits-2024).
const EXIT_SHARE_ACPI: f64 = 0.08;

use Idle::{Acpi, Table, Unknown};

/// A table of processors: the name and title, the usual rate in MHz, cycles of RDTSC and LFENCE, whether Linux isolates its
/// pages there, and the idle states.
macro_rules! processors {
    ($($name:literal $title:literal: $mhz:literal, $rdtsc:literal, $lfence:literal, $isolates:literal, $idle:expr;)*) => {
        [$(Processor {
            name: $name,
            title: $title,
            mhz: $mhz,
            rdtsc: $rdtsc,
            lfence: $lfence,
            isolates: $isolates,
            idle: $idle,
        }),*]
    };
}

/// All of them, the oldest of each maker first.
pub(super) const PROCESSORS: [Processor; 16] = processors! {
    "nehalem" "Intel Nehalem, Westmere": 3_000, 24.0, 9.0, true, Table(&[(80, 20), (800, 200)]);
    "sandy-bridge" "Intel Sandy Bridge": 3_500, 28.0, 4.25, true, Table(&[(211, 80), (345, 109)]);
    "ivy-bridge" "Intel Ivy Bridge": 3_700, 27.0, 4.25, true, Table(&[(156, 59), (300, 87)]);
    "haswell" "Intel Haswell": 3_800, 24.0, 4.25, true, Table(&[(100, 33), (400, 133), (500, 166)]);
    "broadwell" "Intel Broadwell": 3_400, 24.0, 4.25, true, Table(&[(100, 40), (400, 133), (500, 166)]);
    "skylake" "Intel Skylake to Coffee Lake": 4_200, 25.0, 4.25, true, Table(&[(100, 70), (200, 85), (800, 124)]);
    "comet-lake" "Intel Comet Lake": 4_600, 25.0, 4.25, false, Table(&[(100, 70), (200, 85), (800, 124)]);
    "ice-lake" "Intel Ice Lake to Rocket Lake": 4_400, 27.0, 5.25, false, Unknown;
    "alder-lake" "Intel Alder and Raptor Lake, performance cores": 5_000, 26.0, 12.0, false, Table(&[(600, 220)]);
    "gracemont" "Intel Alder Lake-N, efficiency cores": 3_600, 29.0, 26.0, false, Table(&[(585, 195)]);
    "skylake-server" "Intel Xeon, Skylake to Cascade Lake": 3_400, 25.0, 4.25, true, Table(&[(600, 133)]);
    "ice-lake-server" "Intel Xeon, Ice Lake": 3_400, 27.0, 5.25, false, Table(&[(600, 170)]);
    "sapphire-rapids" "Intel Xeon, Sapphire and Emerald Rapids": 3_500, 26.0, 12.0, false, Table(&[(800, 290)]);
    "zen" "AMD Ryzen, Zen and Zen+": 4_000, 36.5, 17.0, false, Acpi(&[350]);
    "zen-3" "AMD Ryzen, Zen 2 to 4": 4_600, 36.0, 10.0, false, Acpi(&[350]);
    "epyc" "AMD EPYC, Zen 2 to 4": 3_500, 36.0, 10.0, false, Acpi(&[400]);
};

/// Their names.
pub(super) const NAMES: [&str; PROCESSORS.len()] = {
    let mut names = [""; PROCESSORS.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = PROCESSORS[index].name;
        index += 1;
    }
    names
};

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

/// What is said of a clock rate that nobody stated for this machine.
const USUAL: &str = "the usual clock rate of a busy core";

/// The Linux that isolates its pages, and the first whose vDSO reads CLOCK_MONOTONIC_RAW and CLOCK_BOOTTIME.
const ISOLATES: (u32, u32) = (4, 15);
const RAW_IN_VDSO: (u32, u32) = (5, 3);

impl Processor {
    /// What it decides on that machine, by path. A clock rate that the user or a profile stated stays.
    pub(super) fn figures(&self, machine: &Nature<'_>) -> Result<Vec<(String, Stated)>, String> {
        match machine.word("machine.arch") {
            "x86_64" if machine.makes_its_own_calls() => {}
            "x86_64" => return Err(format!("'{PROCESSOR}': reads of its clocks are calls of another system")),
            arch => {
                return Err(format!("'{PROCESSOR}': the table has processors of x86_64, and this machine is {arch}"));
            }
        }
        let own = machine.stated.get(RATE).filter(|stated| !stated.source.contains(USUAL));
        let mhz = own.and_then(|stated| stated.value.as_integer()).unwrap_or(self.mhz);
        let mut figures = vec![self.figure(RATE, Value::Integer(mhz), ASSUMED, USUAL)?];
        for path in machine.stated.keys().filter(|path| machine.reads_the_counter(path)) {
            let cycles = path.strip_prefix("costs.").and_then(|clock| self.cycles(clock, machine));
            let cost = cycles.and_then(|cycles| Some((cycles, Value::cost(cycles * 1e3 / mhz as f64)?)));
            if let Some((cycles, cost)) = cost {
                let says =
                    format!("RDTSC {} and LFENCE {} cycles, {cycles} with the whole call", self.rdtsc, self.lfence);
                figures.push(self.figure(path, cost, "instlatx64", &says)?);
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

    fn figure(&self, path: &str, value: Value, source_id: &str, says: &str) -> Result<(String, Stated), String> {
        let source = Source::find(source_id).ok_or_else(|| format!("'{source_id}' is not in the file of sources"))?;
        let source = source.cite(&format!("{}: {says}", self.title));
        Ok((path.to_owned(), Stated { value, written: None, source_id: source_id.to_owned(), source }))
    }

    /// The source of its idle states, and when each is chosen and what leaving it takes.
    fn idle_exits(&self) -> (&'static str, Vec<(Nanos, Spread)>) {
        let exit = |us: i64, share: f64| Spread::fixed(Nanos((us as f64 * share * 1e3).round() as i64));
        match self.idle {
            Table(states) => {
                let state = |&(from, us): &(i64, i64)| (Nanos::from_micros(from), exit(us, EXIT_SHARE));
                ("linux-intel-idle-c", states.iter().map(state).collect())
            }
            Acpi(states) => {
                let state = |&us: &i64| (Nanos::from_micros(2 * us), exit(us, EXIT_SHARE_ACPI));
                ("linux-processor-idle-c", states.iter().map(state).collect())
            }
            Unknown => ("linux-intel-idle-c", Vec::new()),
        }
    }

    /// Cycles of a read of that clock; `None` if its instructions don't decide them.
    fn cycles(&self, clock: &str, machine: &Nature<'_>) -> Option<f64> {
        let fenced = self.rdtsc + self.lfence;
        let read = fenced + CALL;
        let entry = match (machine.kernel() >= ISOLATES, self.isolates) {
            (false, _) => ENTRY,
            (true, false) => ENTRY + GUARDS,
            (true, true) => ENTRY + GUARDS + ISOLATION,
        };
        let of_call = if machine.word("facts.clocksource.vdso") == "false" { read + entry } else { read };
        Some(match (machine.os(), clock) {
            (_, "tsc") => self.rdtsc,
            (_, "tscp" | "tsc-fenced") => fenced,
            ("linux", "other" | "monotonic" | "realtime" | "gettimeofday") => of_call,
            ("linux", "monotonic-raw" | "boottime") if machine.kernel() >= RAW_IN_VDSO => of_call,
            ("linux", "monotonic-raw" | "boottime" | "monotonic-syscall") => read + entry,
            ("linux", "process-cputime" | "thread-cputime" | "clock") => fenced + entry + CPU_TIME,
            ("windows", "qpc" | "clock") => read,
            ("windows", "system-time-precise" | "std-systemtime") => read + TO_DAY,
            ("windows", "std-instant") => read + TO_INSTANT,
            // The page of the kernel has a fence on both sides of the read.
            ("macos", "mach-absolute" | "uptime-raw" | "monotonic-raw") => read + self.lfence,
            _ => return None,
        })
    }
}
