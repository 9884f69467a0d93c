//! Runs of consecutive samples.

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::column::Column;

/// Runs of consecutive samples: first index and length of each. They are stored as distances from one run to the next,
/// in about two bytes instead of 16: where waits overrun their period, a run begins at every second sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// The distance from the end of the run before, and the length, of each run but the last.
    coded: Column,
    /// The end of the last of them.
    end: u64,
    /// The last run, which may still grow.
    last: Option<[u64; 2]>,
}

impl Runs {
    /// Adds a run.
    pub fn push(&mut self, run: [u64; 2]) {
        if let Some([first, length]) = self.last.replace(run) {
            self.coded.push(first.wrapping_sub(self.end) as i64);
            self.coded.push(length as i64);
            self.end = first.wrapping_add(length);
        }
    }

    /// Adds one sample: to the last run if the sample follows it, otherwise as a new one.
    pub fn push_sample(&mut self, index: u64) {
        match &mut self.last {
            Some([first, length]) if *first + *length == index => *length += 1,
            _ => self.push([index, 1]),
        }
    }

    /// Whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Iterates over the runs.
    pub fn iter(&self) -> impl Iterator<Item = [u64; 2]> + '_ {
        let (mut coded, mut end) = (self.coded.iter(), 0_u64);
        let run = move || {
            let (distance, length) = (coded.next()? as u64, coded.next()? as u64);
            let first = end.wrapping_add(distance);
            end = first.wrapping_add(length);
            Some([first, length])
        };
        std::iter::from_fn(run).chain(self.last)
    }

    /// Gives back unused room.
    pub fn shrink(&mut self) {
        self.coded.shrink();
    }
}

impl FromIterator<[u64; 2]> for Runs {
    fn from_iter<I: IntoIterator<Item = [u64; 2]>>(all: I) -> Runs {
        let mut runs = Runs::default();
        all.into_iter().for_each(|run| runs.push(run));
        runs
    }
}

impl<const N: usize> PartialEq<[[u64; 2]; N]> for Runs {
    fn eq(&self, other: &[[u64; 2]; N]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

impl Serialize for Runs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Runs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Runs, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Runs;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of pairs of whole numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Runs, A::Error> {
                let mut runs = Runs::default();
                while let Some(run) = list.next_element()? {
                    runs.push(run);
                }
                runs.shrink();
                Ok(runs)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn runs_come_back(all in proptest::collection::vec(proptest::prelude::any::<[u64; 2]>(), 0..20)) {
            let runs: Runs = all.iter().copied().collect();
            proptest::prop_assert!(runs.iter().eq(all.iter().copied()) && runs.is_empty() == all.is_empty());
            let text = serde_json::to_string(&runs).unwrap();
            proptest::prop_assert_eq!(&text, &serde_json::to_string(&all).unwrap());
            proptest::prop_assert_eq!(serde_json::from_str::<Runs>(&text).unwrap(), runs);
        }
    }

    #[test]
    fn every_second_sample_takes_two_bytes() {
        let mut runs = Runs::default();
        (0..1_000).for_each(|index| runs.push_sample(index * 2));
        runs.shrink();
        assert!(runs.coded.capacity() < 2_100, "{}", runs.coded.capacity());
        runs.push_sample(1_999);
        assert_eq!(runs.iter().last(), Some([1_998, 2]));
    }
}
