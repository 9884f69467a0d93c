//! The boundary to foreign callers: contains panics and checks pointers, whatever the library does.

pub(crate) mod handle;
pub(crate) mod text;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::Status;

/// Runs the body of a function that returns a status.
pub(crate) fn status(body: impl FnOnce() -> Result<Status, Status>) -> Status {
    or(Status::Panicked, || body().unwrap_or_else(|misuse| misuse))
}

/// Runs the body of a function, or returns `failed` if it panics.
#[inline]
pub(crate) fn or<T>(failed: T, body: impl FnOnce() -> T) -> T {
    let body = || {
        #[cfg(test)]
        forced::panic_if_asked();
        body()
    };
    // Unwind safety: bodies change only plain data, which is valid after every step.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(answer) => answer,
        Err(payload) => {
            // Dropping it could panic again.
            std::mem::forget(payload);
            failed
        }
    }
}

/// Writes the answer of a function to the caller's place, which may not be null.
///
/// # Safety
///
/// As for [`Place::required`].
pub(crate) unsafe fn write<T>(place: *mut T, answer: impl FnOnce() -> Result<T, Status>) -> Status {
    status(|| {
        // SAFETY: the caller's promise.
        let place = unsafe { Place::required(place)? };
        place.put(answer()?);
        Ok(Status::Ok)
    })
}

/// The same for a place that may be null, if the caller doesn't need the answer.
///
/// # Safety
///
/// As for [`Place::required`].
pub(crate) unsafe fn write_if_wanted<T>(place: *mut T, answer: impl FnOnce() -> Result<T, Status>) -> Status {
    status(|| {
        // SAFETY: the caller's promise.
        let place = unsafe { Place::optional(place)? };
        let answer = answer()?;
        if let Some(place) = place {
            place.put(answer);
        }
        Ok(Status::Ok)
    })
}

/// The caller's place for a result.
pub(crate) struct Place<T>(*mut T);

impl<T> Place<T> {
    /// Checks a pointer that may not be null.
    ///
    /// # Safety
    ///
    /// Unless it is null or misaligned, `place` is writable until this is dropped.
    pub(crate) unsafe fn required(place: *mut T) -> Result<Self, Status> {
        if place.is_null() {
            return Err(Status::NullPointer);
        }
        if !place.is_aligned() {
            return Err(Status::InvalidArgument);
        }
        Ok(Self(place))
    }

    /// Checks a pointer that may be null, if the caller doesn't need the result.
    ///
    /// # Safety
    ///
    /// As for [`Place::required`].
    pub(crate) unsafe fn optional(place: *mut T) -> Result<Option<Self>, Status> {
        if place.is_null() {
            return Ok(None);
        }
        // SAFETY: the same guarantee.
        unsafe { Self::required(place) }.map(Some)
    }

    pub(crate) fn put(&self, answer: T) {
        // SAFETY: not null, aligned, and writable as `required` demands. The old content may be uninitialized and isn't
        // dropped: only plain data is written to foreign places.
        unsafe { self.0.write(answer) }
    }
}

/// Panics on demand, in the one place that every function of the interface passes through.
#[cfg(test)]
pub(crate) mod forced {
    use std::cell::Cell;

    thread_local! {
        static ASKED: Cell<bool> = const { Cell::new(false) };
    }

    /// The payload of a forced panic. Its drop panics too, which must not cross the boundary either.
    struct Payload;

    impl Drop for Payload {
        fn drop(&mut self) {
            panic!("a payload was dropped");
        }
    }

    pub(crate) fn panic_if_asked() {
        if ASKED.get() {
            std::panic::resume_unwind(Box::new(Payload));
        }
    }

    /// Runs `calls`, in which every call into the interface by this thread panics inside the boundary.
    pub(crate) fn while_panicking<R>(calls: impl FnOnce() -> R) -> R {
        ASKED.set(true);
        let answer = calls();
        ASKED.set(false);
        answer
    }
}
