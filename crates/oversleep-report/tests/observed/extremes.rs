//! Every figure of a result may be at the end of its range: it is refused, or everything can be said of it.

use oversleep_lab::share::share;
use oversleep_record::ResultFile;
use serde_json::Value;

use crate::support::{comparison, everything, recorded, report};

/// Every number in the first elements of lists.
fn paths(value: &Value, at: &str) -> Vec<String> {
    match value {
        Value::Number(_) => vec![at.to_owned()],
        Value::Object(all) => all.iter().flat_map(|(key, value)| paths(value, &format!("{at}/{key}"))).collect(),
        Value::Array(all) => {
            all.iter().enumerate().take(1).flat_map(|(n, value)| paths(value, &format!("{at}/{n}"))).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn every_figure_of_a_file_may_be_at_the_end_of_its_range() {
    for file in [recorded(), everything()] {
        let mut value: Value = serde_json::from_slice(&file.write()).unwrap();
        let paths = paths(&value, "");
        assert!(paths.iter().any(|path| path.starts_with("/observation/worst/0/marks/")), "{paths:?}");
        let mut read = 0;
        for number in [serde_json::json!(u64::MAX), serde_json::json!(i64::MIN), serde_json::json!(i64::MAX)] {
            for path in &paths {
                let place = value.pointer_mut(path).unwrap();
                let before = std::mem::replace(place, number.clone());
                if let Ok(file) = ResultFile::read(value.to_string().as_bytes()) {
                    read += 1;
                    assert!(!report(&file).is_empty());
                    assert!(!comparison(&[file.clone(), file.clone()]).is_empty());
                    ResultFile::read(&share(&file).write()).expect("a shared result is read");
                }
                *value.pointer_mut(path).unwrap() = before;
            }
        }
        assert!(read > 50, "{read}");
    }
}
