//! Lists of CPUs as text, the same on every system.

use oversleep_record::words::ranges;
use oversleep_system::{Cpu, CpuKind};

/// The classes of these CPUs, each with its CPUs: `performance 0-3`, `efficiency 4-7`.
pub(super) fn kinds(cpus: &[Cpu]) -> Vec<String> {
    let names =
        [(CpuKind::Performance, "performance"), (CpuKind::Efficiency, "efficiency"), (CpuKind::Uniform, "uniform")];
    let of_kind = |kind| cpus.iter().filter(|cpu| cpu.kind == kind).map(|cpu| cpu.number).collect::<Vec<_>>();
    names
        .into_iter()
        .map(|(kind, name)| (name, of_kind(kind)))
        .filter(|(_, numbers)| !numbers.is_empty())
        .map(|(name, numbers)| format!("{name} {}", ranges(&numbers)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_with_their_cpus() {
        let cpu = |number, kind| Cpu { number, kind };
        let hybrid = [cpu(0, CpuKind::Performance), cpu(1, CpuKind::Performance), cpu(4, CpuKind::Efficiency)];
        assert_eq!(kinds(&hybrid), ["performance 0-1", "efficiency 4"]);
        assert_eq!(kinds(&[cpu(0, CpuKind::Uniform), cpu(2, CpuKind::Uniform)]), ["uniform 0,2"]);
    }
}
