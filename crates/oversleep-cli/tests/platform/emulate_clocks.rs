//! `emulate`: the clocks of a runtime whose port reads two where the program reads one of Linux.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use super::emulate::emulated;
use super::support::Home;

/// GetTickCount64 counts whole milliseconds, and CLOCK_MONOTONIC ns.
const READS: &str = "
import os, threading, time
from time import monotonic, get_clock_info
def read():
    for _ in range(1000):
        shown = monotonic()
        assert shown == round(shown * 1000) / 1000, shown
        assert time.monotonic_ns() % 1000000 == 0
    assert any(time.perf_counter_ns() % 1000000 for _ in range(1000))
read()
assert get_clock_info('monotonic').resolution == 0.015625, get_clock_info('monotonic')
assert get_clock_info('perf_counter').resolution == 1e-9, get_clock_info('perf_counter')
for wrong in [(), ('monotonic', 1), (1,), ('nonsense',)]:
    try: get_clock_info(*wrong)
    except (TypeError, ValueError): pass
    else: raise SystemExit('it took %r' % (wrong,))
all = [threading.Thread(target=read) for _ in range(4)]
for one in all: one.start()
for one in all: one.join()
child = os.fork()
if not child:
    read()
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print('fine')
";

#[test]
fn a_python_sees_both_clocks_of_its_port() {
    let home = Home::new();
    let mut seen = 0;
    for version in ["3.9", "3.10", "3.11", "3.12"] {
        let python = format!("python{version}");
        let finds = std::process::Command::new(&python).arg("--version").output();
        if !finds.is_ok_and(|output| output.status.success()) {
            continue;
        }
        let Some(output) = emulated(&home, &[], &[&python, "-c", READS]) else { return };
        assert!(output.status.success() && output.stdout == b"fine\n", "{python}: {output:?}");
        seen += 1;
    }
    if seen == 0 {
        oversleep_testing::skip("there is no Python from 3.9 to 3.12");
    }
}
