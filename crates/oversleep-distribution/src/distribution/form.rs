//! The form of a distribution in the file: figures that anyone can read, and the complete histograms. Reading refuses
//! figures and histograms that contradict each other (`figures`).

use serde::{Deserialize, Serialize};

use super::Distribution;
use super::figures::Figures;
use super::histogram::Histogram;

/// The most values that a file may state: any JSON reader represents this number exactly, and the fastest clock takes
/// three years to reach it. The limit keeps merged distributions within what a histogram's encoding can hold.
const COUNT_MAX: u64 = 1 << 53;

/// The form in the file: figures anyone can read, and the histograms in HdrHistogram V2 (compressed, base64).
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(
        extend("if" = { "properties": { "count": { "const": 0 } } }),
        extend("then" = { "properties": { "min": { "type": "null" }, "max": { "type": "null" } } }),
        extend("else" = {
            "properties": { "min": { "type": "integer" }, "max": { "type": "integer" }, "mean": { "type": "number" } },
            "required": ["min", "max", "mean"],
        })
    )
)]
struct DistributionFile {
    /// How many values.
    #[cfg_attr(feature = "schema", schemars(range(max = COUNT_MAX)))]
    count: u64,
    /// Smallest value, exactly; absent where there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min: Option<i64>,
    /// Largest value, exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max: Option<i64>,
    /// Arithmetic mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    /// Median; derived from the histograms, for readers without an HDR library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    p50: Option<i64>,
    /// 99th percentile; derived likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    p99: Option<i64>,
    /// 99.9th percentile; derived likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    p99_9: Option<i64>,
    /// Values of zero and above.
    #[cfg_attr(feature = "schema", schemars(extend("contentEncoding" = "base64", "pattern" = "^HISTF")))]
    #[serde(alias = "late_hdr_v2")]
    hdr_v2: String,
    /// Magnitudes of the values below zero.
    #[serde(default, alias = "early_hdr_v2", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("contentEncoding" = "base64", "pattern" = "^HISTF")))]
    negative_hdr_v2: Option<String>,
}

impl Serialize for Distribution {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        DistributionFile {
            count: self.count(),
            min: self.min(),
            max: self.recorded_max(),
            mean: self.recorded_mean(),
            p50: self.quantile_of(0.5, self.count()),
            p99: self.quantile_of(0.99, self.count()),
            p99_9: self.quantile_of(0.999, self.count()),
            hdr_v2: self.positive.encoded(),
            negative_hdr_v2: self.negative.as_ref().map(Histogram::encoded),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let file = DistributionFile::deserialize(deserializer)?;
        let (positive, compressed) = Histogram::decoded(&file.hdr_v2).map_err(D::Error::custom)?;
        let negative = file.negative_hdr_v2.as_deref().map(Histogram::decoded).transpose().map_err(D::Error::custom)?;
        let (negative, compressed_negative) = negative.unzip();
        let held = positive
            .len()
            .checked_add(negative.as_ref().map_or(0, Histogram::len))
            .filter(|&held| held <= COUNT_MAX)
            .ok_or_else(|| D::Error::custom("more values than can be counted"))?;
        if held != file.count {
            return Err(D::Error::custom(format!("count says {} but the histograms hold {held} values", file.count)));
        }
        let mut distribution = match (file.min, file.max) {
            (Some(min), Some(max)) if min <= max && held > 0 => {
                let mean = file.mean.ok_or_else(|| D::Error::missing_field("mean"))?;
                let sum = (mean * held as f64).round() as i128;
                Distribution { positive, negative, min, max, sum, beyond: None }
            }
            (None, None) if held == 0 => Distribution { positive, negative, ..Distribution::default() },
            _ => return Err(D::Error::custom("min and max do not fit the count")),
        };
        let quantiles = [("p50", 0.5, file.p50), ("p99", 0.99, file.p99), ("p99_9", 0.999, file.p99_9)];
        match Figures::of(&distribution).contradiction(file.mean, &quantiles) {
            Some(contradiction) => Err(D::Error::custom(contradiction)),
            None => {
                distribution.positive.hold(compressed);
                distribution
                    .negative
                    .as_mut()
                    .zip(compressed_negative)
                    .into_iter()
                    .for_each(|(held, small)| held.hold(small));
                Ok(distribution)
            }
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Distribution {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Distribution".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        DistributionFile::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = i64>) -> Distribution {
        let mut distribution = Distribution::new();
        values.into_iter().for_each(|value| distribution.record(value));
        distribution
    }

    #[test]
    fn a_file_with_more_values_than_can_be_counted_is_refused() {
        let read_with = |further: u64| {
            let mut many = of([1, 1]);
            many.positive.record(1, further);
            many.sum += i128::from(further);
            serde_json::from_value::<Distribution>(serde_json::to_value(&many).unwrap())
        };
        assert_eq!(read_with(COUNT_MAX - 2).unwrap().count(), COUNT_MAX);
        assert!(read_with(COUNT_MAX - 1).unwrap_err().to_string().contains("more values than can be counted"));
    }

    #[test]
    fn figures_that_the_histograms_contradict_are_refused() {
        let changed = |good: &serde_json::Value, field: &str, value: serde_json::Value| {
            let mut bad = good.clone();
            bad[field] = value;
            serde_json::from_value::<Distribution>(bad).map_err(|error| error.to_string())
        };
        let good = serde_json::to_value(of((-20_000..1_000).step_by(7))).unwrap();
        for (field, value) in [
            ("count", 4),
            ("min", 9),
            ("min", i64::MIN),
            ("min", -20_050),
            ("min", -19_000),
            ("max", i64::MAX),
            ("max", 1_024),
            ("max", 500),
            ("mean", i64::MAX),
            ("mean", -9_400),
            ("mean", -9_600),
            ("p50", 0),
            ("p50", -9_400),
            ("p99", 999),
            ("p99_9", -1),
        ] {
            let error = changed(&good, field, value.into()).expect_err(&format!("{field} is not {value}"));
            assert!(error.starts_with(field) || field == "count", "{error}");
        }
        assert!(changed(&good, "name", 1.into()).is_ok());
        let nothing = serde_json::to_value(of([])).unwrap();
        for field in ["mean", "p50", "p99", "p99_9"] {
            assert!(changed(&nothing, field, 0.into()).is_err(), "{field} of nothing");
        }
        let zero = serde_json::to_value(of([0])).unwrap();
        let negative_zero = changed(&zero, "negative_hdr_v2", zero["hdr_v2"].clone());
        assert!(negative_zero.is_err(), "a zero below zero");
    }

    #[test]
    fn values_beyond_the_last_bucket_fit_it() {
        let ends = [i64::MIN, -5_000_000_000_000, -4_000_000_000_000, 4_000_000_000_000, 4_500_000_000_000, i64::MAX];
        for first in 0..ends.len() {
            for last in first..ends.len() {
                let distribution = of(ends[first..=last].iter().copied());
                let text = serde_json::to_string(&distribution).unwrap();
                let back: Distribution = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
                assert_eq!((back.min(), back.max()), (distribution.min(), distribution.max()));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn file_form_round_trips(values in proptest::collection::vec((proptest::prelude::any::<i64>(), 0_u32..64), 0..200)) {
            let distribution = of(values.into_iter().map(|(value, shift)| value >> shift));
            let json = serde_json::to_string(&distribution).unwrap();
            let back: Distribution = serde_json::from_str(&json).unwrap();
            proptest::prop_assert_eq!(back.min(), distribution.min());
            proptest::prop_assert_eq!(back.max(), distribution.max());
            for q in [0.0, 0.25, 0.5, 0.99, 1.0] {
                proptest::prop_assert_eq!(back.quantile(q), distribution.quantile(q));
            }
        }
    }
}
