//! Compares results one at a time, so that no two of them are in memory as a whole.

use oversleep_explain::compare::{Comparing, reduce};
use oversleep_record::ResultFile;
use oversleep_record::comparison::Comparison;

use super::Sketch;
use crate::view::head;

/// Adds results to a comparison, the base first.
#[derive(Default)]
pub struct Adding {
    comparing: Option<Comparing>,
    sketches: Vec<Sketch>,
}

impl Adding {
    /// An empty comparison.
    pub fn new() -> Adding {
        Adding::default()
    }

    /// The index of the next result: the base is 0.
    pub fn place(&self) -> u32 {
        u32::try_from(self.sketches.len()).unwrap_or(u32::MAX)
    }

    /// Adds a result without the data that a comparison doesn't use, and the sketch of the whole one.
    pub fn add(&mut self, reduced: ResultFile, sketch: Sketch) {
        self.sketches.push(sketch);
        match &mut self.comparing {
            Some(comparing) => comparing.add(&reduced),
            None => self.comparing = Some(Comparing::with(reduced, head::machine)),
        }
    }

    /// Adds a whole result with its pictures.
    pub fn add_whole(&mut self, mut result: ResultFile) {
        let place = self.place();
        // Pictures need the raw samples.
        let pictures = Sketch::pictures(place, &result);
        result.series.iter_mut().for_each(reduce);
        let sketch = Sketch::of(place, &result).with_pictures(pictures);
        self.add(result, sketch);
    }

    /// The comparison, and a sketch of each result; `None` without results.
    pub fn finish(self) -> Option<(Comparison, Vec<Sketch>)> {
        Some((self.comparing?.finish(), self.sketches))
    }
}
