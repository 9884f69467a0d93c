//! The machines on which `emulate` runs a program, and which settings of this system alone can't have.

use super::machine::{Machine, expect};
use super::pins::LINUX_6_12;

/// Runs a program that waits, at each of the settings that restrict tracing. The last of them is final.
const SCOPES: &str = "\
run() { oversleep emulate windows-10-1909 --summary -- sh -c 'usleep 1000; exit 7'; }\n\
nobody() { su nobody -c \"oversleep emulate windows-10-1909 --summary -- sh -c 'usleep 1000; exit 7'\"; }\n\
for scope in 0 1 2 3; do\n\
echo $scope >/proc/sys/kernel/yama/ptrace_scope\n\
nobody >nobody$scope 2>&1; echo \"nobody $scope: $?\"\n\
run >root$scope 2>&1; echo \"root $scope: $?\"\n\
done";

pub static MACHINES: &[Machine] = &[Machine {
    name: "emulate-ptrace-scope",
    is: "`emulate` where tracing is restricted (`kernel.yama.ptrace_scope` from 0 to 3)",
    kernel: &LINUX_6_12,
    cpus: 1,
    boot: "",
    script: SCOPES,
    is_sampled: false,
    expects: &[
        expect("the program runs at every setting, and its exit code is passed on", |guest| {
            (0..=3).try_for_each(|scope| {
                guest.logged(&format!("nobody {scope}: 7"))?;
                guest.logged(&format!("root {scope}: 7"))
            })
        }),
        expect("0 and 1 let anybody emulate, 2 lets root", |guest| {
            ["nobody0", "nobody1", "root0", "root1", "root2"]
                .iter()
                .try_for_each(|run| guest.prints(run, "emulated windows-10-1909"))
        }),
        expect("2 and 3 are named as the reason, and LD_PRELOAD is used", |guest| {
            [("nobody2", "ptrace_scope is 2"), ("nobody3", "ptrace_scope is 3"), ("root3", "ptrace_scope is 3")]
                .iter()
                .try_for_each(|(run, why)| {
                    guest.prints(run, why)?;
                    guest.prints(run, "LD_PRELOAD is used instead")
                })
        }),
    ],
}];
