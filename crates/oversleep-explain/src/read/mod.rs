//! Reads a result for a conclusion: finds series and facts, and refuses those that don't support one, with a reason
//! that ends in the next step.

mod facts;
mod imported;
mod recording;
mod sampled;
mod select;
mod sound;
pub(crate) mod windows;

use oversleep_record::{Nanos, ResultFile};

pub use facts::is_clock_a_system_call;
pub(crate) use facts::*;
pub use recording::{is_recording, way};
pub(crate) use recording::{lacks_any, not_shown};
pub use sampled::is_sampled;
pub(crate) use select::*;
pub use sound::is_undisturbed;
pub(crate) use sound::{BY_CHANCE, BY_THE_LOAD, UNSEEN, is_sound, quiet_enough, sound, sound_median};

/// The request that most programs make, and that every experiment includes: if only one is shown or judged, it is this one.
pub const COMMON_REQUEST: Nanos = Nanos::from_millis(1);

/// The fewest readings from which the length of a clock's step is known.
pub(crate) const STEPS_MIN: u64 = 5;

/// A reason with the next step that fits how a result was taken.
pub fn next_step(file: &ResultFile, reason: &str) -> String {
    match () {
        () if is_sampled(file) => sampled::next_step(reason),
        () if file.imported.is_some() => imported::next_step(reason),
        () if is_recording(file) => recording::next_step(file, reason),
        () => sound::without_others(file, reason),
    }
}

/// Whether it has `wanted`, in lower case, as whole words; the plural counts as well.
pub fn mentions(text: &str, wanted: &str) -> bool {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let text = text.to_lowercase();
    wanted.chars().any(is_of_word)
        && text.match_indices(wanted).any(|(at, found)| {
            let before = text[..at].chars().next_back();
            let rest = &text[at + found.len()..];
            let after = rest.strip_prefix('s').unwrap_or(rest).chars().next();
            !before.is_some_and(is_of_word) && !after.is_some_and(is_of_word)
        })
}
