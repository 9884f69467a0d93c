//! The contents of a report, independent of terminal and browser: the sections, tables, sentences and pictures of a
//! result.
//!
//! Pure functions of a [`ResultFile`](oversleep_record::ResultFile). A section without data is left out; an unknown
//! figure is a dash or a reason, never a zero. Nothing here knows ANSI or HTML, and text from a result is passed on as
//! it is: each renderer makes it safe for its own medium.

pub mod bars;
pub mod comparison;
pub mod findings;
pub mod fleet;
pub mod gallery;
pub mod head;
pub mod headlines;
pub mod intervals;
mod limits;
pub mod loops;
pub mod observed;
pub mod overview;
pub mod pictures;
pub mod sections;
pub mod select;
pub mod sheet;
pub mod table;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod timers;
pub mod verdict;
pub mod wakes;
