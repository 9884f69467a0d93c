//! Results of version 2. Version 3 added what was observed of programs, the tails of rounds, values beyond a histogram and
//! the origin of imported results; all of these are absent here.

use super::ResultFile;

/// The schema of version 2.
pub const SCHEMA: &str = "oversleep-result/2";

/// Converts a result of version 2 to the current form.
pub fn bring_up_to_date(file: &mut ResultFile) {
    file.schema = super::SCHEMA.to_owned();
}
