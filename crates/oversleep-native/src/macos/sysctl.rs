//! The kernel's values by name: `sysctlbyname`.

use std::ffi::CString;
use std::io;

use oversleep_record::Unavailable;

/// The raw value of a name. A name that this system lacks is missing.
fn bytes(name: &str) -> Result<Vec<u8>, Unavailable> {
    let missing = || Unavailable::missing(format!("sysctl {name}"));
    let Ok(terminated) = CString::new(name) else { return Err(missing()) };
    let reason = |error: io::Error| match error.raw_os_error() {
        Some(libc::ENOENT) => missing(),
        Some(libc::EPERM | libc::EACCES) => {
            Unavailable::not_permitted(format!("sysctl {name}"), "allow it in the process's sandbox profile")
        }
        _ => Unavailable::failed(format!("sysctlbyname({name})"), error),
    };
    let null = std::ptr::null_mut();
    let mut length = 0;
    // SAFETY: without a buffer the call only stores the length.
    // https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/sysctl.3.html
    if unsafe { libc::sysctlbyname(terminated.as_ptr(), null, &raw mut length, null, 0) } != 0 {
        return Err(reason(io::Error::last_os_error()));
    }
    let mut value = vec![0_u8; length];
    // SAFETY: there is room for as many bytes as `length` says; nothing is written to the kernel.
    if unsafe { libc::sysctlbyname(terminated.as_ptr(), value.as_mut_ptr().cast(), &raw mut length, null, 0) } != 0 {
        return Err(reason(io::Error::last_os_error()));
    }
    value.truncate(length);
    Ok(value)
}

/// Reads a number of four or eight bytes.
///
/// # Errors
/// The reason if it isn't readable.
pub fn integer(name: &str) -> Result<i64, Unavailable> {
    let value = bytes(name)?;
    number(&value).ok_or_else(|| Unavailable::Nonsense { what: format!("sysctl {name} of {} bytes", value.len()) })
}

fn number(value: &[u8]) -> Option<i64> {
    match value.len() {
        4 => Some(i64::from(i32::from_ne_bytes(value.try_into().ok()?))),
        8 => Some(i64::from_ne_bytes(value.try_into().ok()?)),
        _ => None,
    }
}

/// A text without its terminator.
///
/// # Errors
/// The reason if it isn't readable.
pub fn text(name: &str) -> Result<String, Unavailable> {
    let value = bytes(name)?;
    let text = String::from_utf8_lossy(&value).trim_end_matches('\0').trim().to_owned();
    if text.is_empty() { Err(Unavailable::Nonsense { what: format!("sysctl {name} is empty") }) } else { Ok(text) }
}

/// A number that means yes or no. A name that this system lacks means no.
///
/// # Errors
/// The reason if it isn't readable.
pub fn flag_or_no(name: &str) -> Result<bool, Unavailable> {
    match integer(name) {
        Ok(number) => Ok(number != 0),
        Err(Unavailable::Missing { .. }) => Ok(false),
        Err(why) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_both_widths() {
        assert_eq!(number(&7_i32.to_ne_bytes()), Some(7));
        assert_eq!(number(&(-7_i32).to_ne_bytes()), Some(-7));
        assert_eq!(number(&(1_i64 << 40).to_ne_bytes()), Some(1 << 40));
        assert_eq!(number(&[1, 2, 3]), None);
    }

    #[test]
    fn a_name_is_read_or_missing() {
        assert!(integer("hw.logicalcpu").expect("every Mac") >= 1);
        assert!(text("kern.osrelease").expect("every Mac").starts_with(|c: char| c.is_ascii_digit()));
        assert_eq!(integer("kern.oversleep"), Err(Unavailable::missing("sysctl kern.oversleep")));
        assert_eq!(flag_or_no("kern.oversleep"), Ok(false));
    }
}
