//! The value behind an opaque handle, which has one user at a time.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Place;
use crate::status::Status;

/// A value behind a handle. A concurrent second call, from another thread or a signal handler, is refused.
pub(crate) struct Handle<T> {
    in_use: AtomicBool,
    value: UnsafeCell<T>,
}

/// Ends the use of a handle, even while a panic unwinds.
struct Claim<'a>(&'a AtomicBool);

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<T> Handle<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { in_use: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    fn claim(&self) -> Result<Claim<'_>, Status> {
        match self.in_use.swap(true, Ordering::Acquire) {
            true => Err(Status::InUse),
            false => Ok(Claim(&self.in_use)),
        }
    }

    /// Uses the value, unless it is in use.
    pub(crate) fn with<R>(&self, body: impl FnOnce(&mut T) -> Result<R, Status>) -> Result<R, Status> {
        let _claim = self.claim()?;
        // SAFETY: this is the only claim, and it lasts until the body has ended.
        body(unsafe { &mut *self.value.get() })
    }
}

/// A type of which foreign callers get pointers; they know its name but not its contents.
pub(crate) trait Opaque: Sized {
    type Value;

    fn wrap(value: Handle<Self::Value>) -> Self;

    fn handle(&self) -> &Handle<Self::Value>;
}

/// Makes a type of a handle opaque.
macro_rules! opaque {
    ($name:ident: $value:ty) => {
        impl $crate::boundary::handle::Opaque for $name {
            type Value = $value;

            fn wrap(value: Handle<$value>) -> Self {
                Self(value)
            }

            fn handle(&self) -> &Handle<$value> {
                &self.0
            }
        }
    };
}
pub(crate) use opaque;

/// Creates the value and writes its handle, or null if that fails.
///
/// # Safety
///
/// As for [`Place::required`].
pub(crate) unsafe fn create<H: Opaque>(place: *mut *mut H, value: impl FnOnce() -> Result<H::Value, Status>) -> Status {
    super::status(|| {
        // SAFETY: the caller's promise.
        let place = unsafe { Place::required(place)? };
        place.put(std::ptr::null_mut());
        let handle = Box::new(H::wrap(Handle::new(value()?)));
        place.put(Box::into_raw(handle));
        Ok(Status::Ok)
    })
}

/// Uses the value behind a handle.
///
/// # Safety
///
/// `handle` is null, or comes from [`create`] and isn't freed before this ends.
pub(crate) unsafe fn with<H: Opaque, R>(
    handle: *const H,
    body: impl FnOnce(&mut H::Value) -> Result<R, Status>,
) -> Result<R, Status> {
    // SAFETY: `check` refuses null, and otherwise the caller guarantees that it is alive.
    let handle = unsafe { &*check(handle)? };
    handle.handle().with(body)
}

/// Changes the value behind a handle.
///
/// # Safety
///
/// As for [`with`].
pub(crate) unsafe fn change<H: Opaque>(
    handle: *mut H,
    body: impl FnOnce(&mut H::Value) -> Result<(), Status>,
) -> Status {
    // SAFETY: the caller's promise.
    super::status(|| unsafe { with(handle, body) }.map(|()| Status::Ok))
}

/// Frees a handle, unless it is in use or `may` refuses. Null is allowed.
///
/// # Safety
///
/// As for [`with`]; unless this returns an error, the handle is freed.
pub(crate) unsafe fn free<H: Opaque>(handle: *mut H, may: impl FnOnce(&mut H::Value) -> Result<(), Status>) -> Status {
    super::status(|| {
        if !handle.is_null() {
            // SAFETY: the caller's promise.
            unsafe { with(handle.cast_const(), may)? };
            // SAFETY: from `Box::into_raw` in `create`; the caller guarantees that nobody uses it any more.
            drop(unsafe { Box::from_raw(handle) });
        }
        Ok(Status::Ok)
    })
}

/// Refuses null and misaligned pointers.
pub(crate) fn check<H>(handle: *const H) -> Result<*const H, Status> {
    if handle.is_null() {
        return Err(Status::NullPointer);
    }
    if !handle.is_aligned() {
        return Err(Status::InvalidArgument);
    }
    Ok(handle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_user_at_a_time() {
        let handle = Handle::new(5);
        let nested = handle.with(|value| {
            *value += 1;
            handle.with(|_| Ok(()))
        });
        assert_eq!(nested, Err(Status::InUse));
        assert_eq!(handle.with(|value| Ok(*value)), Ok(6));
    }

    #[test]
    fn a_panic_ends_the_use() {
        let handle = Handle::new(5);
        let status = super::super::status(|| {
            handle.with(|value| {
                *value = 7;
                std::panic::resume_unwind(Box::new(()))
            })
        });
        assert_eq!(status, Status::Panicked);
        assert_eq!(handle.with(|value| Ok(*value)), Ok(7));
    }
}
