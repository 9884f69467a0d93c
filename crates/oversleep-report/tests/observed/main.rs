//! What is said of observed programs: reports, findings and comparisons, of results that streams of events became.

mod compared;
mod extremes;
mod found;
mod read;
mod support;
mod verdict;
