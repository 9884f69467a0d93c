//! The power source. On battery, machines save power at the expense of wake-ups.

use oversleep_record::Unavailable;

use super::{Entry, text};
use crate::linux::files::Files;
use crate::native::facts::facts;

const FOLDER: &str = "/sys/class/power_supply";

pub(super) const FACTS: &[Entry] = facts! {
    PowerSource: "/sys/class/power_supply/*/type, online, status" => |machine| source(machine.files).map(text),
};

fn source(files: &dyn Files) -> Result<&'static str, Unavailable> {
    let mut discharging = false;
    let mut mains = None;
    for supply in files.names(FOLDER) {
        let says = |file: &str| files.text(&format!("{FOLDER}/{supply}/{file}")).unwrap_or_default();
        match says("type").as_str() {
            // Mice and headsets have batteries, too.
            "Battery" if says("scope") != "Device" => discharging |= says("status") == "Discharging",
            "Mains" | "USB" | "USB_C" | "USB_PD" => mains = Some(mains.unwrap_or(false) || says("online") == "1"),
            _ => {}
        }
    }
    match (mains, discharging) {
        (Some(true), _) => Ok("ac"),
        (_, true) => Ok("battery"),
        // No supply is online and nothing discharges: a full battery, or supplies that don't report their state.
        _ => Err(Unavailable::missing("a power supply that reports its state")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::Sample;

    #[test]
    fn mains_and_battery() {
        let plugged = [
            ("/sys/class/power_supply/AC/type", "Mains"),
            ("/sys/class/power_supply/AC/online", "1"),
            ("/sys/class/power_supply/BAT0/type", "Battery"),
            ("/sys/class/power_supply/BAT0/status", "Charging"),
        ];
        assert_eq!(source(&Sample::of(&plugged)), Ok("ac"));
        let unplugged = [
            ("/sys/class/power_supply/AC/type", "Mains"),
            ("/sys/class/power_supply/AC/online", "0"),
            ("/sys/class/power_supply/BAT0/type", "Battery"),
            ("/sys/class/power_supply/BAT0/status", "Discharging"),
        ];
        assert_eq!(source(&Sample::of(&unplugged)), Ok("battery"));
        let mouse = [
            ("/sys/class/power_supply/hid-1/type", "Battery"),
            ("/sys/class/power_supply/hid-1/scope", "Device"),
            ("/sys/class/power_supply/hid-1/status", "Discharging"),
        ];
        assert!(source(&Sample::of(&mouse)).is_err());
        assert!(source(&Sample::default()).is_err());
    }
}
