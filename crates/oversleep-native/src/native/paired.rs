//! Descriptions paired with what this machine adds to them, by their names.

use oversleep_system::Described;

/// What is added under that name.
pub(crate) fn call_of<F: Copy>(calls: &[&[(&str, F)]], name: &str) -> Option<F> {
    calls.iter().copied().flatten().find(|(known, _)| *known == name).map(|&(_, call)| call)
}

/// The entries of a catalogue, in its order.
pub(crate) fn registry<I: Described, F: Copy, T: ?Sized>(
    described: &'static [I],
    calls: &[&[(&str, F)]],
    entry: impl Fn(&'static I, F) -> Box<T>,
) -> Vec<Box<T>> {
    described.iter().filter_map(|info| Some(entry(info, call_of(calls, info.name())?))).collect()
}
