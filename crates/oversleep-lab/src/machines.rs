//! A laboratory on a modelled machine.

use oversleep_record::{FactName, ResultFile};

use crate::records::records;
use crate::session::Laboratory;

pub use oversleep_model::{
    ASSUMED, Description, Differ, Figure, MachineError, SEED, SOURCES_MIN, Source, Statement, costs_stated, describe,
    describe_without, differ, is_known, lesson, names, usual_ratio, wakes_stated, yields_stated,
};

/// A laboratory on the modelled machine with that name; overrides as for [`oversleep_model::platform`].
///
/// # Errors
/// There is no such machine, or an override is invalid.
pub fn load(name: &str, overrides: &[String], seed: u64) -> Result<Laboratory, MachineError> {
    load_without(name, None, overrides, seed)
}

/// Loads a machine without a source, given by its id: see [`describe_without`].
///
/// # Errors
/// As for [`load`].
pub fn load_without(
    name: &str,
    without: Option<&str>,
    overrides: &[String],
    seed: u64,
) -> Result<Laboratory, MachineError> {
    Ok(Laboratory::on(oversleep_model::platform_without(name, without, overrides, seed)?))
}

/// Loads a machine with the cost of every wake-up multiplied: see [`oversleep_model::platform_with_wakes_times`].
///
/// # Errors
/// As for [`load`].
pub fn load_with_wakes_times(
    name: &str,
    without: Option<&str>,
    overrides: &[String],
    times: f64,
    seed: u64,
) -> Result<Laboratory, MachineError> {
    Ok(Laboratory::on(oversleep_model::platform_with_wakes_times(name, without, overrides, times, seed)?))
}

/// A laboratory on a machine like that of the result: see [`oversleep_model::like`].
///
/// # Errors
/// The result doesn't support a model, or an override is invalid.
pub fn like(result: &ResultFile, overrides: &[String], seed: u64) -> Result<Laboratory, MachineError> {
    Ok(Laboratory::on(oversleep_model::like(result, overrides, seed, records(result))?))
}

/// Whether a figure of the modelled machine that a result was taken on is assumed, by its path: no publication states it.
/// The first of these paths that the model states decides. False for a real machine.
pub fn is_assumed(file: &ResultFile, paths: &[&str]) -> bool {
    let Some(name) = file.platform.modelled.as_ref().and_then(|modelled| modelled.split(" with ").next()) else {
        return false;
    };
    let set = file.environment.list(FactName::ModelSet).unwrap_or_default();
    let Ok(described) = describe(name, set) else { return false };
    let stated = paths.iter().find_map(|path| described.figures.iter().find(|figure| figure.path == *path));
    stated.is_some_and(|figure| figure.source_id == ASSUMED)
}
