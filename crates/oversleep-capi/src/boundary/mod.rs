//! The boundary to foreign callers: contains panics and checks pointers, whatever the library does.

pub(crate) mod handle;
pub(crate) mod local;
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

/// Puts an answer into a place that may be null, if the caller doesn't need it.
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

/// Writes a structure that may grow to the caller's place, which may not be null.
///
/// # Safety
///
/// As for [`Place::growing`].
pub(crate) unsafe fn fill<T: Growing>(place: *mut T, answer: impl FnOnce() -> Result<T, Status>) -> Status {
    status(|| {
        // SAFETY: the caller's promise.
        let (place, size) = unsafe { Place::growing(place)? };
        place.put_growing(size, answer()?);
        Ok(Status::Ok)
    })
}

/// Puts an answer into a growing place that may be null, if the caller doesn't need it.
///
/// # Safety
///
/// As for [`Place::growing`].
pub(crate) unsafe fn fill_if_wanted<T: Growing>(place: *mut T, answer: impl FnOnce() -> Result<T, Status>) -> Status {
    if place.is_null() {
        return status(|| answer().map(|_| Status::Ok));
    }
    // SAFETY: the caller's promise.
    unsafe { fill(place, answer) }
}

/// A structure whose later versions have more members at the end. Its first member is its size as the caller's header
/// states it, so that the library writes and reads no more than the caller has.
///
/// # Safety
///
/// It is `repr(C)` plain data without padding, and its first member is `size: usize`.
pub(crate) unsafe trait Growing: Copy {
    /// Its size in the first version.
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// Makes a structure growing.
macro_rules! growing {
    ($name:ident) => {
        // SAFETY: plain data in the order of C, and the size comes first.
        unsafe impl $crate::boundary::Growing for $name {}
        const _: () = assert!(std::mem::offset_of!($name, size) == 0);
    };
}
pub(crate) use growing;

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

    /// Checks a pointer to a structure that may grow, and its size. A caller with a later header gets what this version
    /// has; the rest of its structure stays as it is.
    ///
    /// # Safety
    ///
    /// Unless it is null or misaligned, its size can be read, and that many bytes are writable until this is dropped.
    pub(crate) unsafe fn growing(place: *mut T) -> Result<(Self, usize), Status>
    where
        T: Growing,
    {
        // SAFETY: the same guarantee.
        let place = unsafe { Self::required(place)? };
        // SAFETY: the first member is the size, and the caller has set it.
        let size = unsafe { place.0.cast::<usize>().read() };
        if size < T::FIRST_SIZE { Err(Status::InvalidArgument) } else { Ok((place, size)) }
    }

    /// Writes as much of the answer as the caller's structure has, except its size.
    pub(crate) fn put_growing(&self, size: usize, answer: T) {
        let (from, to) = ((&raw const answer).cast::<u8>(), self.0.cast::<u8>());
        let (skip, length) = (size_of::<usize>(), size.min(size_of::<T>()));
        // SAFETY: the caller's structure has `size` writable bytes, and the answer `size_of::<T>()`. They don't overlap.
        unsafe { to.add(skip).copy_from_nonoverlapping(from.add(skip), length - skip) }
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
