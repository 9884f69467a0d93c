//! What a system states about its timer resolution and the processes that hold one.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_record::environment::PlatformId;

/// One such statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolutionRow {
    /// Its subject: `after fork and exec`.
    pub what: &'static str,
    /// The statement, or why it is unknown.
    pub says: Result<String, Unavailable>,
    /// How it was determined.
    pub how: &'static str,
}

/// Which processes hold which setting, as far as the system states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolutionHolders {
    /// By setting, in its order.
    pub settings: Vec<Holders>,
    /// Processes whose setting can't be read.
    pub unknown_count: u64,
}

/// The processes that hold one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holders {
    /// The setting.
    pub setting: Setting,
    /// Number of processes.
    pub process_count: u64,
    /// Their names, each once: for the terminal only, never for a result file.
    pub names: Vec<String>,
}

/// Why a system doesn't state which process holds what. Windows shows it only to administrators, in a report:
/// <https://learn.microsoft.com/windows-hardware/design/device-experiences/powercfg-command-line-options#energy>.
pub fn nobody_tells(id: &PlatformId) -> Unavailable {
    if id.os == "windows" && id.modelled.is_none() {
        return Unavailable::not_permitted(
            "asking who requested which resolution",
            "no call tells; as administrator run `powercfg /energy` and read 'Platform Timer Resolution' in its report",
        );
    }
    Unavailable::NotOnThisPlatform
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_says_what_would_tell() {
        let id = |modelled: Option<&str>| PlatformId {
            os: "windows".to_owned(),
            arch: "x86_64".to_owned(),
            modelled: modelled.map(str::to_owned),
        };
        assert!(nobody_tells(&id(None)).to_string().contains("powercfg /energy"));
        assert_eq!(nobody_tells(&id(Some("windows-11"))), Unavailable::NotOnThisPlatform);
    }
}
