//! A neighbour that comes and goes: `1ms@2s..5s`.

use oversleep_lab::watch::Visit;
use oversleep_record::Nanos;

use super::setting;

/// A setting, and when a process holds it: `1ms`, `1ms@2s..`, `1ms@2s..5s`.
pub fn visit(text: &str) -> Result<Visit, String> {
    let (held, when) = text.split_once('@').unwrap_or((text, "0s.."));
    let (from, until) = when.split_once("..").ok_or_else(|| FORM.to_owned())?;
    let moment = |text: &str| text.parse::<Nanos>().map_err(|error| format!("{error}; {FORM}"));
    let from = if from.is_empty() { Nanos::ZERO } else { moment(from)? };
    let until = if until.is_empty() { None } else { Some(moment(until)?) };
    if from < Nanos::ZERO || until.is_some_and(|until| until <= from) {
        return Err(format!("a neighbour leaves after it came; {FORM}"));
    }
    Ok(Visit { setting: setting(held)?, from, until })
}

const FORM: &str = "write SETTING@FROM..UNTIL, like 1ms@2s..5s, or SETTING@FROM..";

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Setting;

    use super::*;

    #[test]
    fn a_visit_has_a_setting_a_beginning_and_perhaps_an_end() {
        let one = |from, until: Option<i64>| Visit {
            setting: Setting::Nanos(Nanos::from_millis(1)),
            from: Nanos::from_secs(from),
            until: until.map(Nanos::from_secs),
        };
        assert_eq!(visit("1ms@2s..5s"), Ok(one(2, Some(5))));
        assert_eq!(visit("1ms@2s.."), Ok(one(2, None)));
        assert_eq!(visit("1ms@..5s"), Ok(one(0, Some(5))));
        assert_eq!(visit("1ms"), Ok(one(0, None)));
        for wrong in ["1ms@", "1ms@2s", "1ms@5s..2s", "@2s..5s", "1ms@x..5s", "1ms@-1s..5s"] {
            assert!(visit(wrong).is_err(), "{wrong}");
        }
        assert!(visit("1ms@2s").unwrap_err().contains("like 1ms@2s..5s"));
    }
}
