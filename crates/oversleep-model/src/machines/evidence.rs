//! Figures of kinds of machines, from several sources: the cost of a wake-up on a desktop, or of a clock that is read
//! from the HPET. A profile uses the kinds that it names where it has no figure of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::computed::mean;
use super::parameters::parameter_of;
use super::sources::Source;
use super::value::{Stated, Value};

/// The fewest sources that show how much machines differ, because a few may agree by chance.
pub const SOURCES_MIN: usize = 3;

/// A figure from one source.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    value: String,
    says: String,
    /// The clock rate of its processor, in MHz: the highest one of the processor that it names, or the one that it states.
    mhz: Option<f64>,
}

/// Kind of machine, path of the figure, id of the source.
type Kinds = BTreeMap<String, BTreeMap<String, BTreeMap<String, Said>>>;

static KINDS: LazyLock<Kinds> =
    LazyLock::new(|| toml::from_str(include_str!("../../evidence.toml")).expect("the file of evidence is well-formed"));

/// Separates the ids of several sources of one figure.
const AND: &str = " + ";

/// The figures of a kind of machine: the mean of its sources, without the excluded one.
///
/// # Errors
/// There is no such kind, or the fault in it.
pub(super) fn figures_of(kind: &str, without: Option<&str>) -> Result<Vec<(String, Stated)>, String> {
    figures(kind, without, None)
}

/// The same of a machine whose processor has that clock rate: the values of sources that give theirs are scaled to it.
///
/// # Errors
/// As [`figures_of`].
pub(super) fn figures_at_rate(kind: &str, without: Option<&str>, mhz: f64) -> Result<Vec<(String, Stated)>, String> {
    figures(kind, without, Some(mhz))
}

fn figures(kind: &str, without: Option<&str>, mhz: Option<f64>) -> Result<Vec<(String, Stated)>, String> {
    let paths = KINDS.get(kind).ok_or_else(|| format!("there is no evidence about '{kind}'"))?;
    let mut figures = Vec::new();
    for (path, said) in paths {
        let said: Vec<(&String, &Said)> = said.iter().filter(|(id, _)| without != Some(id.as_str())).collect();
        if !said.is_empty() {
            let stated = pooled(path, &said, mhz).map_err(|why| format!("{kind}, '{path}': {why}"))?;
            figures.push((path.clone(), stated));
        }
    }
    Ok(figures)
}

/// Whether a figure of that kind of machine is from that source.
#[cfg(test)]
pub(super) fn cites(kind: &str, id: &str) -> bool {
    KINDS[kind].values().any(|said| said.contains_key(id))
}

/// One figure of a machine whose processor has that clock rate: the mean of the sources that give the rate
/// of theirs, each scaled to it, because what a read takes is a number of cycles. Where fewer than [`SOURCES_MIN`] give it,
/// the figure is in the proportion to a read of the time that sources found on their machines, whatever their rates.
/// `None` if neither is known, as where a read goes over a bus.
///
/// # Errors
/// As [`figures_of`].
pub(super) fn figure_at(kind: &str, path: &str, without: Option<&str>, mhz: f64) -> Result<Option<Stated>, String> {
    let said = sources_of(kind, path, without).filter(|(_, said)| said.mhz.is_some());
    let said: Vec<(&String, &Said)> = said.collect();
    if said.len() < SOURCES_MIN {
        return in_proportion(kind, path, without, mhz);
    }
    pooled(path, &said, Some(mhz)).map(Some).map_err(|why| format!("{kind}, '{path}': {why}"))
}

/// The usual clock rate of the machines of those kinds, in MHz: the geometric mean of the sources that give theirs.
pub(super) fn usual_rate(kinds: &BTreeSet<&str>) -> Option<f64> {
    let said = kinds.iter().filter_map(|kind| KINDS.get(*kind)).flat_map(BTreeMap::values).flatten();
    let rates: BTreeMap<&String, f64> = said.filter_map(|(id, said)| Some((id, said.mhz?))).collect();
    let logs: f64 = rates.values().map(|mhz| mhz.ln()).sum();
    (!rates.is_empty()).then(|| (logs / rates.len() as f64).exp())
}

/// What a read of the time takes, in the kinds of machines whose clocks are read without a bus.
const READ: &str = "costs.other";

/// The fewest sources of a proportion, because one may be an exception.
const PROPORTIONS_MIN: usize = 2;

/// The figure from what a read of the time takes at that rate, by the mean proportion of the two on the machines of the
/// sources that state both.
fn in_proportion(kind: &str, path: &str, without: Option<&str>, mhz: f64) -> Result<Option<Stated>, String> {
    let (Some(parameter), false) = (parameter_of(path), path == READ) else { return Ok(None) };
    let Some(read) = figure_at(kind, READ, without, mhz)? else { return Ok(None) };
    let ns = |said: &Said| parameter.kind.read(&said.value).map(|value| value.as_ns());
    let mut proportions = Vec::new();
    for (id, of_path) in sources_of(kind, path, without) {
        if let Some((_, of_read)) = sources_of(kind, READ, without).find(|(other, _)| *other == id) {
            let proportion = ns(of_path)?.zip(ns(of_read)?).map(|(of_path, of_read)| of_path / of_read);
            proportions.extend(proportion.map(|proportion| (id, of_path, proportion)));
        }
    }
    let Some(read_ns) = read.value.as_ns().filter(|_| proportions.len() >= PROPORTIONS_MIN) else { return Ok(None) };
    let logs: f64 = proportions.iter().map(|(_, _, proportion)| proportion.ln()).sum();
    let proportion = (logs / proportions.len() as f64).exp();
    let mut ids: Vec<&str> = read.source_id.split(AND).collect();
    let mut cited = Vec::new();
    for (id, said, _) in &proportions {
        let source = Source::find(id).ok_or_else(|| format!("its source '{id}' is not in the file of sources"))?;
        ids.push(id);
        cited.push(source.cite(&said.says));
    }
    ids.sort_unstable();
    ids.dedup();
    let ns = read_ns * proportion;
    Ok(Some(Stated {
        value: Value::cost(ns).ok_or_else(|| format!("'{path}': {ns} ns is not the cost of a call"))?,
        written: Some(format!("{ns}ns")),
        source_id: ids.join(AND),
        source: format!(
            "{proportion:.2} times what a read of the time takes there, as on such machines: {}; a read of the time is {}",
            cited.join("; "),
            read.source
        ),
    }))
}

/// The sources of a figure of a kind, without the excluded one.
fn sources_of(kind: &str, path: &str, without: Option<&str>) -> impl Iterator<Item = (&'static String, &'static Said)> {
    let said = KINDS.get(kind).and_then(|paths| paths.get(path)).into_iter().flatten();
    said.filter(move |(id, _)| without != Some(id.as_str()))
}

/// The kinds of machines with evidence.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.keys().map(String::as_str)
}

/// The name of that kind, if there is such evidence.
pub(super) fn known(kind: &str) -> Option<&'static str> {
    KINDS.get_key_value(kind).map(|(known, _)| known.as_str())
}

/// The values of all sources but one for the figures of a kind, by path.
pub(super) fn said_of(kind: &str, without: &str) -> Vec<(String, Vec<(String, Value)>)> {
    let paths = KINDS.get(kind).into_iter().flatten();
    let values =
        |path: &str| values_of(kind, path).unwrap_or_default().into_iter().filter(|(id, _)| id != without).collect();
    paths.map(|(path, _)| (path.clone(), values(path))).collect()
}

/// Each source of a figure of a kind, with its value.
///
/// # Errors
/// There is no such kind, or the fault in it.
pub(super) fn values_of(kind: &str, path: &str) -> Result<Vec<(String, Value)>, String> {
    let paths = KINDS.get(kind).ok_or_else(|| format!("there is no evidence about '{kind}'"))?;
    let parameter = parameter_of(path).ok_or_else(|| format!("'{path}' is not a figure of a modelled machine"))?;
    let said = paths.get(path).into_iter().flatten();
    said.map(|(id, said)| Ok((id.clone(), parameter.kind.read(&said.value)?))).collect()
}

fn pooled(path: &str, said: &[(&String, &Said)], mhz: Option<f64>) -> Result<Stated, String> {
    let parameter = parameter_of(path).ok_or("it is not a figure of a modelled machine")?;
    let value = |(_, said): &(&String, &Said)| {
        let value = parameter.kind.read(&said.value)?;
        let Some((mhz, own)) = mhz.zip(said.mhz) else { return Ok(value) };
        Ok::<_, String>(value.times(own / mhz)?.unwrap_or_else(|| value.cost_times(own / mhz)))
    };
    let values: Vec<_> = said.iter().map(value).collect::<Result<_, _>>()?;
    let (value, written) = match (&values[..], said) {
        ([value], [(_, only)]) if mhz.is_none() => (value.clone(), Some(only.value.clone())),
        _ => (mean(&values)?, None),
    };
    let mut ids = Vec::new();
    let mut cited = Vec::new();
    for (id, said) in said {
        let source = Source::find(id).ok_or_else(|| format!("its source '{id}' is not in the file of sources"))?;
        ids.push(id.as_str());
        cited.push(source.cite(&said.says));
    }
    let source = match (cited.len(), mhz) {
        (1, _) => format!("of such machines, {}", cited[0]),
        (_, None) => format!("the mean of such machines: {}", cited.join("; ")),
        (_, Some(mhz)) => format!("the mean of such machines, in cycles of {mhz} MHz: {}", cited.join("; ")),
    };
    Ok(Stated { value, written, source_id: ids.join(AND), source })
}

/// Whether a figure with those sources is from this one, alone or with others.
pub(super) fn is_from(source_id: &str, id: &str) -> bool {
    source_id.split(AND).any(|one| one == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_evidence_reads_and_each_source_can_be_left_out() {
        for kind in KINDS.keys() {
            assert!(!figures_of(kind, None).unwrap_or_else(|error| panic!("{error}")).is_empty());
            for source in Source::all() {
                for (path, stated) in figures_of(kind, Some(&source.id)).unwrap_or_else(|error| panic!("{error}")) {
                    assert!(!is_from(&stated.source_id, &source.id), "{kind} {path}: {}", stated.source_id);
                }
            }
        }
        assert!(figures_of("abacus", None).is_err());
    }

    #[test]
    fn several_sources_give_their_mean() {
        let of =
            |without| figures_of("linux-cloud", without).unwrap().into_iter().find(|(path, _)| path == "wake.cost");
        let (_, both) = of(None).unwrap();
        assert_eq!(both.source_id, "jdk-13225 + jdk-13892");
        assert!(is_from(&both.source_id, "jdk-13892") && !is_from(&both.source_id, "jdk"));
        let (_, one) = of(Some("jdk-13892")).unwrap();
        assert_eq!((one.text().as_str(), one.source_id.as_str()), ("4800ns..8300ns", "jdk-13225"));
    }
}
