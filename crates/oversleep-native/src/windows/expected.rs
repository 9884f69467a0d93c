//! What a test may find missing: nothing on a system that is new enough for every call, and only the known gaps on
//! Wine. Without this check, a misspelt name or a refused flag would look like an older system, and no test would fail.

use oversleep_record::Unavailable;

use super::environment::system;

/// First build of Windows 10 1803, which has every call used here.
const HAS_ALL_SINCE: u32 = 17_134;

/// What Wine 8 lacks.
const LACKING_IN_WINE: &[&str] = &[
    "interrupt-time",
    "interrupt-time-precise",
    "process-cycle-time",
    "thread-cycle-time",
    "unbiased-interrupt-time-precise",
];

/// Fails if the entry should have been available.
#[track_caller]
pub(super) fn may_lack(name: &str, why: &Unavailable) {
    let is_wine = system::wine_version().is_some();
    let build = system::version().map_or(0, |version| version.build);
    assert!(is_expected(name, why, is_wine, build), "{name} is not available (build {build}): {why}");
    oversleep_testing::skip(format!("{name}: {why}"));
}

fn is_expected(name: &str, why: &Unavailable, is_wine: bool, build: u32) -> bool {
    let is_for_another_processor = *why == Unavailable::NotOnThisPlatform;
    let is_known = if is_wine { LACKING_IN_WINE.contains(&name) } else { build < HAS_ALL_SINCE };
    is_for_another_processor || is_known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_system_may_lack_a_call_and_a_newer_one_may_not() {
        let too_old = Unavailable::TooOld { needs: "Windows 10 1803".to_owned() };
        assert!(is_expected("wait-on-address", &too_old, false, 7_601));
        assert!(!is_expected("wait-on-address", &too_old, false, 17_134));
        assert!(!is_expected("wait-on-address", &too_old, true, 7_601), "Wine has it whatever build it imitates");
        assert!(is_expected("interrupt-time", &too_old, true, 19_043));
        assert!(is_expected("cntvct", &Unavailable::NotOnThisPlatform, false, 22_000));
    }
}
