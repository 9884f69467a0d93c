//! What a test may find missing: nothing, on a system that is new enough for every call or on Wine, but for what Wine is
//! known to lack. A misspelt name and a refused flag look like an older system otherwise, and no test would tell.

use oversleep_record::Unavailable;

use super::environment::system;

/// First build of Windows 10 1803, which has every call that is made here.
const HAS_ALL_SINCE: u32 = 17_134;

/// What Wine 8 lacks.
const LACKING_IN_WINE: &[&str] = &[
    "interrupt-time",
    "interrupt-time-precise",
    "process-cycle-time",
    "thread-cycle-time",
    "unbiased-interrupt-time-precise",
];

/// Fails where an entry should have been there.
pub(super) fn may_lack(name: &str, why: &Unavailable) {
    let is_wine = system::wine_version().is_some();
    let build = system::version().map_or(0, |version| version.build);
    assert!(is_expected(name, why, is_wine, build), "{name} is not here (build {build}): {why}");
    println!("{name}: not here: {why}");
}

fn is_expected(name: &str, why: &Unavailable, is_wine: bool, build: u32) -> bool {
    let of_another_processor = *why == Unavailable::NotOnThisPlatform;
    let known = if is_wine { LACKING_IN_WINE.contains(&name) } else { build < HAS_ALL_SINCE };
    of_another_processor || known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_system_may_lack_a_call_and_a_newer_one_may_not() {
        let too_old = Unavailable::TooOld { needs: "Windows 10 1803".to_owned() };
        assert!(is_expected("wait-on-address", &too_old, false, 7_601));
        assert!(!is_expected("wait-on-address", &too_old, false, 17_134));
        assert!(!is_expected("wait-on-address", &too_old, true, 7_601), "Wine has it whatever build it plays");
        assert!(is_expected("interrupt-time", &too_old, true, 19_043));
        assert!(is_expected("cntvct", &Unavailable::NotOnThisPlatform, false, 22_000));
    }
}
