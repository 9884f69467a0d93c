//! The golden results in `schema/golden/`, a folder per version. Each is read and comes back unchanged, and those built
//! from Rust values are still written byte for byte as published. This detects every change of the format.
//!
//! `OVERSLEEP_UPDATE_GOLDEN=1 cargo test -p oversleep-record --test files golden` rewrites the built ones.

use oversleep_record::ResultFile;

use crate::support;

#[test]
fn built_results_are_written_as_published() {
    let update = std::env::var_os("OVERSLEEP_UPDATE_GOLDEN").is_some();
    for (name, result) in support::built() {
        let path = support::schema_dir().join("golden/v3").join(name);
        if update {
            std::fs::write(&path, result.write()).unwrap();
        }
        let published = std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Compares the value first: if it is equal and the bytes differ, the format kept its meaning and changed only
        // its encoding, for example by a new release of the compressor.
        assert!(ResultFile::read(&published).unwrap() == result, "{name} no longer reads as the result it was made of");
        assert!(published == result.write(), "{name} is no longer written as it was published");
    }
}

#[test]
fn results_of_earlier_versions_read_as_what_this_one_writes() {
    let of = |version: &str, results: Vec<(&'static str, ResultFile)>, earlier: fn(ResultFile) -> ResultFile| {
        let old = support::committed(&format!("v{version}"));
        assert!(old.len() >= results.len());
        for (name, result) in results {
            let (_, bytes) = old.iter().find(|(old, _)| *old == name).unwrap_or_else(|| panic!("{name}"));
            let schema = format!("oversleep-result/{version}");
            assert!(bytes.windows(18).any(|part| part == schema.as_bytes()), "{name} is of version {version}");
            assert!(ResultFile::read(bytes).unwrap() == earlier(result), "{name} of {version} reads as another result");
        }
    };
    of("1", support::built_in_v1(), support::of_v1);
    of("2", support::built(), support::of_v2);
}

#[test]
fn every_golden_result_comes_back_unchanged() {
    let files: Vec<_> = ["v1", "v2", "v3", "why-v1"].iter().flat_map(|version| support::committed(version)).collect();
    assert!(files.len() >= 2 * support::built().len() + support::built_in_v1().len());
    for (name, bytes) in files {
        let read = ResultFile::read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let again = ResultFile::read(&read.write()).unwrap();
        assert!(again == read, "{name} changes on its way through a file");
        assert_eq!(again.write(), read.write(), "{name}");
    }
}

#[test]
fn values_early_and_beyond_the_range_survive() {
    let file = ResultFile::read(&support::everything().write()).unwrap();
    let waits = file.series("B5/nanosleep/1ms").unwrap();
    assert_eq!(waits.distribution.min(), Some(-300));
    assert_eq!(waits.distribution.max(), Some(4_000_000_000_000), "exactly, though no bucket reaches so far");
    assert_eq!((waits.samples.len(), waits.samples.beyond_cap), (40, 10));
    assert_eq!(waits.samples.missed_runs, [[0, 2]]);
}
