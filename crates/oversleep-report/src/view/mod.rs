//! What a report shows, before it is a terminal's or a browser's: a result's sections, tables, lines and pictures' data.
//!
//! Pure functions of a [`ResultFile`](oversleep_record::ResultFile). A section that has no data is not there; a figure
//! that is not known is a dash or a reason, never a zero. Nothing here knows ANSI or HTML, and text from a result is
//! passed on as it is: each renderer makes it safe for its own medium. A new table goes into `sections`, and into the
//! list there in the order shown.

pub mod comparison;
pub mod findings;
pub mod head;
pub mod pictures;
pub mod sections;
pub mod select;
pub mod table;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod words;
