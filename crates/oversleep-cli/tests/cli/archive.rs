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
        (&["archive", "query", "fleet", "p50", "--where", "wait=thread-slep"], "did you mean 'thread-sleep'?"),
        (
            &["archive", "query", "fleet", "p50", "--where", "machine=wbe-1"],
            "did you mean 'web-1'? The values are web-1, web-2",
        ),
        (&["archive", "report", "fleet", "--where", "host=web-3"], "no row has host=web-3"),
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

#[test]
fn a_selection_says_what_it_has_not_and_selects_what_tables_show() {
    if !HAS_ARCHIVES {
        return oversleep_testing::skip("this command was built without the feature `archive`");
    }
    let home = furnished();
    let ask = |tests: &str| home.run(["archive", "query", "fleet", "rows", "--where", tests, "--mixed", "--csv"]);
    for tests in ["conditions='as found'", "runtime=unknown", "request='1 ms'", "fact.none=unknown"] {
        let run = ask(tests).fine();
        assert!(run.stdout.starts_with("rows\r\n2\r\n"), "{tests}: {}", run.stdout);
        assert_eq!(run.stderr, "", "{tests}");
    }
    let some = ask("machine=web-1,web-7").fine();
    assert!(some.stderr.contains("no row has machine=web-7; did you mean 'web-"), "{}", some.stderr);
    let none = home.run(["archive", "query", "fleet", "p50", "--where", "until=2001-01-01"]).fine().stdout;
    assert!(none.starts_with("No rows.\n\nNo row passes all tests of --where 'until=2001-01-01'."), "{none}");
    let report = home.run(["archive", "report", "fleet", "--where", "until=2001-01-01"]).fine();
    assert!(report.stderr.contains("No row passes all tests"), "{}", report.stderr);
}

#[test]
fn a_terminal_gets_the_beginning_of_a_long_answer_and_documents_get_all_of_it() {
    if !HAS_ARCHIVES {
        return oversleep_testing::skip("this command was built without the feature `archive`");
    }
    let home = Home::new();
    home.run(["check", "--quick", "--on", "linux-hz250", "--quiet", "--out", "check.json"]).fine();
    home.run(["archive", "add", "fleet", "check.json", "--quiet"]).fine();
    let ask =
        |more: &[&str]| home.run(["archive", "query", "fleet", "p50 p99 count by os"].iter().chain(more)).fine().stdout;
    let text = ask(&[]);
    assert!(text.lines().count() < 60, "{text}");
    let first = text.lines().nth(1).unwrap_or_default();
    assert!(first.contains("1 ms") && !text.contains("cost"), "lateness as found first: {text}");
    let (_, tests) = text.split_once("more lines: --csv has all, or choose with --where '").expect("what is left out");
    let (tests, after) = tests.split_once("'.").expect("tests");
    assert!(after.contains("These lines are all of quantity lateness"), "{text}");
    let chosen = ask(&["--where", tests]);
    assert!(chosen.contains(&tests[5..tests.find(' ').unwrap()]) && !chosen.contains("more lines"), "{chosen}");
    assert!(ask(&["--csv"]).lines().count() > 60);
}

/// The last hour of a sampler as `serve` answers with it, so long after it was furnished.
fn last_hour(home: &Home, name: &str, after_s: i64) {
    let text = fs::read(home.path().join("web-2.json")).unwrap();
    let mut file = ResultFile::read(&text).unwrap();
    file.command = "serve".to_owned();
    file.name = Some("web-1".to_owned());
    file.taken_unix_s = file.taken_unix_s.map(|taken| taken + after_s);
    file.duration_ns = oversleep_record::Nanos::from_millis(3_600_000);
    let mut pauses = file.series[0].clone();
    pauses.requested_ns = None;
    pauses.key = pauses.key.word("pause");
    file.series.push(pauses);
    fs::write(home.path().join(name), file.write()).unwrap();
}

#[test]
fn an_hour_that_is_collected_twice_counts_once() {
    if !HAS_ARCHIVES {
        return oversleep_testing::skip("this command was built without the feature `archive`");
    }
    let home = furnished();
    for (name, after_s, words) in [
        ("web-1.json", 0, "Added 1 result: 2 rows in 1 file.\n"),
        ("web-1.json", 1_500, "Added 0 results: 0 rows in 0 files, 1 result of hours that are there already.\n"),
        ("web-1.json", 3_600, "Added 1 result: 2 rows in 1 file.\n"),
    ] {
        last_hour(&home, name, after_s);
        let added = home.run(["archive", "add", "hours", name, "--by-file"]).fine();
        assert_eq!(added.stdout, words, "{after_s}: {}", added.stderr);
        let is_said = added.stderr.contains("the archive has 35 min of these from 'web-1' already; nothing was added");
        assert_eq!(is_said, after_s == 1_500, "{}", added.stderr);
    }
}

#[test]
fn a_machine_has_a_name_in_one_line_and_one_that_contradicts_its_file_is_said() {
    if !HAS_ARCHIVES {
        return oversleep_testing::skip("this command was built without the feature `archive`");
    }
    let home = furnished();
    last_hour(&home, "web-9.json", 0);
    let other = home.run(["archive", "add", "named", "web-9.json", "--by-file"]).fine().stderr;
    let words =
        "1 result names another machine than the one it is added as; the first is 'web-9.json', which says 'web-1'";
    assert!(other.contains(words), "{other}");
    for name in ["", " ", "web\n1"] {
        let refused = home.run(["archive", "add", "named", "web-2.json", "--machine", name]).with_code(1);
        assert!(refused.stderr.contains("can't be the name of a machine"), "{}", refused.stderr);
    }
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
