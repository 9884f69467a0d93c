//! Control groups that get less or more of a CPU than others.

use serde::{Deserialize, Serialize};

/// What a control group's share of a CPU is set with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GroupSetting {
    /// Version 2.
    #[serde(rename = "cpu.weight")]
    CpuWeight,
    /// Version 1.
    #[serde(rename = "cpu.shares")]
    CpuShares,
    /// As `SCHED_IDLE`, for the whole group.
    #[serde(rename = "cpu.idle")]
    CpuIdle,
}

impl GroupSetting {
    /// Its file.
    pub fn name(self) -> &'static str {
        match self {
            GroupSetting::CpuWeight => "cpu.weight",
            GroupSetting::CpuShares => "cpu.shares",
            GroupSetting::CpuIdle => "cpu.idle",
        }
    }

    /// What a new group has.
    pub fn default_value(self) -> u64 {
        match self {
            GroupSetting::CpuWeight => 100,
            GroupSetting::CpuShares => 1_024,
            GroupSetting::CpuIdle => 0,
        }
    }
}

/// A control group whose share of a CPU isn't the default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupWeight {
    /// The group.
    pub group: String,
    /// The folder with its settings.
    pub folder: String,
    /// What sets its share.
    pub setting: GroupSetting,
    /// To what.
    pub value: u64,
}

/// The kernel's weight of what is idle, where a default group and a task at nice 0 have 1024.
pub const IDLE_SHARE: f64 = 3.0 / 1_024.0;

impl GroupWeight {
    /// Its share beside a group with the default, which has 1.
    pub fn share(&self) -> f64 {
        match self.setting {
            GroupSetting::CpuIdle => IDLE_SHARE,
            setting => self.value as f64 / setting.default_value() as f64,
        }
    }
}
