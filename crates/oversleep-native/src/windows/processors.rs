//! The machine's processors according to Windows: cores, their classes and their caches.

use oversleep_record::Unavailable;
use oversleep_system::{Cpu, CpuKind};
use windows_sys::Win32::System::SystemInformation::{
    CACHE_RELATIONSHIP, GROUP_AFFINITY, GetLogicalProcessorInformationEx, PROCESSOR_RELATIONSHIP, RelationAll,
    RelationCache, RelationProcessorCore, SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX,
};
use windows_sys::Win32::System::Threading::{GetCurrentThread, GetThreadGroupAffinity};

use super::os;

/// Logical processors per group. A CPU's number here is this times its group, plus its position in the group.
pub const GROUP_CPUS: u32 = 64;

/// One core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// Its logical processors.
    pub cpus: Vec<u32>,
    /// Larger is faster; zero for all cores if they don't differ.
    pub efficiency_class: u8,
}

/// All cores of the machine.
///
/// # Errors
/// The reason if the system doesn't list them.
pub fn cores() -> Result<Vec<Core>, Unavailable> {
    Ok(read()?.0)
}

/// The size of each cache, in bytes.
///
/// # Errors
/// The reason if the system doesn't list them.
pub fn caches() -> Result<Vec<u32>, Unavailable> {
    Ok(read()?.1)
}

/// The CPUs that the calling thread may run on, ascending: its affinity mask in its group.
pub fn allowed() -> Result<Vec<u32>, Unavailable> {
    let mut affinity = GROUP_AFFINITY::default();
    // SAFETY: the pseudo-handle needs no closing, and `affinity` is writable.
    // https://learn.microsoft.com/windows/win32/api/processtopologyapi/nf-processtopologyapi-getthreadgroupaffinity
    if unsafe { GetThreadGroupAffinity(GetCurrentThread(), &raw mut affinity) } == 0 {
        return Err(os::failed("GetThreadGroupAffinity"));
    }
    Ok(of_mask(&affinity).collect())
}

/// The CPUs that the calling thread may run on, with their classes. Never empty, because this code runs on one.
pub fn cpus() -> Vec<Cpu> {
    let allowed = allowed().ok().filter(|cpus| !cpus.is_empty()).unwrap_or_else(|| vec![0]);
    kinds_of(&allowed, &cores().unwrap_or_default())
}

/// The highest class of the whole machine is the fast one.
fn kinds_of(allowed: &[u32], cores: &[Core]) -> Vec<Cpu> {
    let classes = || cores.iter().map(|core| core.efficiency_class);
    let fastest = classes().max().filter(|&fastest| classes().any(|class| class != fastest));
    let kind_of = |number: u32| {
        let class = cores.iter().find(|core| core.cpus.contains(&number)).map(|core| core.efficiency_class);
        match (class, fastest) {
            (Some(class), Some(fastest)) if class == fastest => CpuKind::Performance,
            (Some(_), Some(_)) => CpuKind::Efficiency,
            _ => CpuKind::Uniform,
        }
    };
    allowed.iter().map(|&number| Cpu { number, kind: kind_of(number) }).collect()
}

fn of_mask(affinity: &GROUP_AFFINITY) -> impl Iterator<Item = u32> {
    let (mask, first) = (affinity.Mask, u32::from(affinity.Group) * GROUP_CPUS);
    (0..usize::BITS).filter(move |cpu| mask >> cpu & 1 == 1).map(move |cpu| first + cpu)
}

fn read() -> Result<(Vec<Core>, Vec<u32>), Unavailable> {
    let failed = || os::failed("GetLogicalProcessorInformationEx");
    let mut bytes = 0;
    // SAFETY: without a buffer the call only writes the length.
    // https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-getlogicalprocessorinformationex
    unsafe { GetLogicalProcessorInformationEx(RelationAll, std::ptr::null_mut(), &raw mut bytes) };
    if bytes == 0 {
        return Err(failed());
    }
    // Words, because the records are aligned to them.
    let mut buffer = vec![0_u64; (bytes as usize).div_ceil(size_of::<u64>())];
    // SAFETY: the buffer is at least as long as stated.
    if unsafe { GetLogicalProcessorInformationEx(RelationAll, buffer.as_mut_ptr().cast(), &raw mut bytes) } == 0 {
        return Err(failed());
    }
    let whole: Vec<u8> = buffer.iter().flat_map(|word| word.to_le_bytes()).take(bytes as usize).collect();
    Ok(parse(&whole))
}

const HEAD: usize = std::mem::offset_of!(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, Anonymous);

/// Cores and caches in the list of records. Each record states its own length, and a truncated list is read up to its
/// end.
fn parse(mut bytes: &[u8]) -> (Vec<Core>, Vec<u32>) {
    let (mut cores, mut caches) = (Vec::new(), Vec::new());
    while let (Some(relation), Some(size)) = (number(bytes, 0, 4), number(bytes, 4, 4)) {
        let size = size as usize;
        let Some(record) = bytes.get(HEAD..size).filter(|_| size > HEAD) else { break };
        if relation == RelationProcessorCore as u64 {
            cores.extend(core(record));
        } else if relation == RelationCache as u64 {
            let size = number(record, std::mem::offset_of!(CACHE_RELATIONSHIP, CacheSize), 4);
            caches.extend(size.map(|size| size as u32));
        }
        bytes = &bytes[size..];
    }
    (cores, caches)
}

fn core(record: &[u8]) -> Option<Core> {
    use std::mem::offset_of;
    let efficiency_class = number(record, offset_of!(PROCESSOR_RELATIONSHIP, EfficiencyClass), 1)? as u8;
    let groups = number(record, offset_of!(PROCESSOR_RELATIONSHIP, GroupCount), 2)?;
    let mut cpus = Vec::new();
    for group in 0..groups as usize {
        let at = offset_of!(PROCESSOR_RELATIONSHIP, GroupMask) + group * size_of::<GROUP_AFFINITY>();
        let mask = number(record, at + offset_of!(GROUP_AFFINITY, Mask), size_of::<usize>())? as usize;
        let group = number(record, at + offset_of!(GROUP_AFFINITY, Group), 2)? as u16;
        cpus.extend(of_mask(&GROUP_AFFINITY { Mask: mask, Group: group, Reserved: [0; 3] }));
    }
    Some(Core { cpus, efficiency_class })
}

/// The little-endian number of this many bytes at this position.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let part = bytes.get(at..at.checked_add(length)?)?;
    Some(part.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of one core: flags, class, 20 bytes, one group with its mask and number.
    fn core_record(class: u8, mask: u64, group: u16) -> Vec<u8> {
        let mut record = vec![0; HEAD];
        record.extend([u8::from(mask.count_ones() > 1), class]);
        record.extend([0; 20]);
        record.extend(1_u16.to_le_bytes());
        record.extend(mask.to_le_bytes());
        record.extend(group.to_le_bytes());
        record.extend([0; 6]);
        with_head(RelationProcessorCore, record)
    }

    fn with_head(relation: i32, mut record: Vec<u8>) -> Vec<u8> {
        let size = record.len() as u32;
        record[..4].copy_from_slice(&relation.to_le_bytes());
        record[4..8].copy_from_slice(&size.to_le_bytes());
        record
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn cores_and_caches_are_found_among_other_records() {
        let mut cache = vec![0; HEAD + size_of::<CACHE_RELATIONSHIP>()];
        cache[HEAD + 4..HEAD + 8].copy_from_slice(&(12_u32 << 20).to_le_bytes());
        let mut list = core_record(1, 0b11, 0);
        list.extend(with_head(4, vec![0; 76]));
        list.extend(with_head(RelationCache, cache));
        list.extend(core_record(0, 0b100, 1));
        let (cores, caches) = parse(&list);
        assert_eq!(cores[0], Core { cpus: vec![0, 1], efficiency_class: 1 });
        assert_eq!(cores[1], Core { cpus: vec![66], efficiency_class: 0 });
        assert_eq!((cores.len(), caches), (2, vec![12 << 20]));
        for length in 0..list.len() {
            assert!(parse(&list[..length]).0.len() <= 2);
        }
        assert_eq!(parse(&[0; 64]).0, [], "records without a length end the list");
    }

    #[test]
    fn the_highest_class_is_the_fast_one() {
        use CpuKind::{Efficiency, Performance, Uniform};
        let core = |cpu, efficiency_class| Core { cpus: vec![cpu], efficiency_class };
        let kinds = |cores: &[Core]| kinds_of(&[0, 1, 2], cores).into_iter().map(|cpu| cpu.kind).collect::<Vec<_>>();
        assert_eq!(kinds(&[core(0, 2), core(1, 1), core(2, 0)]), [Performance, Efficiency, Efficiency]);
        assert_eq!(kinds(&[core(0, 1), core(1, 1), core(2, 1)]), [Uniform; 3]);
        assert_eq!(kinds(&[core(0, 1), core(1, 0)]), [Performance, Efficiency, Uniform], "the last isn't listed");
        assert_eq!(kinds(&[]), [Uniform; 3]);
    }

    #[test]
    fn this_thread_runs_somewhere() {
        let cpus = cpus();
        assert!(!cpus.is_empty() && cpus.is_sorted_by_key(|cpu| cpu.number));
    }
}
