//! Parses the system's counter files. Pure functions of their text.

use oversleep_record::Nanos;

/// CPU time since boot, over all CPUs, in ticks of `sysconf(_SC_CLK_TCK)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CpuTicks {
    /// Everything except idle time, I/O wait and steal time.
    pub busy: u64,
    /// Steal time.
    pub steal: u64,
}

/// The first line of `/proc/stat`: user nice system idle iowait irq softirq steal guest guest_nice. User time already
/// includes guest time.
pub(super) fn cpu_ticks(text: &str) -> Option<CpuTicks> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let fields: Vec<u64> = line.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
    match fields[..] {
        [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] => {
            Some(CpuTicks { busy: user + nice + system + irq + softirq, steal })
        }
        _ => None,
    }
}

pub(super) fn ticks_to_nanos(ticks: u64, per_second: i64) -> Option<Nanos> {
    let per_second = i128::from(per_second);
    (per_second > 0).then_some(())?;
    i64::try_from(i128::from(ticks) * 1_000_000_000 / per_second).ok().map(Nanos)
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345` in µs.
pub(super) fn pressure_some(text: &str) -> Option<Nanos> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split(' ').find_map(|field| field.strip_prefix("total="))?;
    total.trim().parse().ok().map(Nanos::from_micros)
}

/// Timer interrupts in `/proc/interrupts` over all CPUs: `LOC` on x86, the arch timer's line on ARM, stimer0 under
/// Hyper-V.
pub(super) fn timer_interrupts(text: &str) -> Option<u64> {
    let is_timer = |line: &str| {
        let label = line.trim_start().split(':').next().unwrap_or("");
        label == "LOC" || line.ends_with("arch_timer") || line.ends_with("Hyper-V stimer0 interrupts")
    };
    let counts = text.lines().filter(|line| is_timer(line)).map(|line| {
        let counts = line.split_once(':').map_or("", |(_, rest)| rest).split_ascii_whitespace();
        counts.map_while(|count| count.parse::<u64>().ok()).sum::<u64>()
    });
    counts.reduce(|a, b| a + b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_excludes_idle_and_steal_and_counts_guests_once() {
        let text = "cpu  100 20 30 4000 500 6 7 8 90 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(cpu_ticks(text), Some(CpuTicks { busy: 163, steal: 8 }));
        assert_eq!(cpu_ticks("cpu  1 2 3 4\n"), None, "a kernel without steal time");
        assert_eq!(cpu_ticks(""), None);
        assert_eq!(ticks_to_nanos(163, 100), Some(Nanos::from_millis(1630)));
        assert_eq!(ticks_to_nanos(1, 0), None);
        assert_eq!(ticks_to_nanos(u64::MAX, 1), None);
    }

    #[test]
    fn pressure_is_the_total_of_some() {
        let text =
            "some avg10=1.23 avg60=0.10 avg300=0.00 total=4567\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(pressure_some(text), Some(Nanos(4_567_000)));
        assert_eq!(pressure_some("full avg10=0.00 total=1\n"), None);
    }

    #[test]
    fn timer_interrupts_of_pc_arm_and_hyper_v() {
        let pc = "           CPU0       CPU1\n  0:   36   0   IO-APIC   2-edge      timer\nLOC:   33202   40411   Local timer interrupts\n";
        assert_eq!(timer_interrupts(pc), Some(73_613));
        let pi = "           CPU0       CPU1\n 11:   4054  4071     GICv2  30 Level     arch_timer\nIPI0:  1 2 Rescheduling interrupts\n";
        assert_eq!(timer_interrupts(pi), Some(8_125));
        let hyper_v = "LOC:  5  6  Local timer interrupts\nHVS:  70  80  Hyper-V stimer0 interrupts\n";
        assert_eq!(timer_interrupts(hyper_v), Some(161));
        assert_eq!(timer_interrupts(" 24:  1  0  IO-APIC  5-edge  ACPI:Ged\n"), None);
    }
}
