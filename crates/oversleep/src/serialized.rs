//! An [`Instant`] as data: nanoseconds since the zero of its time line.
//!
//! The number means the same to every process on the machine until it boots again, and nothing elsewhere. To store a
//! point in time for longer, convert it with [`Instant::to_system`].

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Instant;

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.as_nanos())
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(Self::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_its_nanoseconds() {
        let instant = Instant::from_nanos(u64::MAX - 1);
        let text = serde_json::to_string(&instant).unwrap();
        assert_eq!(text, "18446744073709551614");
        assert_eq!(serde_json::from_str::<Instant>(&text).unwrap(), instant);
        assert!(serde_json::from_str::<Instant>("-1").is_err());
    }
}
