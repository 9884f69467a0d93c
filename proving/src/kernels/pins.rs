//! The kernels and the guests' shell, pinned by version. Cloud kernels have everything that is needed here and boot
//! fastest. Debian keeps those of old releases on its mirrors.

use super::machine::{Arch, Kernel};
use super::packages::Package;

const fn package(name: &'static str, version: &'static str, path: &'static str, sha256: &'static str) -> Package {
    Package { name, version, archive: "debian", path, sha256 }
}

pub static LINUX_5_10: Kernel = Kernel {
    name: "Linux 5.10",
    arch: Arch::X86,
    package: package(
        "linux-image-5.10.0-32-cloud-amd64",
        "5.10.223-1",
        "pool/main/l/linux-signed-amd64/linux-image-5.10.0-32-cloud-amd64_5.10.223-1_amd64.deb",
        "fb4a1229952d892138532c1d9f40a7fd0bd408e4dcf969c12e4524b6a89fdcb8",
    ),
};

pub static LINUX_6_1: Kernel = Kernel {
    name: "Linux 6.1",
    arch: Arch::X86,
    package: package(
        "linux-image-6.1.0-50-cloud-amd64",
        "6.1.176-1",
        "pool/main/l/linux-signed-amd64/linux-image-6.1.0-50-cloud-amd64_6.1.176-1_amd64.deb",
        "efe19f605b6f54a8352e68d85a629abb2d30b72a085faef603a9152590baa791",
    ),
};

pub static LINUX_6_1_RT: Kernel = Kernel {
    name: "Linux 6.1, PREEMPT_RT",
    arch: Arch::X86,
    package: package(
        "linux-image-6.1.0-50-rt-amd64",
        "6.1.176-1",
        "pool/main/l/linux-signed-amd64/linux-image-6.1.0-50-rt-amd64_6.1.176-1_amd64.deb",
        "0672cbf2da233860fafae1d17c8af5544d2920d1bb5dfe6ce4a8283b835862b4",
    ),
};

pub static LINUX_6_1_ARM: Kernel = Kernel {
    name: "Linux 6.1, arm64",
    arch: Arch::Arm,
    package: package(
        "linux-image-6.1.0-50-cloud-arm64",
        "6.1.176-1",
        "pool/main/l/linux-signed-arm64/linux-image-6.1.0-50-cloud-arm64_6.1.176-1_arm64.deb",
        "9d41a53f5d687ae1a33cf546d0ed8be955f72e5f9e97b2b4e45e41dff3353b97",
    ),
};

pub static LINUX_6_12: Kernel = Kernel {
    name: "Linux 6.12",
    arch: Arch::X86,
    package: package(
        "linux-image-6.12.107+deb13-cloud-amd64",
        "6.12.107-1",
        "pool/main/l/linux-signed-amd64/linux-image-6.12.107+deb13-cloud-amd64_6.12.107-1_amd64.deb",
        "04434ff520f860423eafe4203d986a35682ce73c2f71baa39e988ca0da93ac91",
    ),
};

pub static LINUX_6_12_RT: Kernel = Kernel {
    name: "Linux 6.12, PREEMPT_RT",
    arch: Arch::X86,
    package: package(
        "linux-image-6.12.107+deb13-rt-amd64",
        "6.12.107-1",
        "pool/main/l/linux-signed-amd64/linux-image-6.12.107+deb13-rt-amd64_6.12.107-1_amd64.deb",
        "5553144c94a5687f76f6cc05153cec637fae4c891b05e6d342099ac88714bfd7",
    ),
};

/// The newest one in Debian when these versions were chosen.
pub static LINUX_7_2: Kernel = Kernel {
    name: "Linux 7.2",
    arch: Arch::X86,
    package: package(
        "linux-binary-7.2.13+deb14-cloud-amd64",
        "7.2.13-1",
        "pool/main/l/linux-signed-amd64/linux-binary-7.2.13+deb14-cloud-amd64_7.2.13-1_amd64.deb",
        "03e41f1c34c16583462f029e81944a85ebcdb78098c258dedfa1cfdd680a27f8",
    ),
};

pub static KERNELS: &[&Kernel] =
    &[&LINUX_5_10, &LINUX_6_1, &LINUX_6_1_RT, &LINUX_6_12, &LINUX_6_12_RT, &LINUX_7_2, &LINUX_6_1_ARM];

/// The shell for guests with this processor.
pub const fn shell(arch: Arch) -> Package {
    match arch {
        Arch::X86 => package(
            "busybox-static",
            "1:1.35.0-4+deb12u1+b1",
            "pool/main/b/busybox/busybox-static_1.35.0-4+deb12u1+b1_amd64.deb",
            "3d3fdbe91d4660c873e14b092c213fe81c1da6362daa236eb25d0171eb108744",
        ),
        Arch::Arm => package(
            "busybox-static",
            "1:1.35.0-4+deb12u1+b1",
            "pool/main/b/busybox/busybox-static_1.35.0-4+deb12u1+b1_arm64.deb",
            "732c9135564fc71337e0e05fb4da4d11e6c28c1834bce3e405e575afef2a52f5",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_known_by_its_version_and_its_hash() {
        let shells = [Arch::X86, Arch::Arm].map(shell);
        for package in KERNELS.iter().map(|kernel| kernel.package).chain(shells) {
            let upstream = package.version.split_once(':').map_or(package.version, |(_, version)| version);
            assert!(package.path.contains(&format!("/{}_{upstream}_", package.name)), "{}", package.path);
            assert!(package.sha256.len() == 64 && package.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()));
        }
    }
}
