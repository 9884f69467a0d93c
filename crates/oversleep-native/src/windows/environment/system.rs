//! The version of Windows, and whether Wine emulates it.

use std::ffi::{CStr, c_char};

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::System::SystemInformation::OSVERSIONINFOEXW;
use windows_sys::Win32::System::SystemServices::VER_NT_WORKSTATION;
use windows_sys::Win32::System::Threading::{
    ABOVE_NORMAL_PRIORITY_CLASS, BELOW_NORMAL_PRIORITY_CLASS, GetCurrentProcess, GetPriorityClass, HIGH_PRIORITY_CLASS,
    IDLE_PRIORITY_CLASS, NORMAL_PRIORITY_CLASS, REALTIME_PRIORITY_CLASS,
};

use super::{Entry, registry, text};
use crate::native::facts::facts;
use crate::windows::os::{self, Newer};

pub(super) const FACTS: &[Entry] = facts! {
    OsBuild: "RtlGetVersion" => || version().map(|version| FactValue::Integer(i64::from(version.build))),
    OsName: "RtlGetVersion" => || version().map(|version| text(name(version))),
    OsIsServer: "RtlGetVersion" => || version().map(|version| FactValue::Flag(version.is_server)),
    SchedPriorityClass: "GetPriorityClass" => || priority_class().map(text),
    SchedPrioritySeparation: "registry, Control\\PriorityControl" => || {
        let key = "SYSTEM\\CurrentControlSet\\Control\\PriorityControl";
        let bits = registry::machine_number(key, "Win32PrioritySeparation")?;
        let bits = bits.ok_or_else(|| Unavailable::missing("Win32PrioritySeparation in the registry"))?;
        Ok(FactValue::Integer(i64::from(bits)))
    },
    OversleepClock: "oversleep::Clock::why" => || Ok(FactValue::Text(oversleep::Clock::why().to_string())),
};

/// The system's version, independent of this program's manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::windows) struct Version {
    pub build: u32,
    pub is_server: bool,
}

/// The running version.
pub(in crate::windows) fn version() -> Result<Version, Unavailable> {
    let mut found =
        OSVERSIONINFOEXW { dwOSVersionInfoSize: size_of::<OSVERSIONINFOEXW>() as u32, ..Default::default() };
    // SAFETY: the struct states its own size, by which the call distinguishes it from the shorter one in its signature.
    // https://learn.microsoft.com/windows-hardware/drivers/ddi/wdm/nf-wdm-rtlgetversion
    let status = unsafe { RtlGetVersion((&raw mut found).cast()) };
    if status < 0 {
        return Err(os::failed_status("RtlGetVersion", status));
    }
    let is_server = u32::from(found.wProductType) != VER_NT_WORKSTATION;
    Ok(Version { build: found.dwBuildNumber, is_server })
}

/// Build numbers from <https://learn.microsoft.com/windows/release-health/release-information> and its pages for
/// Windows 11 and Server.
fn name(version: Version) -> &'static str {
    const SERVERS: &[(u32, &str)] = &[
        (26_100, "Windows Server 2025"),
        (25_398, "Windows Server, version 23H2"),
        (20_348, "Windows Server 2022"),
        (19_042, "Windows Server, version 20H2"),
        (19_041, "Windows Server, version 2004"),
        (18_363, "Windows Server, version 1909"),
        (18_362, "Windows Server, version 1903"),
        (17_763, "Windows Server 2019"),
        (17_134, "Windows Server, version 1803"),
        (16_299, "Windows Server, version 1709"),
        (14_393, "Windows Server 2016"),
        (9_600, "Windows Server 2012 R2"),
        (9_200, "Windows Server 2012"),
        (7_600, "Windows Server 2008 R2"),
    ];
    const CLIENTS: &[(u32, &str)] = &[
        (26_200, "Windows 11 25H2"),
        (26_100, "Windows 11 24H2"),
        (22_631, "Windows 11 23H2"),
        (22_621, "Windows 11 22H2"),
        (22_000, "Windows 11 21H2"),
        (19_045, "Windows 10 22H2"),
        (19_044, "Windows 10 21H2"),
        (19_043, "Windows 10 21H1"),
        (19_042, "Windows 10 20H2"),
        (19_041, "Windows 10 2004"),
        (18_363, "Windows 10 1909"),
        (18_362, "Windows 10 1903"),
        (17_763, "Windows 10 1809"),
        (17_134, "Windows 10 1803"),
        (16_299, "Windows 10 1709"),
        (15_063, "Windows 10 1703"),
        (14_393, "Windows 10 1607"),
        (10_586, "Windows 10 1511"),
        (10_240, "Windows 10 1507"),
        (9_600, "Windows 8.1"),
        (9_200, "Windows 8"),
        (7_600, "Windows 7"),
    ];
    // Builds between two releases are updates of the earlier or previews of the later. Both get the earlier name.
    let names = if version.is_server { SERVERS } else { CLIENTS };
    names.iter().find(|(first, _)| version.build >= *first).map_or("Windows before 7", |&(_, name)| name)
}

fn priority_class() -> Result<&'static str, Unavailable> {
    // SAFETY: the pseudo-handle needs no closing.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getpriorityclass
    match unsafe { GetPriorityClass(GetCurrentProcess()) } {
        IDLE_PRIORITY_CLASS => Ok("idle"),
        BELOW_NORMAL_PRIORITY_CLASS => Ok("below-normal"),
        NORMAL_PRIORITY_CLASS => Ok("normal"),
        ABOVE_NORMAL_PRIORITY_CLASS => Ok("above-normal"),
        HIGH_PRIORITY_CLASS => Ok("high"),
        REALTIME_PRIORITY_CLASS => Ok("realtime"),
        0 => Err(os::failed("GetPriorityClass")),
        class => Err(Unavailable::Nonsense { what: format!("priority class {class:#x}") }),
    }
}

/// The version of Wine, if it emulates Windows. <https://gitlab.winehq.org/wine/wine/-/wikis/Developer-FAQ>
pub(in crate::windows) fn wine_version() -> Option<String> {
    type WineGetVersion = unsafe extern "C" fn() -> *const c_char;
    // SAFETY: the type of the function, which Wine's library of this name has and Windows' lacks.
    static WINE: Newer<WineGetVersion> = unsafe { Newer::new(c"ntdll.dll", c"wine_get_version", "Wine") };
    let version = WINE.get()?;
    // SAFETY: takes no argument and returns a constant string that ends with a zero byte.
    let version = unsafe { CStr::from_ptr(version()) };
    Some(version.to_string_lossy().into_owned())
}

/// Why Wine's answer says nothing about Windows.
pub(in crate::windows) fn emulated(version: &str) -> String {
    format!("emulated by Wine {version}, which says nothing about Windows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_their_names() {
        let named = |build, is_server| name(Version { build, is_server });
        assert_eq!(named(7_601, false), "Windows 7");
        assert_eq!(named(18_363, false), "Windows 10 1909");
        assert_eq!(named(19_041, false), "Windows 10 2004");
        assert_eq!(named(22_631, false), "Windows 11 23H2");
        assert_eq!(named(22_000, false), "Windows 11 21H2");
        assert_eq!(named(20_348, true), "Windows Server 2022");
        assert_eq!(named(26_100, true), "Windows Server 2025");
        assert_eq!(named(17_763, true), "Windows Server 2019");
        assert_eq!(named(19_042, true), "Windows Server, version 20H2");
        assert_eq!(named(18_363, true), "Windows Server, version 1909");
        assert_eq!(named(2_600, false), "Windows before 7");
    }
}
