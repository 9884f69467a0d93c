//! Files that unpack to far more than they are, or state more than there is: reading one is an error in one clear line, and
//! takes no more than 128 MB. A process of its own reads each, so that its memory is what it took.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use oversleep_archive::sql::answer;
use oversleep_archive::store::{Archive, StoreError};
use oversleep_archive::{Filter, Gathering, views};
use parquet::basic::{Compression, GzipLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::SerializedFileWriter;

use crate::support::{add, row, values};

const FOLDER: &str = "OVERSLEEP_ARCHIVE_BOMB";
/// How many damaged files are read; a long run takes 100,000.
const DAMAGED: &str = "OVERSLEEP_ARCHIVE_DAMAGED";
const MEMORY_KB_MAX: u64 = 128 << 10;

/// What every command that reads an archive does with it.
fn use_all(folder: &Path) -> Vec<String> {
    let mut errors = Vec::new();
    let mut note = |error: String| {
        assert!(error.len() < 500 && !error.contains('\n'), "one line: {error}");
        errors.push(error);
    };
    let archive = match Archive::open(folder) {
        Ok(archive) => archive,
        Err(error) => return vec![error.to_string()],
    };
    match archive.check() {
        Ok(report) => report.faults.into_iter().for_each(&mut note),
        Err(error) => note(error.to_string()),
    }
    let mut gathering = Gathering::new("p50 p99 steal machines by kernel".parse().unwrap(), Filter::default(), false);
    match archive.gather(&mut gathering) {
        Ok(gathered) => drop(gathered.map_err(|error| note(error.to_string()))),
        Err(error) => note(error.to_string()),
    }
    for statement in
        [views::PORTABLE, "SELECT count(*), max(kernel), max(facts), max(labels), max(name) FROM histograms"]
    {
        if let Err(error) = answer(&archive, statement) {
            note(error.to_string());
        }
    }
    errors
}

#[test]
#[ignore = "the next tests start it"]
fn reads_the_archive_that_is_named() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    use_all(&folder).iter().for_each(|error| println!("\nerror {error}"));
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    println!("\npeak {}", peak.trim().trim_end_matches(" kB"));
}

/// What reading says, in a process of its own, whose memory is compared with the limit.
fn read_apart(folder: &Path, what: &str) -> Vec<String> {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bombs::reads_the_archive_that_is_named", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{what}: {said}{}", String::from_utf8_lossy(&child.stderr));
    let peak = said.lines().find_map(|line| line.strip_prefix("peak ")).unwrap_or_default();
    if let Ok(peak) = peak.parse::<u64>() {
        assert!(peak <= MEMORY_KB_MAX, "{what}: {peak} kB; {said}");
        println!("{what}: {peak} kB");
    }
    assert!(!String::from_utf8_lossy(&child.stderr).contains("panicked"), "{what}: a panic is no message");
    said.lines().filter_map(|line| line.strip_prefix("error ")).map(str::to_owned).collect()
}

/// An archive of one row, and its file.
fn one() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let file = add(home.path(), [row(0, &values(0..40))]).remove(0);
    (home, file)
}

/// What a column of a bomb has, by its path in the schema: texts of a row, and how many values each row has.
struct Bomb<'a> {
    rows: usize,
    per_row: &'a dyn Fn(&str) -> usize,
    text: &'a dyn Fn(&str, usize) -> Vec<u8>,
}

impl Bomb<'_> {
    /// Writes it in the place of a file of an archive, by the same schema, as another program may.
    fn write(&self, path: &Path) {
        let like = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let schema = like.metadata().file_metadata().schema_descr().root_schema_ptr();
        drop(like);
        let properties = WriterProperties::builder()
            .set_created_by("oversleep-archive".to_owned())
            .set_compression(Compression::GZIP(GzipLevel::try_new(9).unwrap()))
            .set_dictionary_page_size_limit(3 << 20)
            .set_data_page_size_limit(3 << 20)
            .set_data_page_row_count_limit(1 << 24)
            .build();
        let file = File::create(path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
        let about: Vec<_> = writer.schema_descr().columns().to_vec();
        let mut group = writer.next_row_group().unwrap();
        for about in about {
            let path = about.path().string();
            let each = if about.max_rep_level() > 0 { (self.per_row)(&path) } else { 1 };
            let count = self.rows * each;
            let defined = vec![about.max_def_level(); count];
            let repeated: Vec<i16> = (0..count).map(|at| i16::from(at % each > 0)).collect();
            let levels = (Some(&defined[..]), Some(&repeated[..]));
            let mut column = group.next_column().unwrap().unwrap();
            match column.untyped() {
                ColumnWriter::BoolColumnWriter(writer) => writer.write_batch(&vec![true; count], levels.0, levels.1),
                ColumnWriter::Int32ColumnWriter(writer) => writer.write_batch(&vec![1; count], levels.0, levels.1),
                ColumnWriter::Int64ColumnWriter(writer) => {
                    let numbers: Vec<i64> = (0..count as i64).map(|at| at % 1_000).collect();
                    writer.write_batch(&numbers, levels.0, levels.1)
                }
                ColumnWriter::DoubleColumnWriter(writer) => writer.write_batch(&vec![1.0; count], levels.0, levels.1),
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    let texts: Vec<ByteArray> = (0..count).map(|at| (self.text)(&path, at).into()).collect();
                    writer.write_batch(&texts, levels.0, levels.1)
                }
                _ => unreachable!("no column has another type"),
            }
            .unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
    }
}

const USUAL: Bomb<'_> = Bomb { rows: 1, per_row: &|_| 1, text: &|_, _| b"a".to_vec() };

#[test]
fn files_that_unpack_to_gigabytes_take_128_mb_at_most() {
    let zeros = |_: &str, at: usize| -> Vec<u8> { if at == 0 { vec![b'0'; 2 << 20] } else { b"a".to_vec() } };
    let long = |_: &str, _: usize| -> Vec<u8> { vec![b'0'; 4_000] };
    let different = |_: &str, at: usize| at.to_string().into_bytes();
    let of_lists = |path: &str, list: &str, many: usize| if path.starts_with(list) { many } else { 1 };
    let bombs: [(&str, Bomb<'_>); 7] = [
        ("a text of 2 MB in each column", Bomb { text: &zeros, ..USUAL }),
        ("a text of 64 KB that 2,000 rows name", Bomb { rows: 2_000, text: &|_, _| vec![b'0'; 64 << 10], ..USUAL }),
        ("2,000 rows of texts of 4 KB", Bomb { rows: 2_000, text: &long, ..USUAL }),
        (
            "a map of 300,000 names",
            Bomb { per_row: &|path| of_lists(path, "facts", 300_000), text: &different, ..USUAL },
        ),
        ("a map of 300,000 equal names", Bomb { per_row: &|path| of_lists(path, "labels", 300_000), ..USUAL }),
        ("a million buckets of a row", Bomb { per_row: &|path| of_lists(path, "hi", 1 << 20), ..USUAL }),
        ("a million counts of a row", Bomb { per_row: &|path| of_lists(path, "n.", 1 << 20), ..USUAL }),
    ];
    for (what, bomb) in bombs {
        let (home, file) = one();
        bomb.write(&file);
        assert!(!read_apart(home.path(), what).is_empty(), "{what}: its rows can't be right");
    }
}

/// A file that ends with this list of contents.
fn with_contents(contents: &[u8]) -> Vec<u8> {
    let length = u32::try_from(contents.len()).unwrap().to_le_bytes();
    [&b"PAR1"[..], contents, &length, b"PAR1"].concat()
}

#[test]
fn lists_of_contents_that_state_more_than_there_is_are_refused_before_there_is_room_for_it() {
    // Thrift: field 1 is the version, then lists of structs with the most elements that their length can have.
    let endless: [u8; 6] = [0xfc, 0xff, 0xff, 0xff, 0xff, 0x07];
    let list = |field: u8, elements: &[u8]| [&[0x15, 0x02, (field - 1) << 4 | 0x09][..], elements].concat();
    let million = [&[0xfc, 0xc0, 0x84, 0x3d][..], &[0x48, 0x00, 0x00].repeat(1_000_000)].concat();
    for (what, contents) in [
        ("two billion elements of a schema", list(2, &endless)),
        ("a schema of a million", list(2, &million)),
        ("two billion row groups", list(4, &endless)),
        ("row groups without columns", list(4, &[&[0xfc, 0xc0, 0x84, 0x3d][..], &[0; 1_000_000]].concat())),
        ("a million names", list(5, &[&[0xfc, 0xc0, 0x84, 0x3d][..], &[0x18, 0, 0].repeat(1_000_000)].concat())),
        ("structs in structs for ever", vec![0x1c; 1 << 20]),
        ("lists in lists for ever", vec![0x19; 1 << 20]),
        ("nothing", Vec::new()),
    ] {
        let (home, file) = one();
        fs::write(&file, with_contents(&contents)).unwrap();
        let errors = read_apart(home.path(), what);
        assert!(!errors.is_empty(), "{what}");
        assert!(
            errors.iter().all(|error| error.contains("is damaged: ") && error.contains("restore it")),
            "{errors:?}"
        );
    }
}

/// A number that looks random (<https://prng.di.unimi.it/splitmix64.c>).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }
}

/// A file with a few places changed, most of them at its end, where its list of contents is.
fn damaged(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..=random.below(4) {
        let reach = if random.below(3) == 0 { bytes.len() } else { bytes.len().min(6_000) };
        let at = bytes.len() - 1 - random.below(reach);
        match random.below(7) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 => bytes[at] = [0, 0x7f, 0x80, 0xff][random.below(4)],
            3 => bytes.truncate(at.max(16)),
            4 => {
                let some: Vec<u8> = bytes[at..(at + random.below(40)).min(bytes.len())].to_vec();
                let place = random.below(bytes.len());
                bytes.splice(place..place, some);
            }
            5 => drop(bytes.splice(at..(at + 1 + random.below(8)).min(whole.len().min(bytes.len())), [0xff; 5])),
            _ => drop(bytes.splice(at..at, [0xff, 0xff, 0xff, 0xff, 0x0f])),
        }
    }
    bytes
}

#[test]
#[ignore = "the next test starts it"]
fn reads_damaged_files() {
    let Some(many) = std::env::var(DAMAGED).ok().and_then(|many| many.parse().ok()) else { return };
    let home = tempfile::tempdir().unwrap();
    let file = add(home.path(), (0..5).map(|number| row(number, &values(0..200)))).remove(0);
    let whole = fs::read(&file).unwrap();
    let (mut random, mut refused) = (Random(7), 0_u64);
    for number in 0..many {
        let bytes = damaged(&whole, &mut random);
        fs::write(&file, &bytes).unwrap();
        // What this one did is found by its number.
        fs::write(home.path().join("_number"), format!("{number}")).unwrap();
        let errors = use_all(home.path());
        refused += u64::from(!errors.is_empty());
        for error in errors {
            let is_clear =
                error.contains("is damaged: ") || error.contains("was not written by") || error.contains(": ");
            assert!(is_clear, "{number}: {error}");
        }
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    println!("\n{refused} of {many} refused\npeak {}", peak.trim().trim_end_matches(" kB"));
}

#[test]
fn damaged_files_are_read_or_refused_whatever_is_damaged() {
    let many = std::env::var(DAMAGED).unwrap_or_else(|_| "300".to_owned());
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bombs::reads_damaged_files", "--ignored", "--nocapture"])
        .env(DAMAGED, &many)
        .output()
        .unwrap();
    let (said, error) = (String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    assert!(child.status.success() && !error.contains("panicked"), "{said}{error}");
    let refused = said.lines().find(|line| line.ends_with("refused")).unwrap();
    println!("{refused}");
    let peak = said.lines().find_map(|line| line.strip_prefix("peak ")).unwrap_or_default();
    assert!(peak.parse::<u64>().is_ok_and(|peak| peak <= MEMORY_KB_MAX) || peak.is_empty(), "{peak} kB");
}

#[test]
fn an_error_names_the_file_and_what_to_do() {
    let (home, file) = one();
    fs::write(&file, with_contents(&[0x15, 0x02, 0x00])).unwrap();
    let error = Archive::open(home.path())
        .unwrap()
        .rows(&Archive::open(home.path()).unwrap().files(&Filter::default()).unwrap());
    let error = error.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    let words = error.to_string();
    assert!(words.starts_with(&format!("'{}' is damaged: ", file.display())), "{words}");
}
