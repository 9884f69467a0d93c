//! A tunable by name with its setting: one option for all tunables of the measured machine.

use oversleep_record::conditions::Setting;

use super::{cpus, latency_bound, policy, setting, slack};

/// A tunable and its setting, as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedTunable {
    /// The tunable's name, which the laboratory looks up.
    pub name: String,
    /// Its setting.
    pub setting: Setting,
}

/// `power-throttling=off`, `latency=tier-0`, `slack=1ns`.
pub fn tune(text: &str) -> Result<TypedTunable, String> {
    let form = "write a tunable and its setting, like power-throttling=off or slack=1ns";
    let (name, value) = text.split_once('=').ok_or_else(|| form.to_owned())?;
    let (name, value) = (name.trim(), value.trim());
    let setting = match (name, value) {
        ("", _) | (_, "") => return Err(form.to_owned()),
        (_, "on") => Setting::Flag(true),
        (_, "off") => Setting::Flag(false),
        // A tunable with its own option is parsed like that option.
        ("slack", value) => Setting::Nanos(slack(value)?),
        ("dma-latency", value) => Setting::Nanos(latency_bound(value)?),
        ("policy", value) => policy(value)?,
        ("pin", value) => Setting::Cpus(cpus(value)?.0),
        (_, value) => setting(value)?,
    };
    Ok(TypedTunable { name: name.to_owned(), setting })
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::*;

    #[test]
    fn reads_every_form_of_setting() {
        let word = |policy: &str| Setting::Policy { policy: policy.to_owned(), priority: 0 };
        for (text, name, wanted) in [
            ("power-throttling=off", "power-throttling", Setting::Flag(false)),
            ("lock-memory = on", "lock-memory", Setting::Flag(true)),
            ("latency=tier-0", "latency", word("tier-0")),
            ("resolution=0.5ms", "resolution", Setting::Nanos(Nanos(500_000))),
            ("slack=1ns", "slack", Setting::Nanos(Nanos(1))),
            ("dma-latency=0", "dma-latency", Setting::Nanos(Nanos::ZERO)),
            ("pin=0,2-3", "pin", Setting::Cpus(vec![0, 2, 3])),
            ("policy=fifo:5", "policy", Setting::Policy { policy: "fifo".to_owned(), priority: 5 }),
        ] {
            assert_eq!(tune(text), Ok(TypedTunable { name: name.to_owned(), setting: wanted }), "{text}");
        }
    }

    #[test]
    fn an_error_shows_what_would_be_right() {
        for text in ["", "latency", "=on", "latency="] {
            assert!(tune(text).unwrap_err().contains("like power-throttling=off"), "{text}");
        }
        assert!(tune("resolution=1").unwrap_err().contains("has no unit"));
    }
}
