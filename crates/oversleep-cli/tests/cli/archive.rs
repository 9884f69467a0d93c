//! `archive`, from adding results to asking about them; and what a command says that was built without it.

use std::fs;

use oversleep_record::ResultFile;

use super::support::{Home, SHORT};

/// Whether this command has archives.
const HAS_ARCHIVES: bool = cfg!(feature = "archive");

#[test]
fn a_command_without_archives_says_how_to_get_one_that_has_them() {
    if HAS_ARCHIVES {
        return;
    }
    for args in [
        &["archive", "add", "fleet", "r.json"][..],
        &["archive", "query", "fleet", "p50"],
        &["archive", "report", "fleet"],
        &["archive", "sql", "fleet", ".help"],
        &["archive", "compact", "fleet"],
        &["archive", "check", "fleet"],
    ] {
        let run = Home::new().run(args).with_code(1);
        assert!(run.stderr.contains("`cargo install oversleep-cli --features archive` builds one"), "{}", run.stderr);
    }
}

#[test]
fn views_need_no_archive() {
    for (engine, words) in [
        ("duckdb", "read_parquet("),
        ("clickhouse", "ARRAY JOIN"),
        ("spark", "inline(arrays_zip(hi, n))"),
        ("trino", "CROSS JOIN UNNEST(hi, n)"),
        ("datafusion", "CREATE EXTERNAL TABLE histograms"),
    ] {
        let text = Home::new().run(["archive", "views", engine, "--dir", "/data/a"]).fine().stdout;
        assert!(text.contains(words) && text.contains("/data/a") && text.contains("GROUP BY kernel"), "{text}");
        assert!(text.starts_with("-- ") && text.contains("fleet.sql"), "where to paste it: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    let home = Home::new();
    let trino = home.run(["archive", "views", "trino"]).fine().stdout;
    assert!(trino.contains("'local:///") && trino.contains("/fleet',"), "a server takes whole paths: {trino}");
    let unknown = home.run(["archive", "views", "sparc"]).with_code(2);
    assert!(unknown.stderr.contains("spark"), "{}", unknown.stderr);
}

/// A home with an archive of two machines.
fn furnished() -> Home {
    let home = Home::new();
    home.run(SHORT.iter().chain(&["--out", "web-1.json"])).fine();
    home.run(["waits", "thread-sleep", "--request", "1ms", "--count", "5", "--out", "web-2.json"]).fine();
    home.run(["archive", "add", "fleet", "web-1.json", "web-2.json", "--by-file"]).fine();
    home
}

#[test]
fn results_are_added_once_and_answer_questions() {
    if !HAS_ARCHIVES {
        return oversleep_testing::skip("this command was built without the feature `archive`");
    }
    let home = furnished();
    let again = home.run(["archive", "add", "fleet", "web-1.json", "--machine", "web-1"]).fine();
    assert_eq!(again.stdout, "Added 0 results: 0 rows in 0 files, 1 result known already.\n");
    assert!(again.stderr.contains("'web-1.json' is in the archive already; nothing was added"), "{}", again.stderr);
    let table = home.run(["archive", "query", "fleet", "count p50 by machine"]).fine().stdout;
    assert!(table.contains("web-1") && table.contains("web-2") && table.contains("p50"), "{table}");
    assert!(table.starts_with("machine "), "as it was asked: {table}");
    assert!(table.find("web-1").unwrap() < table.find("web-2").unwrap(), "by name: {table}");
    let csv = home.run(["archive", "query", "fleet", "machines", "--where", "since=1d", "--csv"]).fine().stdout;
    assert!(csv.starts_with("machines\r\n2\r\n"), "{csv}");
    let json = home.run(["archive", "query", "fleet", "rows by machine", "--json"]).fine().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["rows"][0]["rows"], 1, "{json}");
    let sql = "SELECT count(DISTINCT source) AS machines, sum(bucket_n) > 0 AS has_values FROM buckets";
    let rows = home.run(["archive", "sql", "fleet", sql, "--csv"]).fine().stdout;
    assert_eq!(rows, "machines,has_values\r\n2,1\r\n");
    assert!(home.run(["archive", "compact", "fleet"]).fine().stdout.starts_with("Nothing to merge: 1 file"));
    let check = home.run(["archive", "check", "fleet"]).fine().stdout;
    assert!(check.contains("nothing is wrong"), "{check}");
    let folder = home.path().join("fleet");
    let day = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    let file = fs::read_dir(day).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let check = home.run(["archive", "check", "fleet"]).with_code(3).stdout;
    assert!(check.contains("restore it from a copy"), "{check}");
}

#[test]
fn the_hours_that_serve_writes_are_added_under_the_name_it_serves_under() {
    if !HAS_ARCHIVES {
        return oversleep_testing::skip("this command was built without the feature `archive`");
    }
    let home = Home::new();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--for", "1500ms", "--quiet", "--name", "web-17", "--hourly", "h"];
    (0..2).for_each(|_| _ = home.run(serve).fine());
    let paths = fs::read_dir(home.path().join("h")).unwrap().map(|entry| entry.unwrap().path());
    let paths: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    let add = ["archive", "add", "fleet"].into_iter().chain(paths.iter().map(String::as_str));
    let added = home.run(add.clone()).fine().stdout;
    let (hours, rows) = (paths.len(), 2 * paths.len());
    assert!(added.starts_with(&format!("Added {hours} results: {rows} rows in ")), "{added}");
    let again = home.run(add).fine().stdout;
    assert!(again.contains(&format!("{hours} results known already")), "{again}");
    let of_file = |path: &String| ResultFile::read(&fs::read(path).unwrap()).unwrap();
    let short: u64 = paths.iter().map(|path| of_file(path).series[0].counts.recorded).sum();
    let query = ["archive", "query", "fleet", "count by machine", "--where", "request=1ms", "--csv"];
    let answer = home.run(query).fine().stdout;
    assert!(answer.contains("web-17") && answer.contains(&format!("{short}\r\n")), "{short}: {answer}");
    assert_eq!(answer.lines().count(), 2, "{answer}");
}

#[test]
fn a_report_says_what_it_lacks_and_is_a_page() {
    if !HAS_ARCHIVES {
        return oversleep_testing::skip("this command was built without the feature `archive`");
    }
    let home = furnished();
    let text = home.run(["archive", "report", "fleet"]).fine().stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("one can be unlike its group only among 10 or more"), "{text}");
    assert!(text.contains("The rows are of 1 day."), "{text}");
    assert!(text.contains("There is not enough to compare yet") && !text.contains("not found"), "{text}");
    home.run(["archive", "report", "fleet", "--html", "fleet.html", "--quiet"]).fine();
    let page = fs::read_to_string(home.path().join("fleet.html")).unwrap();
    assert!(page.contains("not enough to compare yet") && !page.contains("<script"), "{page}");
    let wrong = home.run(["archive", "report", "fleet", "--where", "wiat=nanosleep"]).with_code(2);
    assert!(wrong.stderr.contains("wait"), "{}", wrong.stderr);
}

#[test]
fn mistakes_are_answered_with_what_was_probably_meant() {
    if !HAS_ARCHIVES {
        return oversleep_testing::skip("this command was built without the feature `archive`");
    }
    let home = furnished();
    for (args, words) in [
        (&["archive", "query", "fleet", "p50 by kernl"][..], "did you mean 'kernel'?"),
        (&["archive", "query", "fleet", "p50", "--where", "wait"], "'wait' is no test"),
        (&["archive", "sql", "fleet", "DROP TABLE buckets"], "only SELECT is allowed"),
        (&["archive", "sql", "fleet", "SELECT a FROM histograms"], "no such column: a"),
    ] {
        let run = home.run(args).with_code(2);
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
    let nothing = home.run(["archive", "query", "nowhere", "p50"]).with_code(1);
    assert!(
        nothing.stderr.contains("'nowhere' is no archive; `oversleep archive add` makes one"),
        "{}",
        nothing.stderr
    );
    let other = home.run(["archive", "add", ".", "web-1.json"]).with_code(1);
    assert!(other.stderr.contains("holds other files"), "{}", other.stderr);
}

/// The bytes of a file of two rows with another number of rows in its list of contents.
fn stating(bytes: &[u8], rows: u64) -> Vec<u8> {
    // Thrift, by parquet.thrift: field 3 is the number of rows (twice as much, seven bits a byte), field 4 the row groups.
    let (two, groups) = ([0x16, 0x04], 0x19);
    let at = bytes.windows(3).rposition(|part| part[..2] == two && part[2] == groups).expect("it has two rows");
    let (mut rest, mut number) = (rows * 2, vec![0x16]);
    while rest >= 0x80 {
        number.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    number.push(rest as u8);
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize + number.len() - 2;
    [&bytes[..at], &number, &bytes[at + 2..end], &(length as u32).to_le_bytes(), b"PAR1"].concat()
}

#[test]
fn above_20_million_rows_a_command_names_the_engine_and_prints_its_views() {
    if !HAS_ARCHIVES {
        return oversleep_testing::skip("this command was built without the feature `archive`");
    }
    let home = furnished();
    let folder = home.path().join("fleet");
    let day = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    let file = fs::read_dir(day).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&file).unwrap();
    let commands: [&[&str]; 3] = [
        &["archive", "query", "fleet", "p50"],
        &["archive", "report", "fleet"],
        &["archive", "sql", "fleet", "SELECT count(*) AS total FROM histograms"],
    ];
    fs::write(&file, stating(&bytes, 20_000_000)).unwrap();
    commands.iter().for_each(|args| drop(home.run(*args).fine()));
    fs::write(&file, stating(&bytes, 20_000_001)).unwrap();
    for args in commands {
        let said = home.run(args.iter().copied().chain(["--quiet"])).with_code(2).stderr;
        assert!(said.starts_with("error: 20,000,001 rows are more than this command should read"), "{said}");
        assert!(said.contains("--here answers here\nCREATE VIEW histograms AS\n"), "{said}");
        assert!(said.contains("'fleet/*/*.parquet'"), "{said}");
        home.run(args.iter().copied().chain(["--here"])).fine();
    }
}
