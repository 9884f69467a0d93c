//! Scheduling policies: a name with a priority or nice value.

use oversleep_record::conditions::Setting;

/// `fifo:80`, `other:5`, `idle`. The laboratory validates names and numbers.
pub fn policy(text: &str) -> Result<Setting, String> {
    let (name, priority) = match text.split_once(':') {
        None => (text, 0),
        Some((name, number)) => match number.trim().parse() {
            Ok(number) => (name, number),
            Err(_) => return Err(format!("'{number}' is not a priority; write a whole number, like fifo:80")),
        },
    };
    match name.trim() {
        "" => Err("the policy has no name; write a policy like fifo:80 or idle".to_owned()),
        name => Ok(Setting::Policy { policy: name.to_ascii_lowercase(), priority }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_name_and_number() {
        let setting = |policy: &str, priority| Ok(Setting::Policy { policy: policy.to_owned(), priority });
        assert_eq!(policy("fifo:80"), setting("fifo", 80));
        assert_eq!(policy("other:-5"), setting("other", -5));
        assert_eq!(policy("IDLE"), setting("idle", 0));
        assert!(policy("fifo:high").unwrap_err().contains("not a priority"));
        assert!(policy(":80").unwrap_err().contains("has no name"));
        assert!(policy("fifo:99999999999").is_err());
    }
}
