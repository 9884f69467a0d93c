//! The processors that a machine can have, by microarchitecture: what instructions take, and the idle states as the kernel's
//! tables have them.

/// The parameter that names it.
pub(super) const PROCESSOR: &str = "cpus.processor";

/// A microarchitecture, or a chip of one that decides the idle states.
pub(super) struct Processor {
    pub name: &'static str,
    pub(super) title: &'static str,
    /// The usual clock rate of one busy core.
    pub(super) mhz: i64,
    pub(super) reads: Reads,
    pub(super) idle: Idle,
}

/// What a read of its counter takes.
pub(super) enum Reads {
    /// x86-64: cycles of RDTSC and of LFENCE, each in a sequence of its kind (instlatx64), and whether Linux keeps the
    /// kernel's pages out of a program's reach on it (Meltdown).
    Tsc { rdtsc: f64, lfence: f64, isolates: bool },
    /// Arm, which publishes no cycles of a read: its architecture; the kind of machines with that core, whose reads and
    /// wake-ups are numbers of its cycles; and the counter's frequency in Hz with its source, if the chip is known: those
    /// with one core differ by up to fifty times.
    Generic { arch: &'static str, kind: &'static str, counter: Option<(i64, &'static str)> },
}

const fn x86(rdtsc: f64, lfence: f64, isolates: bool) -> Reads {
    Tsc { rdtsc, lfence, isolates }
}

const fn arm(kind: &'static str) -> Reads {
    Generic { arch: "aarch64", kind, counter: None }
}

const fn arm_32(kind: &'static str) -> Reads {
    Generic { arch: "arm", kind, counter: None }
}

/// A chip, by its core, with the frequency of its counter and the source of that.
const fn chip(kind: &'static str, hz: i64, source_id: &'static str) -> Reads {
    Generic { arch: "aarch64", kind, counter: Some((hz, source_id)) }
}

/// The source of idle states and frequencies of chips.
pub(super) const TREES: &str = "linux-arm64-dts";

const TIMEBASE: &str = "apple-timebase";
const PI: &str = "raspberry-pi-processors";

/// The kinds of machines with these cores.
const A53: &str = "arm-cortex-a53";
const A72: &str = "arm-cortex-a72";
const A76: &str = "arm-cortex-a76";
const A78: &str = "arm-cortex-a78";

/// The kind of machines with a processor of Apple's, whose reads are known on macOS.
const APPLE: &str = "apple-silicon";

/// The idle states of a processor's cores.
pub(super) enum Idle {
    /// From intel_idle's table: target residency and exit latency, in µs. States of the package are left out: what a core
    /// saves in them is that of its own deepest state.
    Table(&'static [(i64, i64)]),
    /// From ACPI: exit latencies in µs; `acpi_idle` chooses a state from twice its latency on.
    Acpi(&'static [i64]),
    /// From a chip's device tree: target residency and exit latency, in µs.
    Tree(&'static [(i64, i64)]),
    /// No source states any beyond waiting for an interrupt, which is left at once.
    Unknown,
}

use Idle::{Acpi, Table, Tree, Unknown};
use Reads::{Generic, Tsc};

/// A table of processors: the name and title, the usual rate in MHz, what a read of the counter takes, and the idle states.
macro_rules! processors {
    ($($name:literal $title:literal: $mhz:literal, $reads:expr, $idle:expr;)*) => {
        [$(Processor { name: $name, title: $title, mhz: $mhz, reads: $reads, idle: $idle }),*]
    };
}

/// All of them, the oldest of each maker first; chips of a core after the cores.
pub(super) const PROCESSORS: [Processor; 70] = processors! {
    "core-2" "Intel Core 2 of 65 nm": 2_400, x86(64.0, 8.0, true), Unknown;
    "penryn" "Intel Core 2 of 45 nm": 2_800, x86(32.0, 8.0, true), Unknown;
    "nehalem" "Intel Nehalem, Westmere": 3_000, x86(24.0, 9.0, true), Table(&[(80, 20), (800, 200)]);
    "sandy-bridge" "Intel Sandy Bridge": 3_500, x86(28.0, 4.25, true), Table(&[(211, 80), (345, 109)]);
    "ivy-bridge" "Intel Ivy Bridge": 3_700, x86(27.0, 4.25, true), Table(&[(156, 59), (300, 87)]);
    "haswell" "Intel Haswell": 3_800, x86(24.0, 4.25, true), Table(&[(100, 33), (400, 133), (500, 166)]);
    "broadwell" "Intel Broadwell": 3_400, x86(24.0, 4.25, true), Table(&[(100, 40), (400, 133), (500, 166)]);
    "skylake" "Intel Skylake to Coffee Lake": 4_200, x86(25.0, 4.25, true), Table(&[(100, 70), (200, 85), (800, 124)]);
    "comet-lake" "Intel Comet Lake": 4_600, x86(25.0, 4.25, false), Table(&[(100, 70), (200, 85), (800, 124)]);
    "ice-lake" "Intel Ice Lake to Rocket Lake": 4_400, x86(27.0, 5.25, false), Unknown;
    "alder-lake" "Intel Alder and Raptor Lake, performance cores": 5_000, x86(26.0, 12.0, false), Table(&[(600, 220)]);
    "meteor-lake" "Intel Meteor Lake, performance cores": 4_800, x86(27.0, 12.0, false), Table(&[(420, 140)]);
    "arrow-lake" "Intel Arrow Lake, performance cores": 5_500, x86(27.0, 15.0, false), Unknown;
    "bonnell" "Intel Atom, Bonnell": 1_600, x86(29.0, 0.5, false), Table(&[(80, 20), (400, 100), (560, 140)]);
    "silvermont" "Intel Bay Trail": 2_400, x86(30.0, 8.0, true), Table(&[(275, 300)]);
    "airmont" "Intel Braswell, Cherry Trail": 2_200, x86(35.0, 8.0, true), Table(&[(275, 80), (560, 200)]);
    "goldmont" "Intel Apollo Lake": 2_400, x86(20.0, 7.5, true), Table(&[(133, 133)]);
    "goldmont-plus" "Intel Gemini Lake": 2_700, x86(21.0, 6.0, true), Table(&[(133, 133)]);
    "tremont" "Intel Jasper and Elkhart Lake": 2_900, x86(25.0, 25.0, false), Unknown;
    "gracemont" "Intel Alder Lake-N, efficiency cores": 3_600, x86(29.0, 26.0, false), Table(&[(585, 195)]);
    "skylake-server" "Intel Xeon, Skylake to Cascade Lake": 3_400, x86(25.0, 4.25, true), Table(&[(600, 133)]);
    "ice-lake-server" "Intel Xeon, Ice Lake": 3_400, x86(27.0, 5.25, false), Table(&[(600, 170)]);
    "sapphire-rapids" "Intel Xeon, Sapphire and Emerald Rapids": 3_500, x86(26.0, 12.0, false), Table(&[(800, 290)]);
    "granite-rapids" "Intel Xeon, Granite Rapids": 3_800, x86(26.0, 12.0, false), Table(&[(650, 170), (1_000, 210)]);
    "k10" "AMD Phenom, Athlon II": 3_000, x86(72.75, 1.0, false), Unknown;
    "piledriver" "AMD FX, Bulldozer to Piledriver": 4_000, x86(42.25, 0.25, false), Unknown;
    "steamroller" "AMD A series, Steamroller and Excavator": 3_900, x86(85.0, 0.25, false), Unknown;
    "jaguar" "AMD Jaguar, Puma": 2_000, x86(41.0, 0.5, false), Unknown;
    "zen" "AMD Ryzen, Zen and Zen+": 4_000, x86(36.5, 17.0, false), Acpi(&[350]);
    "zen-2" "AMD Ryzen, Zen 2": 4_400, x86(37.25, 11.0, false), Acpi(&[350]);
    "zen-3" "AMD Ryzen, Zen 3": 4_600, x86(36.0, 10.0, false), Acpi(&[350]);
    "zen-4" "AMD Ryzen, Zen 4": 5_300, x86(35.0, 10.0, false), Acpi(&[350]);
    "zen-5" "AMD Ryzen, Zen 5": 5_500, x86(37.75, 11.0, false), Acpi(&[350]);
    "epyc" "AMD EPYC, Zen 2 to 4": 3_500, x86(36.0, 10.0, false), Acpi(&[400]);
    "arm1176" "Arm ARM1176 (Raspberry Pi 1, Zero)": 700, arm_32("arm-32-arm1176"), Unknown;
    "cortex-a7" "Arm Cortex-A7": 900, arm_32("arm-32-cortex-a7"), Unknown;
    "cortex-a8" "Arm Cortex-A8": 1_000, arm_32("arm-32-cortex-a8"), Unknown;
    "cortex-a9" "Arm Cortex-A9": 925, arm_32("arm-32-cortex-a9"), Unknown;
    "cortex-a15" "Arm Cortex-A15": 1_500, arm_32("arm-32-cortex-a15"), Unknown;
    "cortex-a53" "Arm Cortex-A53": 1_400, arm(A53), Unknown;
    "cortex-a55" "Arm Cortex-A55, by the Cortex-A53": 1_800, arm(A53), Unknown;
    "cortex-a57" "Arm Cortex-A57, by the Cortex-A72": 1_430, arm(A72), Unknown;
    "cortex-a72" "Arm Cortex-A72": 1_500, arm(A72), Unknown;
    "cortex-a73" "Arm Cortex-A73, by the Cortex-A72": 2_200, arm(A72), Unknown;
    "cortex-a76" "Arm Cortex-A76": 2_400, arm(A76), Unknown;
    "cortex-a78" "Arm Cortex-A78": 2_200, arm(A78), Unknown;
    "cortex-x1" "Arm Cortex-X1, by the Cortex-A78": 2_900, arm(A78), Unknown;
    "neoverse-n1" "Arm Neoverse N1": 2_500, arm(A76), Unknown;
    "neoverse-v1" "Arm Neoverse V1": 2_600, arm(A78), Unknown;
    "neoverse-n2" "Arm Neoverse N2, by the Cortex-A78": 3_000, arm(A78), Unknown;
    "neoverse-v2" "Arm Neoverse V2, by the Cortex-A78": 2_800, arm(A78), Unknown;
    "bcm2837" "Broadcom BCM2837 (Raspberry Pi 3), Cortex-A53": 1_200, chip(A53, 19_200_000, "firmware-681"), Unknown;
    "am64" "Texas Instruments AM64 and AM62, Cortex-A53": 1_400, chip(A53, 200_000_000, "optee-5461"), Unknown;
    "tegra210" "Nvidia Tegra X1 (Jetson Nano), Cortex-A57": 1_430, chip(A72, 19_200_000, "acm-module-4"), Unknown;
    "bcm2711" "Broadcom BCM2711 (Raspberry Pi 4), Cortex-A72": 1_500, chip(A72, 54_000_000, PI), Unknown;
    "ls1046a" "NXP LS1046A, Cortex-A72": 1_800, chip(A72, 25_000_000, "zephyr-35492"), Unknown;
    "bcm2712" "Broadcom BCM2712 (Raspberry Pi 5), Cortex-A76": 2_400, chip(A76, 54_000_000, PI), Unknown;
    "tegra234" "Nvidia Jetson Orin, Cortex-A78": 2_200, chip(A78, 31_250_000, "migrate-jetson-5"), Unknown;
    "graviton" "Amazon Graviton, Cortex-A72": 2_300, chip(A72, 83_330_000, "nomad-7989"), Unknown;
    "graviton-2" "Amazon Graviton 2, Neoverse N1": 2_500, chip(A76, 121_875_000, "archspec-41"), Unknown;
    "graviton-3" "Amazon Graviton 3, Neoverse V1": 2_600, chip(A78, 1_050_000_000, "archspec-51"), Unknown;
    "altra" "Ampere Altra, Neoverse N1": 3_000, chip(A76, 25_000_000, "archspec-41"), Unknown;
    "rk3399" "Rockchip RK3399, Cortex-A72": 1_800, chip(A72, 24_000_000, TREES), Tree(&[(900, 250), (2_000, 500)]);
    "rk3588" "Rockchip RK3588, Cortex-A76": 2_400, chip(A76, 24_000_000, TREES), Tree(&[(1_000, 120)]);
    "imx8m" "NXP i.MX 8M Mini, Cortex-A53": 1_800, chip(A53, 8_000_000, TREES), Tree(&[(2_700, 700)]);
    "zynqmp" "AMD Zynq UltraScale+, Cortex-A53": 1_200, chip(A53, 99_999_000, "meta-lmp-218"), Tree(&[(10_000, 600)]);
    "apple-m1" "Apple M1, performance cores": 3_200, chip(APPLE, 24_000_000, TIMEBASE), Unknown;
    "apple-m2" "Apple M2, performance cores": 3_500, chip(APPLE, 24_000_000, TIMEBASE), Unknown;
    "apple-m3" "Apple M3, performance cores": 4_050, chip(APPLE, 24_000_000, TIMEBASE), Unknown;
    "apple-m4" "Apple M4, performance cores": 4_500, chip(APPLE, 24_000_000, TIMEBASE), Unknown;
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

impl Processor {
    /// Whether it is one of Apple's.
    pub(super) fn is_apple(&self) -> bool {
        matches!(self.reads, Generic { kind: APPLE, .. })
    }

    /// The architecture.
    pub(super) fn arch(&self) -> &'static str {
        match self.reads {
            Tsc { .. } => "x86_64",
            Generic { arch, .. } => arch,
        }
    }
}
