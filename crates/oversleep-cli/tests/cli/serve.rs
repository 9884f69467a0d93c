//! What is served and pushed. Nothing here looks at how late a wait was.

use std::io::{Read, Write};
use std::net::TcpListener;

use oversleep_record::ResultFile;

use super::support::{Home, Served};

#[test]
fn metrics_and_a_result_are_served_and_tell_no_names() {
    let home = Home::new();
    let served = Served::start(&home, &["--name", "my-own-name"], &[]);
    let (head, body) = served.get("/metrics");
    let text = String::from_utf8(body).expect("text");
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    for name in ["oversleep_wait_lateness_seconds_count", "oversleep_rate_hz", "oversleep_machine_info{os="] {
        assert!(text.contains(name), "{name}: {text}");
    }
    let series = text.lines().filter(|line| !line.starts_with('#')).count();
    assert!(series <= 60, "{series}: {text}");
    let home_of_user = std::env::var("HOME").unwrap_or("/nowhere".to_owned());
    let temporary = home.path().to_string_lossy().into_owned();
    for private in ["my-own-name", &temporary, home_of_user.as_str()] {
        assert!(private == "/" || !text.contains(private), "{private}: {text}");
    }
    let (_, body) = served.get("/result.json");
    let file = ResultFile::read(&body).expect("a result");
    assert_eq!((file.command.as_str(), file.name.as_deref()), ("serve", Some("my-own-name")));
    assert_eq!(file.series.len(), 2);
    let (_, lines) = served.get("/watch.jsonl");
    assert!(lines.starts_with(b"{"), "{}", String::from_utf8_lossy(&lines));
    assert!(served.get("/nosuch").0.starts_with("HTTP/1.1 404"));
}

#[test]
fn metrics_are_pushed_where_the_environment_says() {
    let home = Home::new();
    let receiver = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let base = format!("http://{}", receiver.local_addr().expect("bound"));
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", base.as_str()), ("OTEL_METRIC_EXPORT_INTERVAL", "100")];
    let _served = Served::start(&home, &[], &variables);
    let (mut stream, _) = receiver.accept().expect("it pushes");
    let mut bytes = Vec::new();
    let mut part = [0; 4_096];
    let has = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    // The last of what is pushed.
    while !has(&bytes, "oversleep_build_info") {
        let read = stream.read(&mut part).expect("it writes");
        assert!(read > 0, "{}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&part[..read]);
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").expect("it reads");
    assert!(bytes.starts_with(b"POST /v1/metrics HTTP/1.1\r\n"), "{}", String::from_utf8_lossy(&bytes));
    for text in ["application/x-protobuf", "oversleep_wait_lateness", "service.name"] {
        assert!(has(&bytes, text), "{text}");
    }
}

#[test]
fn the_last_hour_is_a_result_where_a_file_is_named() {
    let home = Home::new();
    let ended = home.run(["serve", "--listen", "127.0.0.1:0", "--for", "300ms", "--out", "r.json", "--quiet"]).fine();
    assert_eq!(ended.stdout, "");
    let file = ResultFile::read(&std::fs::read(home.path().join("r.json")).expect("written")).expect("a result");
    assert_eq!((file.command.as_str(), file.series.len()), ("serve", 2));
    home.run(["report", "r.json"]).fine();
}

#[test]
fn what_cannot_be_served_is_said_before_anything_is_sampled() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let taken = taken.local_addr().map(|address| (taken, address.to_string())).expect("bound");
    for (args, code, says) in [
        (&["--listen", "9899"][..], 2, "write an address and a port"),
        (&["--listen", &taken.1], 1, "name another port by --listen"),
        (&["--wait", "nosuch"], 2, "there is no wait 'nosuch' here"),
        (&["--otlp", "https://a/v1/metrics"], 2, "only http is spoken"),
        (&["--otlp", "a:4318"], 2, "is no URL"),
        (&["--cpus", "0-8"], 2, "more than 8 samplers"),
        (&["--cpus", "8191"], 2, "--cpus 8191"),
    ] {
        let ended = home.run(["serve"].iter().chain(args));
        assert_eq!(ended.code, Some(code), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn another_machine_is_watched_by_its_address_and_its_result_is_kept() {
    let home = Home::new();
    let served = Served::start(&home, &["--name", "db-3"], &[]);
    let url = format!("http://{}", served.address);
    // `serve` says this one.
    let metrics = format!("{url}/metrics");
    let ended = home.run(["watch", &metrics, "--for", "1100ms", "--json-lines", "--out", "r.json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.lines().any(|line| line.starts_with(r#"{"event":"second""#)), "{}", ended.stdout);
    let file = ResultFile::read(&std::fs::read(home.path().join("r.json")).expect("written")).expect("a result");
    assert_eq!((file.command.as_str(), file.name.as_deref()), ("serve", Some("db-3")));
    drop(served);
    for (args, code, says) in [
        (&["watch", url.as_str()][..], 1, "/watch.jsonl: "),
        (&["watch", url.as_str()], 1, "; start `oversleep serve` there, or the tunnel to it"),
        (&["watch", "localhost:9899"], 2, "a machine is watched by http://localhost:9899"),
        (&["watch", "http:///metrics"], 2, "only http is spoken"),
        (&["watch", &url, "--by", "kernel"], 2, "--by is about this machine's kernel"),
        (&["watch", "https://a:9899"], 2, "only http is spoken; use a tunnel"),
        (&["watch", &url, "--request", "2ms"], 2, "the machine that serves chooses the request"),
    ] {
        let ended = home.run(args);
        assert_eq!(ended.code, Some(code), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn what_was_served_up_to_the_end_is_a_file_of_its_hour() {
    let home = Home::new();
    home.run(["serve", "--listen", "127.0.0.1:0", "--for", "1500ms", "--quiet", "--hourly", "hours"]).fine();
    let files: Vec<_> = std::fs::read_dir(home.path().join("hours")).expect("made").flatten().collect();
    // Two where an hour ended meanwhile.
    assert!(matches!(files.len(), 1 | 2), "{files:?}");
    let file = ResultFile::read(&std::fs::read(files[0].path()).expect("written")).expect("a result");
    assert!(file.command == "serve" && file.series[0].counts.recorded > 0);
}

#[test]
fn what_serves_something_else_is_said() {
    let home = Home::new();
    let other = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let url = format!("http://{}", other.local_addr().expect("bound"));
    let answer = std::thread::spawn(move || {
        let (mut stream, _) = other.accept().expect("it connects");
        let mut part = [0; 1_024];
        let _ = stream.read(&mut part);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>").expect("it reads");
    });
    let ended = home.run(["watch", &url]).with_code(1);
    answer.join().expect("no panic");
    assert!(ended.stderr.contains("doesn't serve what `oversleep serve` does"), "{}", ended.stderr);
}
