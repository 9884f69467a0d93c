//! The counter behind the kernel's clocks, and whether reading them needs the kernel.

use oversleep_record::environment::FactValue;

use super::{Entry, vdso, words};
use crate::native::facts::facts;

const FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";

pub(super) const FACTS: &[Entry] = facts! {
    ClocksourceCurrent: "/sys/devices/system/clocksource/clocksource0/current_clocksource" =>
        |machine| machine.text(&format!("{FOLDER}/current_clocksource")),
    ClocksourceAvailable: "/sys/devices/system/clocksource/clocksource0/available_clocksource" =>
        |machine| machine.files.text(&format!("{FOLDER}/available_clocksource")).map(|text| words(&text)),
    ClocksourceVdso: "clock_gettime against the bare system call, fastest of many" =>
        |_| vdso::avoids_system_call().map(FactValue::Flag),
    VdsoPresent: "getauxval(AT_SYSINFO_EHDR)" => |_| Ok(FactValue::Flag(vdso::is_present())),
};
