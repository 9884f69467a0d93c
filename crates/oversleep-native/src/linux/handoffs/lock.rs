//! Hand-offs through memory and the futex beneath it.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use oversleep_record::Unavailable;
use oversleep_system::Handoff;

use super::{Call, interrupted, last_error, take};
use crate::linux::waits::futex::{self, Until};
use crate::unix::handoffs::Condition;

pub(super) const CALLS: &[Call] = &[
    ("futex", || Ok(Arc::new(Futex(AtomicU32::new(0))))),
    ("condvar", || Ok(Arc::new(Condition::default()))),
    ("semaphore", Semaphore::open),
];

struct Futex(AtomicU32);

impl Handoff for Futex {
    fn post(&self) {
        self.0.fetch_add(1, Ordering::Release);
        futex::wake_one(&self.0);
    }

    fn wait(&self) {
        while !take(&self.0) {
            // The count decides, whatever ended the wait.
            let _ = futex::wait(&self.0, 0, Until::Woken);
        }
    }
}

/// Initialised in place: a semaphore must not move, and an `Arc`'s contents don't.
struct Semaphore(UnsafeCell<MaybeUninit<libc::sem_t>>);

// SAFETY: a semaphore is made for use by several threads; ours is only touched through the library's calls.
unsafe impl Send for Semaphore {}
// SAFETY: as above.
unsafe impl Sync for Semaphore {}

impl Semaphore {
    fn open() -> Result<Arc<dyn Handoff>, Unavailable> {
        let semaphore = Arc::new(Semaphore(UnsafeCell::new(MaybeUninit::zeroed())));
        // SAFETY: its place is valid and final, and nobody uses it yet. Where it fails, dropping destroys an all-zero
        // semaphore, which frees nothing. https://man7.org/linux/man-pages/man3/sem_init.3.html
        if unsafe { libc::sem_init(semaphore.get(), 0, 0) } != 0 {
            return Err(Unavailable::failed("sem_init", last_error()));
        }
        Ok(semaphore)
    }

    fn get(&self) -> *mut libc::sem_t {
        self.0.get().cast()
    }
}

impl Handoff for Semaphore {
    fn post(&self) {
        // SAFETY: initialised, at its final address. https://man7.org/linux/man-pages/man3/sem_post.3.html
        let posted = unsafe { libc::sem_post(self.get()) };
        assert!(posted == 0, "sem_post: {}", last_error());
    }

    fn wait(&self) {
        // SAFETY: initialised, at its final address. https://man7.org/linux/man-pages/man3/sem_wait.3.html
        while unsafe { libc::sem_wait(self.get()) } != 0 && interrupted("sem_wait") {}
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: the last reference, so nobody waits on it or will. https://man7.org/linux/man-pages/man3/sem_destroy.3.html
        unsafe { libc::sem_destroy(self.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::check;

    #[test]
    fn futex_conforms() {
        check("futex");
    }

    #[test]
    fn condvar_conforms() {
        check("condvar");
    }

    #[test]
    fn semaphore_conforms() {
        check("semaphore");
    }
}
