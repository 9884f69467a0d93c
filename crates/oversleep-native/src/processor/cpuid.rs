//! What the processor, or the hypervisor in its place, states about itself (x86-64).

use std::sync::OnceLock;

use oversleep_record::Unavailable;
use raw_cpuid::{CpuId, CpuIdReaderNative, native_cpuid::cpuid_count};

fn cpuid() -> CpuId<CpuIdReaderNative> {
    CpuId::new()
}

/// Whether the processor has a time-stamp counter.
pub fn tsc_present() -> bool {
    cpuid().get_feature_info().is_some_and(|features| features.has_tsc())
}

/// Whether it can be read in order, together with the CPU's number.
pub fn rdtscp_present() -> bool {
    cpuid().get_extended_processor_and_feature_identifiers().is_some_and(|features| features.has_rdtscp())
}

/// Whether the counter runs at a constant rate in all power states.
pub fn tsc_invariant() -> Option<bool> {
    cpuid().get_advanced_power_mgmt_info().map(|info| info.has_invariant_tsc())
}

/// Whether the local timer can be armed with a counter value.
pub fn tsc_deadline() -> Option<bool> {
    cpuid().get_feature_info().map(|features| features.has_tsc_deadline())
}

/// Ticks per second as the processor or the hypervisor states them. Read once, because each CPUID traps in a virtual
/// machine.
pub fn tsc_hz() -> Result<u64, Unavailable> {
    static STATED: OnceLock<Result<u64, Unavailable>> = OnceLock::new();
    STATED.get_or_init(find_tsc_hz).clone()
}

fn find_tsc_hz() -> Result<u64, Unavailable> {
    let cpuid = cpuid();
    let by_hypervisor = hypervisor_leaves()
        .into_iter()
        .filter(|leaf| leaf.last >= leaf.base + 0x10 && states_frequency(leaf))
        .map(|leaf| u64::from(cpuid_count(leaf.base + 0x10, 0).eax) * 1000)
        .find(|&hz| hz > 0);
    if let Some(hz) = by_hypervisor {
        return Ok(hz);
    }
    if let Some(hz) = cpuid.get_tsc_info().and_then(|info| info.tsc_frequency()) {
        return Ok(hz);
    }
    let has_ratio = cpuid.get_tsc_info().is_some_and(|info| info.numerator() > 0 && info.denominator() > 0);
    let base_mhz = cpuid.get_processor_frequency_info().map_or(0, |info| info.processor_base_frequency());
    // Processors that state the ratio but not the crystal's frequency run the counter at their base frequency. The
    // kernel derives the crystal's frequency the same way.
    if has_ratio && base_mhz > 0 {
        return Ok(u64::from(base_mhz) * 1_000_000);
    }
    Err(Unavailable::no_hardware("frequency of the time-stamp counter in CPUID (leaves 15h, 16h, 40000010h)"))
}

/// Whether leaf 10h of this block is the frequency. VMware defined it so, and some others followed; for the rest its
/// meaning is undocumented. <https://github.com/torvalds/linux/blob/master/arch/x86/include/asm/acrn.h>,
/// <https://github.com/qemu/qemu/blob/master/target/i386/kvm/kvm.c> (vmware-cpuid-freq),
/// <https://www.virtualbox.org/manual/ch10.html> (paravirtualisation)
fn states_frequency(leaf: &HypervisorLeaf) -> bool {
    ["VMwareVMware", "KVMKVMKVM", "Linux KVM Hv", "VBoxVBoxVBox", "ACRNACRNACRN"].contains(&leaf.signature.as_str())
}

/// The vendor of the processor: `GenuineIntel`, `AuthenticAMD`.
pub fn vendor() -> Option<String> {
    cpuid().get_vendor_info().map(|vendor| vendor.as_str().to_owned())
}

/// Its marketing name.
pub fn brand() -> Option<String> {
    let brand = cpuid().get_processor_brand_string()?.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
    (!brand.is_empty()).then_some(brand)
}

/// One block of leaves in the range reserved for hypervisors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HypervisorLeaf {
    /// First leaf of the block.
    pub base: u32,
    /// Last leaf of the block.
    pub last: u32,
    /// The hypervisor's signature of twelve characters.
    pub signature: String,
}

/// The blocks of all hypervisor signatures. One that imitates another has its own block 100h further.
pub fn hypervisor_leaves() -> Vec<HypervisorLeaf> {
    if !runs_under_hypervisor() {
        return Vec::new();
    }
    (0..4)
        .map(|block| 0x4000_0000 + block * 0x100)
        .filter_map(|base| {
            let answer = cpuid_count(base, 0);
            let bytes: Vec<u8> = [answer.ebx, answer.ecx, answer.edx].iter().flat_map(|r| r.to_le_bytes()).collect();
            let signature = String::from_utf8_lossy(&bytes).trim_end_matches(['\0', ' ']).to_owned();
            // Old versions of KVM state 0 as the last leaf and mean the first two.
            let last = if answer.eax == 0 { base + 1 } else { answer.eax };
            let plausible = (base..base + 0x100).contains(&last) && !signature.is_empty();
            plausible.then_some(HypervisorLeaf { base, last, signature })
        })
        .collect()
}

/// Whether the processor reports a hypervisor.
pub fn runs_under_hypervisor() -> bool {
    cpuid().get_feature_info().is_some_and(|features| features.has_hypervisor())
}

/// Whether this is Hyper-V's root partition, which starts the guests and isn't a guest itself.
/// <https://learn.microsoft.com/virtualization/hyper-v-on-windows/tlfs/feature-discovery>
fn is_hyper_v_root() -> bool {
    const CREATE_PARTITIONS: u32 = 1;
    let features = |leaf: &HypervisorLeaf| cpuid_count(leaf.base + 3, 0).ebx;
    let leaves = hypervisor_leaves();
    leaves.iter().any(|leaf| leaf.signature == "Microsoft Hv" && features(leaf) & CREATE_PARTITIONS != 0)
}

/// The hypervisor's common name; `none` on bare metal and in Hyper-V's root partition.
pub fn hypervisor() -> &'static str {
    if is_hyper_v_root() {
        return "none";
    }
    let signatures: Vec<String> = hypervisor_leaves().into_iter().map(|leaf| leaf.signature).collect();
    if signatures.is_empty() && runs_under_hypervisor() { "other" } else { by_signatures(&signatures) }
}

/// Names by signature. KVM and Xen imitate Hyper-V if configured to, and then have a second signature, so Hyper-V's
/// counts only if it is the only one.
fn by_signatures(signatures: &[String]) -> &'static str {
    let name = |signature: &String| match signature.as_str() {
        "KVMKVMKVM" | "Linux KVM Hv" => "kvm",
        "Microsoft Hv" => "hyper-v",
        "VMwareVMware" => "vmware",
        "XenVMMXenVMM" => "xen",
        "VBoxVBoxVBox" => "virtualbox",
        "bhyve bhyve" => "bhyve",
        "TCGTCGTCGTCG" => "qemu",
        "ACRNACRNACRN" => "acrn",
        "prl hyperv" | "lrpepyh  vr" => "parallels",
        "QNXQVMBSQG" => "qnx",
        "VirtualApple" => "rosetta",
        _ => "other",
    };
    let names: Vec<&str> = signatures.iter().map(name).collect();
    match names.iter().find(|&&name| name != "hyper-v") {
        Some(name) => name,
        None if names.is_empty() => "none",
        None => "hyper-v",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imitated_hypervisors_are_recognised() {
        let name = |signatures: &[&str]| by_signatures(&signatures.iter().map(|&s| s.to_owned()).collect::<Vec<_>>());
        assert_eq!(name(&[]), "none");
        assert_eq!(name(&["KVMKVMKVM"]), "kvm");
        assert_eq!(name(&["Microsoft Hv"]), "hyper-v");
        assert_eq!(name(&["Microsoft Hv", "KVMKVMKVM"]), "kvm");
        assert_eq!(name(&["Microsoft Hv", "XenVMMXenVMM"]), "xen");
        assert_eq!(name(&["Jailhouse"]), "other");
    }
}
