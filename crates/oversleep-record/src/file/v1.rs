//! Results as version 1 wrote them, brought to the form of today. What version 2 renamed is renamed here and nowhere
//! else; everything else is read as it stands.

use serde_json::{Map, Value};

/// The schema of version 1.
pub const SCHEMA: &str = "oversleep-result/1";
/// Largest file read, in bytes. A document that is renamed in memory takes several times its length; the largest that
/// `check --thorough` wrote had 50 MB.
pub const FILE_BYTES_MAX: usize = 128 << 20;

/// Fields that have another name since: what holds them, then the old and the new name.
const SERIES: &[(&str, &str)] = &[("asked_ns", "rounded_ns")];
const CONDITIONS: &[(&str, &str)] = &[("asked", "requested")];
const DISTRIBUTION: &[(&str, &str)] = &[("late_hdr_v2", "hdr_v2"), ("early_hdr_v2", "negative_hdr_v2")];
const FLOOR: &[(&str, &str)] = &[("witness", "cross_check")];
const CROSS_CHECK: &[(&str, &str)] =
    &[("moved_ns", "difference_ns"), ("known_within_ns", "uncertainty_ns"), ("over_ns", "window_ns")];
const EVIDENCE: &[(&str, &str)] = &[("says", "text")];
const LABELS: &[(&str, &str)] = &[("of", "interrupt_kind")];
/// The label that told when a sleep began had a second meaning in trials.
const LABELS_OF_TRIALS: &[(&str, &str)] = &[("phase", "side")];

/// Words that have another spelling since.
const QUANTITIES: &[(&str, &str)] = &[("elapsed", "duration")];
const CHOICES: &[(&str, &str)] = &[("of_the_deadlines", "deadline_clock"), ("asked_for", "by_user")];
const REASONS: &[(&str, &str)] = &[("not_asked", "not_measured")];
const VERDICTS: &[(&str, &str)] = &[("absent", "not_found")];

/// A document of version 1 in the form of today. What has the wrong shape is left for the reader to refuse.
pub fn converted(mut document: Value) -> Value {
    let Some(file) = document.as_object_mut() else { return document };
    file.insert("schema".to_owned(), super::SCHEMA.into());
    if let Some(floor) = field(file, "floor") {
        rename(floor, FLOOR);
        respell(floor, "chosen", CHOICES);
        if let Some(check) = field(floor, "cross_check") {
            rename(check, CROSS_CHECK);
        }
    }
    if let Some(facts) = field(file, "environment") {
        for fact in facts.values_mut().filter_map(Value::as_object_mut) {
            reason(fact, "value");
        }
    }
    items(file, "clocks").for_each(|clock| reason(clock, "unavailable"));
    items(file, "series").for_each(series);
    items(file, "trials").for_each(conditions);
    for finding in items(file, "findings") {
        respell(finding, "verdict", VERDICTS);
        items(finding, "evidence").for_each(|evidence| rename(evidence, EVIDENCE));
    }
    document
}

fn series(series: &mut Map<String, Value>) {
    rename(series, SERIES);
    respell(series, "quantity", QUANTITIES);
    conditions(series);
    let is_trial = series.get("experiment").and_then(Value::as_str) == Some("trial");
    if let Some(labels) = field(series, "labels") {
        rename(labels, LABELS);
        if is_trial {
            rename(labels, LABELS_OF_TRIALS);
        }
    }
    if let Some(status) = field(series, "status") {
        reason(status, "reason");
    }
    for name in ["distribution", "calls_only"] {
        field(series, name).into_iter().for_each(|distribution| rename(distribution, DISTRIBUTION));
    }
    if let Some(split) = field(series, "split") {
        let parts = split.values_mut().filter_map(Value::as_object_mut);
        parts.for_each(|distribution| rename(distribution, DISTRIBUTION));
    }
}

/// The conditions in a series or a trial.
fn conditions(holder: &mut Map<String, Value>) {
    let Some(conditions) = field(holder, "conditions") else { return };
    rename(conditions, CONDITIONS);
    if let Some(outcomes) = field(conditions, "outcomes") {
        for outcome in outcomes.values_mut().filter_map(Value::as_object_mut) {
            reason(outcome, "why");
        }
    }
}

/// A reason why something is not available, in the field of that name, where one is there.
fn reason(holder: &mut Map<String, Value>, name: &str) {
    if let Some(reason) = field(holder, name) {
        respell(reason, "kind", REASONS);
    }
}

fn field<'a>(object: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Map<String, Value>> {
    object.get_mut(name)?.as_object_mut()
}

fn items<'a>(object: &'a mut Map<String, Value>, name: &str) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let list = object.get_mut(name).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn rename(object: &mut Map<String, Value>, names: &[(&str, &str)]) {
    for (old, new) in names {
        if let Some(value) = object.remove(*old) {
            object.insert((*new).to_owned(), value);
        }
    }
}

fn respell(object: &mut Map<String, Value>, name: &str, words: &[(&str, &str)]) {
    let Some(Value::String(word)) = object.get_mut(name) else { return };
    if let Some((_, new)) = words.iter().find(|(old, _)| *old == word) {
        *word = (*new).to_owned();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_renamed_is_renamed_where_it_stood() {
        let old = json!({
            "schema": SCHEMA,
            "floor": {"chosen": "asked_for", "witness": {"moved_ns": 1, "known_within_ns": 2, "over_ns": 3}},
            "environment": {"asked_ns": {"type": "unknown", "value": {"kind": "not_asked"}}},
            "clocks": [{"unavailable": {"kind": "not_asked"}}],
            "series": [{
                "experiment": "trial", "quantity": "elapsed", "asked_ns": 5,
                "labels": {"phase": "after", "of": "all-kinds", "asked_ns": "kept"},
                "conditions": {"asked": {"asked": 1}, "outcomes": {"asked": {"why": {"kind": "not_asked"}}}},
                "status": {"reason": {"kind": "not_asked"}},
                "distribution": {"late_hdr_v2": "a", "early_hdr_v2": "b"},
                "split": {"timer": {"late_hdr_v2": "c"}, "method": "d"},
            }],
            "trials": [{"conditions": {"asked": {}}}],
            "findings": [{"verdict": "absent", "evidence": [{"says": "50 µs"}]}],
        });
        let new = json!({
            "schema": super::super::SCHEMA,
            "floor": {
                "chosen": "by_user",
                "cross_check": {"difference_ns": 1, "uncertainty_ns": 2, "window_ns": 3},
            },
            "environment": {"asked_ns": {"type": "unknown", "value": {"kind": "not_measured"}}},
            "clocks": [{"unavailable": {"kind": "not_measured"}}],
            "series": [{
                "experiment": "trial", "quantity": "duration", "rounded_ns": 5,
                "labels": {"side": "after", "interrupt_kind": "all-kinds", "asked_ns": "kept"},
                "conditions": {"requested": {"asked": 1}, "outcomes": {"asked": {"why": {"kind": "not_measured"}}}},
                "status": {"reason": {"kind": "not_measured"}},
                "distribution": {"hdr_v2": "a", "negative_hdr_v2": "b"},
                "split": {"timer": {"hdr_v2": "c"}, "method": "d"},
            }],
            "trials": [{"conditions": {"requested": {}}}],
            "findings": [{"verdict": "not_found", "evidence": [{"text": "50 µs"}]}],
        });
        assert_eq!(converted(old), new);
    }

    #[test]
    fn the_phase_of_a_sleep_keeps_its_name() {
        let old = json!({"series": [{"experiment": "B6", "labels": {"phase": "random"}}]});
        assert_eq!(converted(old)["series"][0]["labels"], json!({"phase": "random"}));
    }

    #[test]
    fn what_has_another_shape_is_left_to_the_reader() {
        for document in [json!(null), json!([]), json!({"series": 3, "floor": [], "environment": {"a": 1}})] {
            let _ = converted(document);
        }
    }
}
