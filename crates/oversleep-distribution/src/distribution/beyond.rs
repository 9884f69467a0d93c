//! Values that were counted without their size.

/// Values that a histogram of fixed length counted without their size: those above its end. A quantile that lies among them
/// is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beyond {
    /// Number of values.
    pub count: u64,
    /// The smallest size that they may have, in the unit of the series.
    pub from: i64,
    /// The largest of them, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
}
