//! A neighbour that comes and goes, `1ms@2s..5s`, and when a model runs on battery, `4s..8s`.

use oversleep_lab::watch::Visit;
use oversleep_record::Nanos;

use super::setting;

/// A setting, perhaps another one for the time on battery, and when a process holds it: `1ms`, `1ms@2s..`, `1ms/8ms@2s..5s`.
pub fn visit(text: &str) -> Result<Visit, String> {
    let (held, when) = text.split_once('@').unwrap_or((text, "0s.."));
    let (from, until) = span(when).map_err(|problem| match problem {
        Some(problem) => format!("{problem}; {FORM}"),
        None => format!("a neighbour leaves after it came; {FORM}"),
    })?;
    let (held, on_battery) = held.split_once('/').map_or((held, None), |(held, battery)| (held, Some(battery)));
    Ok(Visit { setting: setting(held)?, on_battery: on_battery.map(setting).transpose()?, from, until })
}

/// When a modelled machine runs on battery: `4s..8s`, `4s..`.
pub fn on_battery(text: &str) -> Result<(Nanos, Option<Nanos>), String> {
    span(text).map_err(|problem| match problem {
        Some(problem) => format!("{problem}; {BATTERY}"),
        None => format!("the time on battery ends after it began; {BATTERY}"),
    })
}

/// From one moment to a later one, or to the end. The error is the problem with a moment, or `None` if they are in no order.
fn span(text: &str) -> Result<(Nanos, Option<Nanos>), Option<String>> {
    let (from, until) = text.split_once("..").ok_or_else(|| Some(format!("'{text}' has no two dots")))?;
    let moment = |text: &str| text.parse::<Nanos>().map_err(|error| Some(error.to_string()));
    let from = if from.is_empty() { Nanos::ZERO } else { moment(from)? };
    let until = if until.is_empty() { None } else { Some(moment(until)?) };
    match from < Nanos::ZERO || until.is_some_and(|until| until <= from) {
        true => Err(None),
        false => Ok((from, until)),
    }
}

const FORM: &str = "write SETTING@FROM..UNTIL, like 1ms@2s..5s, or SETTING@FROM..";
const BATTERY: &str = "write FROM..UNTIL, like 4s..8s, or FROM..";

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Setting;

    use super::*;

    #[test]
    fn a_visit_has_a_setting_a_beginning_and_perhaps_an_end() {
        let one = |from, until: Option<i64>| Visit {
            setting: Setting::Nanos(Nanos::from_millis(1)),
            on_battery: None,
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
        let browser = visit("1ms/8ms@2s..5s").expect("two settings");
        assert_eq!(browser.on_battery, Some(Setting::Nanos(Nanos::from_millis(8))));
        assert_eq!(Visit { on_battery: None, ..browser }, one(2, Some(5)));
        assert!(visit("1ms/@2s..").is_err() && visit("1ms/8@2s..").is_err());
    }

    #[test]
    fn a_time_on_battery_ends_after_it_began() {
        assert_eq!(on_battery("4s..8s"), Ok((Nanos::from_secs(4), Some(Nanos::from_secs(8)))));
        assert_eq!(on_battery("4s.."), Ok((Nanos::from_secs(4), None)));
        for wrong in ["4s", "8s..4s", "x..", "-1s..4s", ""] {
            assert!(on_battery(wrong).unwrap_err().ends_with("like 4s..8s, or FROM.."), "{wrong}");
        }
    }
}
