//! The tables of `PLATFORM.md` that are generated from descriptions: clocks, waits, hand-offs, tunables and loads of
//! each system, the meaning of zero and the slack of its waits.

use oversleep_system::reference;

use super::Part;

const PAGE: &str = "PLATFORM.md";

pub fn parts() -> Vec<Part> {
    let of_system = |os: &'static str| {
        [
            ("zero", reference::waits_by_zero(os)),
            ("slack", reference::waits_by_slack(os)),
            ("clocks", reference::clocks(os)),
            ("waits", reference::waits(os)),
            ("handoffs", reference::handoffs(os)),
            ("tunables", reference::tunables(os)),
            ("loads", reference::loads(os)),
        ]
        .map(|(kind, text)| Part { path: PAGE, name: format!("{kind}-{os}"), text })
    };
    ["linux", "windows", "macos"].into_iter().flat_map(of_system).collect()
}
