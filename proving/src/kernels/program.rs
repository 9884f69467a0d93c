//! The programs of the guests: the built command with its shared libraries, a shell, and the init script.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask_tools::{Prerequisites, can_build_for, target_directory};

use super::archive::Archive;
use super::machine::Arch;

/// The init script of every guest. It waits two seconds before any measurement: the kernel offers `tsc` a second after
/// its first line, and is busy until then.
const INIT: &str = "\
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root LD_LIBRARY_PATH=/lib
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /dev/shm /dev/mqueue
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t mqueue mqueue /dev/mqueue
ip link set lo up
mkdir -m 777 /tmp/out
cd /tmp/out
sleep 2
uname -r >release
sh /run.sh >log 2>&1
dmesg >dmesg
out=/dev/ttyS1
[ -c /dev/ttyAMA0 ] && out=/dev/ttyS0
stty -F $out raw
tar -cz . >$out
poweroff -f
";

/// The origin of a guest's loader and libraries, and how its program is built.
pub struct Target {
    pub arch: Arch,
    triple: Option<&'static str>,
    linker: Option<(&'static str, &'static str)>,
    strip: &'static str,
    loader: &'static str,
    libraries: &'static str,
}

pub const TARGETS: [Target; 2] = [
    Target {
        arch: Arch::X86,
        triple: None,
        linker: None,
        strip: "strip",
        loader: "/lib64/ld-linux-x86-64.so.2",
        libraries: "/lib/x86_64-linux-gnu",
    },
    Target {
        arch: Arch::Arm,
        triple: Some("aarch64-unknown-linux-gnu"),
        linker: Some(("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")),
        strip: "aarch64-linux-gnu-strip",
        loader: "/lib/ld-linux-aarch64.so.1",
        libraries: "/usr/aarch64-linux-gnu/lib",
    },
];

/// The shared libraries of the command, besides the loader.
const LIBRARIES: [&str; 3] = ["libc.so.6", "libm.so.6", "libgcc_s.so.1"];

impl Target {
    pub fn of(arch: Arch) -> &'static Target {
        TARGETS.iter().find(|target| target.arch == arch).expect("each processor has one")
    }

    /// Finds or installs the prerequisites for building the command.
    ///
    /// # Errors
    /// What is missing and can't be installed.
    pub fn prepare(&self, prerequisites: &mut Prerequisites) -> Result<(), String> {
        if let (Some(triple), Some((_, linker))) = (self.triple, self.linker) {
            can_build_for(triple, prerequisites)?;
            prerequisites.program(linker, &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"])?;
        }
        prerequisites.program(self.strip, &["binutils", "binutils-aarch64-linux-gnu"])
    }

    /// Builds one of the project's programs as users get it.
    ///
    /// # Errors
    /// The build failed.
    pub fn build(&self, root: &Path, args: &[&str], file: &str) -> Result<PathBuf, String> {
        let mut build = Command::new(env!("CARGO"));
        build.current_dir(root).args(["build", "--release"]).args(args);
        if let Some(triple) = self.triple {
            build.args(["--target", triple]);
        }
        if let Some((variable, linker)) = self.linker {
            build.env(variable, linker);
        }
        let status = build.status().map_err(|error| format!("cargo: {error}"))?;
        if !status.success() {
            return Err(format!("{file} could not be built"));
        }
        let target = target_directory(root);
        Ok(self.triple.map_or(target.clone(), |triple| target.join(triple)).join("release").join(file))
    }

    /// Everything but the commands of one machine, as an archive.
    ///
    /// # Errors
    /// A file is missing.
    pub fn base(&self, scratch: &Path, program: &Path, truth: &Path, busybox: &Path) -> Result<Vec<u8>, String> {
        let mut archive = Archive::default();
        for directory in ["bin", "proc", "sys", "dev", "tmp", "etc", "root", "lib"] {
            archive.directory(directory);
        }
        let mut files: BTreeMap<String, PathBuf> = BTreeMap::new();
        for (name, program) in [("oversleep", program), ("truth", truth)] {
            let stripped = scratch.join(format!("{name}-{:?}", self.arch));
            let status = Command::new(self.strip).arg("-o").arg(&stripped).arg(program).status();
            if !status.map_err(|error| format!("{}: {error}", self.strip))?.success() {
                return Err(format!("{} failed on {}", self.strip, program.display()));
            }
            files.insert(format!("bin/{name}"), stripped);
        }
        files.insert("bin/busybox".to_owned(), busybox.to_path_buf());
        let libraries = Path::new(self.libraries);
        let loader = self.loader.trim_start_matches('/');
        files.insert(loader.to_owned(), libraries.join(Path::new(loader).file_name().unwrap_or_default()));
        files.extend(LIBRARIES.map(|name| (format!("lib/{name}"), libraries.join(name))));
        for (path, file) in files {
            let content = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            archive.file(&path, &content);
        }
        archive.file("init", INIT.as_bytes());
        archive.file("etc/passwd", b"root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n");
        Ok(archive.into_bytes())
    }
}

/// The commands of one machine.
pub fn script(commands: &str) -> Vec<u8> {
    let mut archive = Archive::default();
    archive.file("run.sh", commands.as_bytes());
    archive.into_bytes()
}
