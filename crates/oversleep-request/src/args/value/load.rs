//! Background load: a kind, and the number of its threads.

/// Load as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedLoad {
    /// The kind's name, which the laboratory looks up.
    pub kind: String,
    /// The number of threads; `None` means one per CPU.
    pub hogs: Option<u32>,
}

/// The most threads of one kind: enough to oversubscribe any machine, few enough to start and stop.
const HOGS_MAX: u32 = 1_024;

/// `spin` or `spin:2`.
pub fn load(text: &str) -> Result<TypedLoad, String> {
    let (kind, hogs) = match text.split_once(':') {
        None => (text, None),
        Some((kind, hogs)) => match hogs.trim().parse() {
            Ok(hogs @ 1..=HOGS_MAX) => (kind, Some(hogs)),
            _ => {
                return Err(format!(
                    "'{hogs}' is not a number of threads from 1 to {HOGS_MAX}; write a load like spin:2"
                ));
            }
        },
    };
    match kind.trim() {
        "" => Err("the kind of load is missing; write a load like spin or spin:2".to_owned()),
        kind => Ok(TypedLoad { kind: kind.to_owned(), hogs }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_kind_and_number() {
        assert_eq!(load("spin"), Ok(TypedLoad { kind: "spin".to_owned(), hogs: None }));
        assert_eq!(load("memory:3"), Ok(TypedLoad { kind: "memory".to_owned(), hogs: Some(3) }));
        for text in ["", ":2", "spin:0", "spin:-1", "spin:x", "spin:", "spin:5000", "spin:1:2"] {
            assert!(load(text).unwrap_err().contains("spin:2"), "{text}");
        }
    }
}
