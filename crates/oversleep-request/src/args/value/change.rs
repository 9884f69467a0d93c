//! A change of a modelled machine's figure: `KEY=VALUE`. The machine validates the key and the value.

/// Checks that both parts are present.
pub fn change(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => Ok(text.to_owned()),
        _ => Err("write it as KEY=VALUE, like tick=1ms; `oversleep machines NAME` lists the keys".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_are_needed() {
        assert_eq!(change("tick=1ms"), Ok("tick=1ms".to_owned()));
        assert_eq!(change("wake.cost=p0=1us p50=2us"), Ok("wake.cost=p0=1us p50=2us".to_owned()));
        for wrong in ["tick", "=1ms", "tick=", ""] {
            assert!(change(wrong).is_err(), "{wrong}");
        }
    }
}
