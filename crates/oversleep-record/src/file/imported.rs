//! Results that were made from files of other programs.

use serde::{Deserialize, Serialize};

/// The program that measured, where that wasn't oversleep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Imported {
    /// Its name: `cyclictest`.
    pub program: String,
    /// Its version, where its file states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The kind of its file: `cyclictest JSON`.
    pub format: String,
    /// What has to be known of its figures: their unit and sign, what it skips, what isn't stated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Imported {
    /// Every program whose files are read. The name of a format begins with its program's.
    pub const PROGRAMS: &[&str] = &[
        "cyclictest",
        "rtla",
        "hyperfine",
        "HdrHistogram",
        "jHiccup",
        "MeasureSleep",
        "TimerResolution",
        "clockres",
        "powercfg",
    ];
}
