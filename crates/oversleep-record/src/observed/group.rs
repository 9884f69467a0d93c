//! Control groups that get less or more of a CPU than others.

use serde::{Deserialize, Serialize};

use crate::Nanos;

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

/// The CPU quota of a control group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupQuota {
    /// The group.
    pub group: String,
    /// The file that states it: `cpu.max` in version 2, `cpu.cfs_quota_us` in version 1.
    pub file: String,
    /// CPU time in each period.
    pub quota_ns: Nanos,
    /// The period.
    pub period_ns: Nanos,
}

/// The group that Linux makes of the processes of one session (`setsid`): the CPUs are shared among such groups, and nice
/// values and `SCHED_IDLE` count only within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Autogroup {
    /// The kernel's number of it.
    pub id: u64,
    /// Its nice value among the other groups.
    pub nice: i32,
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
