//! Delivers results: to standard output, to files that are replaced as a whole, and to a safe place if neither works.
//! Destinations are checked before anything is measured, and a result is kept whatever happens to them.

use std::io::{self, Write};

mod delivery;
pub mod file;
mod pictures;
pub mod place;
pub mod rescue;
pub mod stdout;
pub mod unfinished;

pub use delivery::{Delivery, Stem, show, stem};

/// Writes a document piece by piece, because a result may be much longer than the available memory. May be called
/// repeatedly.
pub type Contents<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;
