//! The waits that a verdict isn't about.

use oversleep_record::ResultFile;
use oversleep_record::words::{counted, list};

use crate::observed::kinds_of_runtime;

/// The most kinds of housekeeping that are named.
const NAMED_MAX: usize = 3;

/// `301 more waits are the runtime's own housekeeping: the interpreter's switch interval.`
pub(super) fn in_words(file: &ResultFile) -> Option<String> {
    let kinds = kinds_of_runtime(file);
    let mut all: Vec<(&str, u64)> = Vec::new();
    for (kind, of) in &kinds {
        match all.iter_mut().find(|(what, _)| *what == of.what) {
            Some((_, count)) => *count = count.saturating_add(kind.count()),
            None => all.push((of.what, kind.count())),
        }
    }
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let count = all.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
    let mut named: Vec<String> = all.iter().take(NAMED_MAX).map(|(what, _)| (*what).to_owned()).collect();
    match all.len().saturating_sub(NAMED_MAX) {
        0 => {}
        more => named.push(counted(more, "other")),
    }
    let means = kinds.iter().find(|(_, of)| !of.means.is_empty()).map(|(_, of)| format!(" {}", of.means));
    let are = if count == 1 { "is" } else { "are" };
    let (counted, means) = (counted(count, "more wait"), means.unwrap_or_default());
    (count != 0).then(|| format!("{counted} {are} the runtime's own housekeeping: {}.{means}", list(&named)))
}
