//! Lists of CPUs as text, the same on every system.

use oversleep_system::{Cpu, CpuKind};

/// Ranges of CPU numbers: `0-3,8`.
pub(super) fn format_list(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let texts = ranges.into_iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
    texts.collect::<Vec<_>>().join(",")
}

/// The classes of these CPUs, each with its CPUs: `performance 0-3`, `efficiency 4-7`.
pub(super) fn kinds(cpus: &[Cpu]) -> Vec<String> {
    let names =
        [(CpuKind::Performance, "performance"), (CpuKind::Efficiency, "efficiency"), (CpuKind::Uniform, "uniform")];
    let of_kind = |kind| cpus.iter().filter(|cpu| cpu.kind == kind).map(|cpu| cpu.number).collect::<Vec<_>>();
    names
        .into_iter()
        .map(|(kind, name)| (name, of_kind(kind)))
        .filter(|(_, numbers)| !numbers.is_empty())
        .map(|(name, numbers)| format!("{name} {}", format_list(&numbers)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_ranges() {
        assert_eq!(format_list(&[0, 1, 2, 8, 10, 11]), "0-2,8,10-11");
        assert_eq!(format_list(&[]), "");
    }

    #[test]
    fn kinds_are_listed_with_their_cpus() {
        let cpu = |number, kind| Cpu { number, kind };
        let hybrid = [cpu(0, CpuKind::Performance), cpu(1, CpuKind::Performance), cpu(4, CpuKind::Efficiency)];
        assert_eq!(kinds(&hybrid), ["performance 0-1", "efficiency 4"]);
        assert_eq!(kinds(&[cpu(0, CpuKind::Uniform), cpu(2, CpuKind::Uniform)]), ["uniform 0,2"]);
    }
}
