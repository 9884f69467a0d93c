//! Whole numbers in the order in which they were added.

use std::cell::Cell;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::distribution::{number, push};

/// The longest encoding of a number.
const NUMBER_BYTES_MAX: usize = 9;

/// The longest column, in bytes, that grows in the shared scratch memory; a longer one keeps its own memory.
const SCRATCH_BYTES_MAX: usize = 4 << 20;

thread_local! {
    /// Scratch memory in which columns grow while they are read. Each is then copied to memory of its exact size, so a
    /// file of many columns leaves no gaps in the heap.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Whole numbers in the order in which they were added. Each is stored as its difference from the previous one in as
/// few bytes as possible: two to four for consecutive samples, instead of eight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    coded: Vec<u8>,
    len: usize,
    last: i64,
}

impl Column {
    /// Adds a number.
    pub fn push(&mut self, value: i64) {
        push(&mut self.coded, value.wrapping_sub(self.last));
        self.last = value;
        self.len += 1;
    }

    /// Reserves room for `count` more numbers of any size. The system provides the memory only when numbers are written to
    /// it.
    pub fn reserve(&mut self, count: usize) {
        self.coded.reserve(count.saturating_mul(NUMBER_BYTES_MAX));
    }

    /// Gives back unused room.
    pub fn shrink(&mut self) {
        self.coded.shrink_to_fit();
    }

    /// The capacity in bytes.
    pub fn capacity(&self) -> usize {
        self.coded.capacity()
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Iterates over the numbers.
    pub fn iter(&self) -> Iter<'_> {
        Iter { coded: &self.coded, left: self.len, last: 0 }
    }
}

/// The number of bytes for a number that differs by this from the previous one.
pub fn coded_length(difference: i64) -> u64 {
    let zig_zag = ((difference << 1) ^ (difference >> 63)) as u64;
    u64::from((u64::BITS - (zig_zag | 1).leading_zeros()).div_ceil(7)).min(NUMBER_BYTES_MAX as u64)
}

/// The numbers of a column.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    coded: &'a [u8],
    left: usize,
    last: i64,
}

impl Iterator for Iter<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let (difference, length) = number(self.coded)?;
        self.coded = &self.coded[length..];
        self.left -= 1;
        self.last = self.last.wrapping_add(difference);
        Some(self.last)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Column {
    type Item = i64;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl FromIterator<i64> for Column {
    fn from_iter<I: IntoIterator<Item = i64>>(values: I) -> Column {
        let mut column = Column::default();
        values.into_iter().for_each(|value| column.push(value));
        column
    }
}

impl PartialEq<Vec<i64>> for Column {
    fn eq(&self, other: &Vec<i64>) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de> Deserialize<'de> for Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Column, D::Error> {
        struct Numbers;
        impl<'de> Visitor<'de> for Numbers {
            type Value = Column;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of whole numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Column, A::Error> {
                let mut column = Column { coded: SCRATCH.take(), ..Column::default() };
                while let Some(value) = numbers.next_element()? {
                    column.push(value);
                }
                if column.coded.len() > SCRATCH_BYTES_MAX {
                    column.shrink();
                } else {
                    let own = column.coded.as_slice().to_vec();
                    let mut scratch = std::mem::replace(&mut column.coded, own);
                    scratch.clear();
                    SCRATCH.set(scratch);
                }
                Ok(column)
            }
        }
        deserializer.deserialize_seq(Numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn numbers_come_back(values in proptest::collection::vec(proptest::prelude::any::<i64>(), 0..20)) {
            let column: Column = values.iter().copied().collect();
            let lengths = values.iter().scan(0_i64, |last, &value| {
                Some(coded_length(value.wrapping_sub(std::mem::replace(last, value))))
            });
            proptest::prop_assert_eq!(lengths.sum::<u64>(), column.coded.len() as u64);
            proptest::prop_assert!(column == values && column.len() == values.len() && column.iter().len() == values.len());
            let text = serde_json::to_string(&column).unwrap();
            proptest::prop_assert_eq!(&text, &serde_json::to_string(&values).unwrap());
            proptest::prop_assert_eq!(serde_json::from_str::<Column>(&text).unwrap(), column);
        }
    }

    #[test]
    fn samples_of_waits_take_less_than_half_of_what_numbers_take() {
        let starts: Column = (0..1_000).map(|sample| 17_000_000_000 + sample * 1_066_113 + sample % 13).collect();
        let values: Column = (0..1_000).map(|sample| 66_000 + sample % 977).collect();
        assert!(starts.coded.len() + values.coded.len() < 7_000, "{} {}", starts.coded.len(), values.coded.len());
    }
}
