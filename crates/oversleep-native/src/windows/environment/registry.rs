//! Values of the system's registry.

use oversleep_record::Unavailable;
use windows_sys::Win32::Foundation::{ERROR_FILE_NOT_FOUND, ERROR_SUCCESS};
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_DWORD, RRF_RT_REG_SZ, RegGetValueW};

/// Reads a number under `HKEY_LOCAL_MACHINE`; `None` if it isn't set.
pub(super) fn machine_number(key: &str, value: &str) -> Result<Option<u32>, Unavailable> {
    let mut number = [0_u32];
    Ok(read(key, value, RRF_RT_REG_DWORD, &mut number)?.then_some(number[0]))
}

/// Reads a string under `HKEY_LOCAL_MACHINE`; `None` if it isn't set or is empty.
pub(super) fn machine_text(key: &str, value: &str) -> Result<Option<String>, Unavailable> {
    // Longer than any processor's name.
    let mut text = [0_u16; 256];
    let is_set = read(key, value, RRF_RT_REG_SZ, &mut text)?;
    let end = text.iter().position(|&unit| unit == 0).unwrap_or(text.len());
    let text = String::from_utf16_lossy(&text[..end]).trim().to_owned();
    Ok((is_set && !text.is_empty()).then_some(text))
}

/// Reads a value of that type; `false` if it isn't set.
fn read<T: Copy>(key: &str, value: &str, kind: u32, place: &mut [T]) -> Result<bool, Unavailable> {
    let (wide_key, wide_value) = (wide(key), wide(value));
    let mut bytes = size_of_val(place) as u32;
    // SAFETY: both names end with a zero, and the place is valid to write numbers to for the length stated.
    // https://learn.microsoft.com/windows/win32/api/winreg/nf-winreg-reggetvaluew
    let error = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            wide_key.as_ptr(),
            wide_value.as_ptr(),
            kind,
            std::ptr::null_mut(),
            place.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    match error {
        ERROR_SUCCESS => Ok(true),
        ERROR_FILE_NOT_FOUND => Ok(false),
        error => {
            let error = std::io::Error::from_raw_os_error(error as i32);
            Err(Unavailable::failed(format!("RegGetValueW({value})"), error))
        }
    }
}

fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unset_values_are_none() {
        assert_eq!(machine_number("SYSTEM\\CurrentControlSet\\Control", "NoSuchValueHere"), Ok(None));
        assert_eq!(machine_number("SYSTEM\\NoSuchKeyHere", "Value"), Ok(None));
        assert_eq!(machine_text("SYSTEM\\NoSuchKeyHere", "Value"), Ok(None));
    }

    #[test]
    fn texts_are_complete() {
        let system = machine_text("SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion", "SystemRoot");
        let system = system.expect("readable").expect("set on every Windows and Wine");
        assert!(system.to_lowercase().ends_with("windows"), "{system:?}");
    }
}
