//! Estimates the memory that a file's contents take once they are read. It rather overestimates.

use crate::column::coded_length;

/// Keys whose contents are not stored as they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Known {
    Schema,
    Series,
    Samples,
    Column,
    MissedRuns,
    #[default]
    Other,
}

impl Known {
    pub fn of(key: &[u8]) -> Known {
        match key {
            b"schema" => Known::Schema,
            b"series" => Known::Series,
            b"samples" => Known::Samples,
            b"start_ns" | b"value" => Known::Column,
            b"missed_runs" => Known::MissedRuns,
            _ => Known::Other,
        }
    }
}

/// An object. A round consists of two, and takes 400 bytes.
const OBJECT: u64 = 200;
const LIST: u64 = 32;
const TEXT: u64 = 40;
/// Numbers and words in a list whose type the parser has to determine first.
const ITEM: u64 = 32;
const FIELD: u64 = 8;
/// An entry of a map.
const ENTRY: u64 = 120;
/// Objects with more keys are maps, not structures.
const FIELDS_MAX: usize = 40;

/// Adds up the estimate.
#[derive(Debug, Default)]
pub(super) struct Meter {
    taken: u64,
    is_negative: bool,
    magnitude: u64,
    /// The previous number in a column.
    last: i64,
    /// Characters of text so far, and of the longest text, which the parser holds a second time.
    letters: u64,
    longest: u64,
}

impl Meter {
    /// Bytes so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    pub fn container(&mut self, is_object: bool, place: Known) {
        self.last = 0;
        self.taken += match (is_object, place) {
            (true, _) => OBJECT,
            (false, Known::MissedRuns) => 0,
            (false, _) => LIST,
        };
    }

    pub fn text(&mut self, is_in_list: bool) {
        self.taken += TEXT + if is_in_list { ITEM } else { 0 };
    }

    pub fn text_begins(&mut self) {
        self.letters = 0;
    }

    pub fn letters(&mut self, count: u64) {
        let before = self.letters.max(self.longest);
        self.letters += count;
        self.taken += count + self.letters.saturating_sub(before);
        self.longest = self.longest.max(self.letters);
    }

    /// Adds the `count`th key of its object.
    pub fn key(&mut self, count: usize, length: usize) {
        // A field's name is counted as text already, but takes no memory.
        self.taken = self.taken.saturating_sub(length as u64);
        if count > FIELDS_MAX {
            self.taken += ENTRY + length as u64;
        }
    }

    pub fn word(&mut self, is_in_list: bool) {
        self.taken += if is_in_list { ITEM } else { FIELD };
    }

    pub fn number(&mut self, first: u8) {
        (self.is_negative, self.magnitude) = (false, 0);
        self.digit(first);
    }

    pub fn digit(&mut self, byte: u8) {
        match byte {
            b'-' => self.is_negative = true,
            b'0'..=b'9' => self.magnitude = self.magnitude.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
            _ => {}
        }
    }

    pub fn number_ends(&mut self, place: Known, is_in_list: bool) {
        self.taken += match place {
            Known::Column | Known::MissedRuns => {
                let magnitude = self.magnitude as i64;
                let number = if self.is_negative { magnitude.wrapping_neg() } else { magnitude };
                let difference = number.wrapping_sub(std::mem::replace(&mut self.last, number));
                coded_length(difference)
            }
            _ if is_in_list => ITEM,
            _ => FIELD,
        };
    }
}
