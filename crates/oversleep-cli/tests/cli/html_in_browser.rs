//! The page in a real browser: the document is complete, and there are no complaints and no requests.
//!
//! Skipped, with the reason, where there is no Chromium; `OVERSLEEP_REQUIRE_BROWSER=1` makes that a failure.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use oversleep_record::ResultFile;
use oversleep_report::view::testing;

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    BROWSERS.iter().flat_map(|name| places.iter().map(move |place| place.join(name))).find(|program| program.is_file())
}

/// The browser's view of a page.
struct Seen {
    dom: String,
    log: String,
    net: String,
}

fn open(browser: &Path, page: &Path, scratch: &Path) -> Seen {
    let file = |name: &str| scratch.join(name);
    let create = |name: &str| Stdio::from(File::create(file(name)).expect("scratch is writable"));
    Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--enable-logging=stderr", "--host-resolver-rules=MAP * ~NOTFOUND"])
        .arg(format!("--user-data-dir={}", file("profile").display()))
        .arg(format!("--log-net-log={}", file("net.json").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(create("dom.html"))
        .stderr(create("log.txt"))
        .status()
        .expect("the browser starts");
    let read = |name: &str| String::from_utf8_lossy(&fs::read(file(name)).unwrap_or_default()).into_owned();
    Seen { dom: read("dom.html"), log: read("log.txt"), net: read("net.json") }
}

fn rendered(result: &ResultFile, scratch: &Path) -> PathBuf {
    let (data, page) = (scratch.join("result.json"), scratch.join("page.html"));
    fs::write(&data, result.write()).expect("scratch is writable");
    let made = Command::new(env!("CARGO_BIN_EXE_oversleep"))
        .arg("report")
        .arg(&data)
        .arg("--html")
        .arg(&page)
        .output()
        .expect("oversleep starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    page
}

#[test]
fn a_browser_shows_everything_and_asks_for_nothing() {
    let Some(browser) = browser() else {
        let why = format!("no browser: none of {} is on the PATH", BROWSERS.join(", "));
        assert!(std::env::var_os("OVERSLEEP_REQUIRE_BROWSER").is_none_or(|value| value != "1"), "{why}");
        return oversleep_testing::skip(why);
    };
    for (name, result) in [("rich", testing::rich().file), ("hostile", testing::hostile())] {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let seen = open(&browser, &rendered(&result, scratch.path()), scratch.path());
        for id in ["findings", "pictures", "measurements", "method", "machine", "result"] {
            assert!(seen.dom.contains(&format!("id=\"{id}\"")), "{name}: {id} is not in the document\n{}", seen.log);
        }
        // Unknown labels can't distinguish series, so the hostile page lacks the pictures that compare by them.
        let by_labels: &[&str] = if name == "rich" { &["two-clocks", "fork-join"] } else { &[] };
        for picture in ["percentiles", "split", "clock-cost"].iter().chain(by_labels) {
            assert!(seen.dom.contains(&format!("id=\"picture-{picture}\"")), "{name}: {picture}");
        }
        // Checks the parsed elements: the hostile texts must all have stayed texts.
        assert!(!seen.dom.contains("<img") && !seen.dom.contains("<script>"), "{name}: a text became an element");
        assert_eq!(seen.dom.matches("<script").count(), 1, "{name}");
        assert!(!seen.log.contains("CONSOLE"), "{name}: {}", seen.log);
        assert!(!seen.net.is_empty(), "{name}: the browser kept no log of its requests");
        assert!(!seen.net.contains("evil.invalid"), "{name}: the page asked for something");
    }
}
