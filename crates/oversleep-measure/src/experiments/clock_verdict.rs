//! A6: the verdict, derived from the results of A1 to A5.

use oversleep_record::ExperimentId;

use crate::experiment::{Command, Experiment};

pub(super) static A6: Experiment = Experiment {
    id: ExperimentId::A6,
    title: "the fastest valid clock",
    question: "Which is the fastest clock that is valid here?",
    method: "This experiment uses the results of A1, A2 and A4. A clock is valid for timing if it counts elapsed time, \
             showed 98 to 102 % of what passed in A2, moved in steps of 1 ms or less, never went back in A4, and won't \
             wrap within an hour. A counter read without a fence may seem to go back across CPUs even though its \
             ordered reads never do: it is valid on one thread, and the table says so. The answer is the valid clock that is \
             cheapest in A1; each of the others is listed with the condition it failed.",
    reads: &[ExperimentId::A1, ExperimentId::A2, ExperimentId::A4],
    commands: &[Command::Clocks],
    ..Experiment::BLANK
};
