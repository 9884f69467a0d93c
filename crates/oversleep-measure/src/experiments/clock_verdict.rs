//! A6: the verdict, worked out from what A1 to A5 measured.

use crate::registry::Experiment;
use oversleep_record::ExperimentId;

pub(super) static A6: Experiment = Experiment {
    id: ExperimentId::A6,
    reads: &[ExperimentId::A1, ExperimentId::A2, ExperimentId::A4],
    title: "the fastest valid clock",
    question: "Which clock is the fastest that is valid here?",
    doc: "No measurement of its own. A clock is valid for timing when it counts elapsed time, said 98 to 102 % of what \
          passed in A2, moved in steps of 1 ms or less, never went back in A4, and won't wrap within an hour. A counter \
          read without a fence may seem to go back across CPUs where its ordered reads never do: it is valid on one \
          thread, and the table says so. Among the valid ones the cheapest of A1 is the answer; those that fail are listed with \
          what they failed.",
    published: &[],
    probes: |_, _| Vec::new(),
};
