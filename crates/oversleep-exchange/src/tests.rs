//! What no format claims. `tests/samples.rs` has the files of each.
