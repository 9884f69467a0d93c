//! Series that are reduced as soon as they are read, so that the whole of only one is in memory.

use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{SeqAccess, Visitor};

use crate::series::Series;

thread_local! {
    /// The reduction for each series that is read.
    static REDUCE: Cell<Option<fn(&mut Series)>> = const { Cell::new(None) };
}

/// Applies `reduce` to each series that `read` reads.
pub(super) fn reading<T>(reduce: fn(&mut Series), read: impl FnOnce() -> T) -> T {
    let before = REDUCE.replace(Some(reduce));
    let read = read();
    REDUCE.set(before);
    read
}

/// Reads a list of series.
pub(super) fn each<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Series>, D::Error> {
    struct List;
    impl<'de> Visitor<'de> for List {
        type Value = Vec<Series>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sequence")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Series>, A::Error> {
            let mut all = Vec::new();
            while let Some(mut series) = list.next_element::<Series>()? {
                series.set_beyond(series.beyond);
                REDUCE.get().into_iter().for_each(|reduce| reduce(&mut series));
                all.push(series);
            }
            Ok(all)
        }
    }
    deserializer.deserialize_seq(List)
}
