//! What a running program has reported so far, and what a series keeps of that besides values.

use oversleep_record::{Nanos, Series, label};

use crate::instrument::Stamps;

/// What a process has reported so far.
#[derive(Default)]
pub struct Session {
    /// Its clock at hello, and when hello arrived.
    pub hello: Option<(i64, Nanos)>,
    /// Moments by its clock, and when they arrived.
    pub pairs: Vec<(i64, Nanos)>,
    /// Its timestamps.
    pub stamps: Stamps,
    /// How many steps it has reported.
    pub done: usize,
}

impl Session {
    /// What grows with each record that the program was asked for.
    pub fn progress(&self) -> (bool, usize) {
        (self.hello.is_some(), self.done)
    }

    /// The offset from the probe's clock to this run's clock.
    pub fn offset(&self) -> Nanos {
        self.hello.map_or(Nanos::ZERO, |(now, arrived)| arrived - Nanos(now))
    }
}

/// Adds the CPU time of a step.
pub fn add_cpu(series: &mut Series, cpu: Option<i64>) {
    if let Some(cpu) = cpu.filter(|&cpu| cpu >= 0) {
        series.labels.set(label::CPU, series.label(label::CPU).unwrap_or_default() + Nanos(cpu));
    }
}
