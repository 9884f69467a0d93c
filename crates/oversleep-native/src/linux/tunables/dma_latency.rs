//! The limit on how long CPUs may take to leave an idle state.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{TunableInfo, describe, tunables};

use crate::linux::os;
use crate::native::tunables::{Applied, Entry, undo};

pub(super) struct DmaLatency;

/// The device.
pub const DEVICE: &str = "/dev/cpu_dma_latency";
const ALLOW: &str = "run as root, or `sudo setfacl -m u:USER:rw /dev/cpu_dma_latency`; \
    in a container `--device /dev/cpu_dma_latency`";
/// From here on the kernel sets no limit.
const LONGEST_US: i64 = 2_000_000_000;

/// Opens the device. Until something is written, that counts as a request without a limit.
pub fn open(writable: bool) -> Result<File, Unavailable> {
    OpenOptions::new().read(true).write(writable).open(DEVICE).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Unavailable::missing(DEVICE),
        _ => os::refused(&format!("opening {DEVICE}"), &error, ALLOW),
    })
}

/// The limit in force on the machine: the shortest of all requests.
fn bound(mut device: &File) -> Result<Nanos, Unavailable> {
    let mut value = [0; 4];
    device.read_exact(&mut value).map_err(|error| Unavailable::failed(format!("read {DEVICE}"), error))?;
    Ok(Nanos::from_micros(i64::from(i32::from_ne_bytes(value))))
}

impl Entry for DmaLatency {
    type Request = (Nanos, i64);

    const INFO: &'static TunableInfo = describe!(tunables::LINUX, "dma-latency");

    /// The span, and the same in whole microseconds.
    fn parse(setting: &Setting) -> Option<(Nanos, i64)> {
        let &Setting::Nanos(requested) = setting else { return None };
        let whole_us = requested.0 / 1_000;
        (requested.0 % 1_000 == 0 && (0..=LONGEST_US).contains(&whole_us)).then_some((requested, whole_us))
    }

    fn read() -> Result<Setting, Unavailable> {
        bound(&open(false)?).map(Setting::Nanos)
    }

    fn change((requested, whole_us): (Nanos, i64), setting: &Setting) -> Result<Applied, Unavailable> {
        let mut device = open(true)?;
        let was = bound(&device).ok();
        // The driver reads four bytes as a number, and any other length as hexadecimal text.
        device
            .write_all(&(whole_us as i32).to_ne_bytes())
            .map_err(|error| os::refused(&format!("writing {DEVICE}"), &error, ALLOW))?;
        // Held also where another request is as strict, because that one may be withdrawn meanwhile.
        let outcome = match was {
            Some(was) if was <= requested => Outcome::AlreadySo { is: Setting::Nanos(was) },
            _ => Outcome::Applied { was: was.map(Setting::Nanos), now: setting.clone() },
        };
        // Closing the device withdraws the request. The kernel closes it even for a killed process.
        Ok((outcome, Some(Box::new(undo(move || drop(device))))))
    }
}

#[cfg(test)]
mod tests {
    use oversleep_system::Tunable;

    use super::*;
    use crate::native::tunables::Of;

    #[test]
    fn refuses_what_the_device_can_not_hold() {
        for ns in [-1_000, 1, 1_500, i64::MAX, (LONGEST_US + 1) * 1_000] {
            let (outcome, guard) = Of(DmaLatency).apply(&Setting::Nanos(Nanos(ns)));
            assert!(!outcome.holds() && guard.is_none(), "{ns}");
        }
    }

    #[test]
    fn a_bound_is_in_force_while_held() {
        let before = match Of(DmaLatency).current() {
            Ok(Setting::Nanos(before)) => before,
            other => return oversleep_testing::skip(format!("{other:?}")),
        };
        let requested = Nanos::from_millis(100);
        let (outcome, guard) = Of(DmaLatency).apply(&Setting::Nanos(requested));
        if outcome.holds() {
            let Ok(Setting::Nanos(held)) = Of(DmaLatency).current() else { panic!("was readable") };
            assert!(held <= requested && held <= before, "{held}");
        }
        drop(guard);
    }
}
