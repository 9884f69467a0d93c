//! Text for foreign callers: copied into their buffers, always NUL-terminated, never cut inside a character.

use std::ffi::c_char;

use super::Place;
use crate::status::Status;

/// Writes the text that a function returns to the caller's buffer, which is emptied first.
///
/// # Safety
///
/// As for [`Buffer::new`].
pub(crate) unsafe fn write<T: AsRef<str>>(
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
    answer: impl FnOnce() -> Result<T, Status>,
) -> Status {
    super::status(|| {
        // SAFETY: the caller's promise.
        let buffer = unsafe { Buffer::new(text, capacity, length)? };
        Ok(buffer.put(answer()?.as_ref()))
    })
}

/// The caller's buffer.
struct Buffer {
    text: *mut u8,
    capacity: usize,
    length: Option<Place<usize>>,
}

impl Buffer {
    /// Checks a buffer and empties it.
    ///
    /// # Safety
    ///
    /// Unless it is null, `text` has `capacity` writable bytes; `length` is as for [`Place::optional`].
    unsafe fn new(text: *mut c_char, capacity: usize, length: *mut usize) -> Result<Self, Status> {
        if text.is_null() && capacity > 0 {
            return Err(Status::NullPointer);
        }
        // SAFETY: the caller's guarantee.
        let length = unsafe { Place::optional(length)? };
        let buffer = Self { text: text.cast(), capacity, length };
        buffer.put("");
        Ok(buffer)
    }

    /// Writes the text, or as much of it as fits.
    fn put(&self, text: &str) -> Status {
        if let Some(length) = &self.length {
            length.put(text.len());
        }
        let Some(room) = self.capacity.checked_sub(1) else { return Status::Truncated };
        let mut fitting = text.len().min(room);
        while !text.is_char_boundary(fitting) {
            fitting -= 1;
        }
        // SAFETY: `fitting` and a NUL are at most `capacity` bytes, which are writable as `new` demands. The caller's
        // buffer can't overlap with our string.
        unsafe {
            self.text.copy_from_nonoverlapping(text.as_ptr(), fitting);
            self.text.add(fitting).write(0);
        }
        if fitting == text.len() { Status::Ok } else { Status::Truncated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts `text` into a buffer of `capacity` bytes, followed by a guard byte that must survive.
    fn put(text: &str, capacity: usize) -> (Status, Vec<u8>, usize) {
        let mut bytes = vec![b'#'; capacity + 1];
        let mut length = usize::MAX;
        // SAFETY: the vector has that many bytes and one more.
        let buffer = unsafe { Buffer::new(bytes.as_mut_ptr().cast(), capacity, &raw mut length) }.unwrap();
        let status = buffer.put(text);
        assert_eq!(bytes.pop(), Some(b'#'));
        (status, bytes, length)
    }

    #[test]
    fn text_is_terminated_and_cut_between_characters() {
        assert_eq!(put("tsc", 4), (Status::Ok, b"tsc\0".to_vec(), 3));
        assert_eq!(put("tsc", 3), (Status::Truncated, b"ts\0".to_vec(), 3));
        assert_eq!(put("aµs", 3), (Status::Truncated, b"a\0#".to_vec(), 4));
        assert_eq!(put("tsc", 1), (Status::Truncated, b"\0".to_vec(), 3));
        assert_eq!(put("tsc", 0), (Status::Truncated, vec![], 3));
    }

    #[test]
    fn a_null_buffer_needs_a_capacity_of_zero() {
        // SAFETY: null pointers are allowed.
        let (none, some) = unsafe {
            let null = std::ptr::null_mut();
            (Buffer::new(null, 0, std::ptr::null_mut()), Buffer::new(null, 1, std::ptr::null_mut()))
        };
        assert_eq!(none.unwrap().put("tsc"), Status::Truncated);
        assert_eq!(some.err(), Some(Status::NullPointer));
    }
}
