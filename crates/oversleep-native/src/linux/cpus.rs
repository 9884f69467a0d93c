//! The CPUs this process may run on, and their classes.

use oversleep_system::{Cpu, CpuKind};

use super::files::Files;
use super::os;

/// The CPUs of the calling thread's affinity mask, ascending. If a sandbox hides the mask, the online CPUs. Never
/// empty, because this code runs on one.
pub fn cpus(files: &dyn Files) -> Vec<Cpu> {
    let allowed = os::affinity().unwrap_or_else(|_| online(files));
    kinds_of(if allowed.is_empty() { &[0] } else { &allowed }, files)
}

fn online(files: &dyn Files) -> Vec<u32> {
    files.text("/sys/devices/system/cpu/online").ok().and_then(|list| parse_list(&list)).unwrap_or_default()
}

/// These CPUs with the class of each.
pub fn kinds_of(allowed: &[u32], files: &dyn Files) -> Vec<Cpu> {
    let kind_of = by_hybrid_lists(files).or_else(|| by_capacity(allowed, files)).unwrap_or_default();
    allowed
        .iter()
        .map(|&number| {
            let kind = kind_of.iter().find(|(cpu, _)| *cpu == number).map_or(CpuKind::Uniform, |&(_, kind)| kind);
            Cpu { number, kind }
        })
        .collect()
}

/// On hybrid x86 each class is a device with a list of its CPUs.
fn by_hybrid_lists(files: &dyn Files) -> Option<Vec<(u32, CpuKind)>> {
    let list =
        |device: &str| files.text(&format!("/sys/devices/{device}/cpus")).ok().and_then(|text| parse_list(&text));
    let fast = list("cpu_core")?;
    let thrifty: Vec<u32> = ["cpu_atom", "cpu_lowpower"].into_iter().filter_map(list).flatten().collect();
    if thrifty.is_empty() {
        return None;
    }
    let fast = fast.into_iter().map(|cpu| (cpu, CpuKind::Performance));
    Some(fast.chain(thrifty.into_iter().map(|cpu| (cpu, CpuKind::Efficiency))).collect())
}

/// On ARM each CPU states its capacity, 1024 for the largest. Cores with at least three quarters of the largest
/// capacity count as fast, because some machines rate cores of one design slightly differently.
fn by_capacity(cpus: &[u32], files: &dyn Files) -> Option<Vec<(u32, CpuKind)>> {
    let capacities: Vec<(u32, i64)> = cpus
        .iter()
        .filter_map(|&cpu| Some((cpu, files.integer(&format!("/sys/devices/system/cpu/cpu{cpu}/cpu_capacity")).ok()?)))
        .collect();
    // The scale is that of the whole machine, so that a process confined to small cores doesn't take them for large
    // ones.
    let largest = capacities.iter().map(|&(_, capacity)| capacity).max()?.max(1024);
    let fast = |capacity: i64| capacity * 4 >= largest * 3;
    if capacities.iter().all(|&(_, capacity)| fast(capacity)) {
        return None;
    }
    let kind = |capacity| if fast(capacity) { CpuKind::Performance } else { CpuKind::Efficiency };
    Some(capacities.into_iter().map(|(cpu, capacity)| (cpu, kind(capacity))).collect())
}

/// Parses the kernel's list format, `0-3,8`. `None` for anything else; an empty text is an empty list.
pub fn parse_list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for range in text.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        // Bounded, so that a broken file can't use up all memory.
        if first > last || last > 65_535 {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::Sample;

    #[test]
    fn lists_are_parsed() {
        assert_eq!(parse_list("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse_list("\n"), Some(vec![]));
        for bad in ["(null)", "3-1", "0-4294967295", "a", "1-2-3"] {
            assert_eq!(parse_list(bad), None, "{bad}");
        }
    }

    #[test]
    fn online_cpus_replace_a_hidden_mask() {
        assert_eq!(online(&Sample::of(&[("/sys/devices/system/cpu/online", "0-1,3\n")])), [0, 1, 3]);
        assert!(!cpus(&Sample::default()).is_empty());
    }

    fn kinds(allowed: &[u32], files: &[(&'static str, &'static str)]) -> Vec<CpuKind> {
        kinds_of(allowed, &Sample::of(files)).into_iter().map(|cpu| cpu.kind).collect()
    }

    #[test]
    fn a_hybrid_intel_has_two_kinds() {
        use CpuKind::{Efficiency, Performance, Uniform};
        let files = [("/sys/devices/cpu_core/cpus", "0-3"), ("/sys/devices/cpu_atom/cpus", "4-7")];
        assert_eq!(kinds(&[0, 3, 4], &files), [Performance, Performance, Efficiency]);
        assert_eq!(kinds(&[0, 1], &[]), [Uniform, Uniform]);
        assert_eq!(kinds(&[0, 1], &files[..1]), [Uniform, Uniform], "efficiency cores switched off");
    }

    #[test]
    fn arm_classes_compare_with_the_whole_machine() {
        use CpuKind::{Efficiency, Performance, Uniform};
        let capacity = |values: [&'static str; 3]| {
            [
                ("/sys/devices/system/cpu/cpu0/cpu_capacity", values[0]),
                ("/sys/devices/system/cpu/cpu1/cpu_capacity", values[1]),
                ("/sys/devices/system/cpu/cpu2/cpu_capacity", values[2]),
            ]
        };
        assert_eq!(kinds(&[0, 1, 2], &capacity(["530", "1008", "1024"])), [Efficiency, Performance, Performance]);
        assert_eq!(kinds(&[0, 1, 2], &capacity(["1024", "1024", "1024"])), [Uniform; 3]);
        assert_eq!(kinds(&[0], &capacity(["530", "1008", "1024"])), [Efficiency]);
    }
}
