//! The counter behind the kernel's clocks, and whether reading them needs the kernel.

use oversleep_record::FactName;
use oversleep_record::environment::FactValue;

use super::{Entry, vdso, words};

const FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";

pub(super) const FACTS: &[Entry] = &[
    Entry {
        name: FactName::ClocksourceCurrent,
        source: "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        read: |machine| machine.text(&format!("{FOLDER}/current_clocksource")),
    },
    Entry {
        name: FactName::ClocksourceAvailable,
        source: "/sys/devices/system/clocksource/clocksource0/available_clocksource",
        read: |machine| machine.files.text(&format!("{FOLDER}/available_clocksource")).map(|text| words(&text)),
    },
    Entry {
        name: FactName::ClocksourceVdso,
        source: "clock_gettime against the bare system call, fastest of many",
        read: |_| Ok(FactValue::Flag(vdso::avoids_system_call())),
    },
    Entry {
        name: FactName::VdsoPresent,
        source: "getauxval(AT_SYSINFO_EHDR)",
        read: |_| Ok(FactValue::Flag(vdso::is_present())),
    },
];
