//! The CPUs and their classes. The numbers are only positions: no call of macOS takes a CPU's number.

use oversleep_system::{Cpu, CpuKind};

use super::sysctl;

/// All online CPUs, ascending; never empty.
pub fn cpus() -> Vec<Cpu> {
    let number = |name: &str| sysctl::integer(name).ok().and_then(|count| u32::try_from(count).ok());
    let all = number("hw.logicalcpu").unwrap_or(1);
    let levels = number("hw.nperflevels").unwrap_or(1);
    let thrifty = (1..levels.min(8)).filter_map(|level| number(&format!("hw.perflevel{level}.logicalcpu"))).sum();
    of_counts(all, thrifty)
}

/// The kernel numbers the efficiency cores of Apple silicon first. Level 0 is the fastest; all others count as
/// efficiency cores.
fn of_counts(all: u32, thrifty: u32) -> Vec<Cpu> {
    let kind = |number| match number {
        _ if thrifty == 0 || thrifty >= all => CpuKind::Uniform,
        number if number < thrifty => CpuKind::Efficiency,
        _ => CpuKind::Performance,
    };
    (0..all.clamp(1, 4096)).map(|number| Cpu { number, kind: kind(number) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efficiency_cores_come_first() {
        let kinds = |all, thrifty| of_counts(all, thrifty).into_iter().map(|cpu| cpu.kind).collect::<Vec<_>>();
        assert_eq!(kinds(3, 1), [CpuKind::Efficiency, CpuKind::Performance, CpuKind::Performance]);
        assert_eq!(kinds(2, 0), [CpuKind::Uniform; 2]);
        assert_eq!(kinds(2, 2), [CpuKind::Uniform; 2]);
        assert_eq!(kinds(0, 0), [CpuKind::Uniform]);
        assert!(!cpus().is_empty());
    }
}
