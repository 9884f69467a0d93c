//! Hand-offs to a thread by its handle.

use std::sync::Arc;

use super::Kind;
use crate::unix::handoffs::Park;
use oversleep_system::handoffs::linux::THREAD_PARK;

pub(super) const KINDS: &[Kind] = &[Kind::new(&THREAD_PARK, || Ok(Arc::new(Park::default())))];

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn thread_park_conforms() {
        check(&THREAD_PARK);
    }
}
