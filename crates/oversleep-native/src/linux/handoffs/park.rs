//! Hand-offs to a thread by its handle.

use std::sync::Arc;

use super::Call;
use crate::unix::handoffs::Park;

pub(super) const CALLS: &[Call] = &[("thread-park", || Ok(Arc::new(Park::default())))];

#[cfg(test)]
mod tests {
    use super::super::conformance::check;

    #[test]
    fn thread_park_conforms() {
        check("thread-park");
    }
}
