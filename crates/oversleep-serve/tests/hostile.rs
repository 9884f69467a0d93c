//! Requests that mean no good. Each connection ends, the server answers the next one, and nothing panics.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use oversleep_serve::metrics::Family;
use oversleep_serve::routes::Source;
use oversleep_serve::server::{CONNECTIONS_MAX, Server};

/// A result that is larger than what sockets buffer.
const LARGE: usize = 8 << 20;

struct Fixed;

impl Source for Fixed {
    fn families(&self) -> Vec<Family> {
        Vec::new()
    }
    fn start_s(&self) -> f64 {
        0.0
    }
    fn result(&self) -> Vec<u8> {
        vec![b' '; LARGE]
    }
    fn lines(&self) -> String {
        String::new()
    }
    fn about(&self) -> String {
        String::new()
    }
}

fn server() -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    Server::start(listener, Arc::new(Fixed)).expect("a thread")
}

fn connected(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    // Not a bound: where nothing answers, the test ends with an error instead of never.
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    stream
}

/// What comes back; a connection that is reset brings nothing.
fn answer(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => panic!("no end: {error}"),
        _ => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

fn answer_to(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = connected(address);
    let _ = stream.write_all(request);
    answer(stream)
}

/// A client that is told to come back does so.
fn healthy(address: SocketAddr) {
    loop {
        let told = answer_to(address, b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
        if told.starts_with("HTTP/1.1 200 OK") && told.ends_with("ok\n") {
            return;
        }
        assert!(told.is_empty() || told.starts_with("HTTP/1.1 503"), "{told}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn hostile_requests_are_refused_and_the_next_one_is_answered() {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        hook(info);
    }));
    let server = server();
    let address = server.address();
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let huge = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(100_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(5_000));
    let turns = std::env::var("OVERSLEEP_INPUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_500_u32);
    for turn in 0..turns {
        match turn % 10 {
            0 => drop(connected(address)),
            1 => _ = connected(address).shutdown(Shutdown::Write),
            2 => {
                // Half of a request, and the client is gone.
                let _ = connected(address).write_all(b"GET /metr");
            }
            3 => {
                let bytes: Vec<u8> = (0..random() % 9_000).map(|_| random() as u8).collect();
                let mut stream = connected(address);
                let _ = stream.write_all(&bytes);
                let _ = stream.shutdown(Shutdown::Write);
                let told = answer(stream);
                assert!(!told.starts_with("HTTP/1.1 200"), "{told}");
            }
            4 => assert!(!answer_to(address, huge.as_bytes()).starts_with("HTTP/1.1 2")),
            5 => assert!(!answer_to(address, many.as_bytes()).starts_with("HTTP/1.1 2")),
            6 => {
                let told = answer_to(address, b"POST /metrics HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd");
                assert!(
                    told.is_empty() || told.starts_with("HTTP/1.1 405") || told.starts_with("HTTP/1.1 503"),
                    "{told}"
                );
            }
            7 => {
                // Requests in a row: one is answered.
                let told = answer_to(address, &b"GET /healthz HTTP/1.1\r\n\r\n".repeat(50));
                assert!(told.matches("HTTP/1.1 ").count() <= 1, "{told}");
            }
            8 => {
                // Nobody reads the answer.
                let _ = connected(address).write_all(b"GET /result.json HTTP/1.1\r\n\r\n");
            }
            _ => healthy(address),
        }
    }
    healthy(address);
    drop(server);
    assert_eq!(PANICS.load(Ordering::Relaxed), 0);
    assert!(TcpStream::connect(address).is_err(), "nothing listens any more");
}

#[test]
fn slow_clients_keep_nobody_out_and_are_told_so_as_long_as_there_is_room() {
    let server = server();
    let slow: Vec<TcpStream> = (0..CONNECTIONS_MAX)
        .map(|_| {
            let mut stream = connected(server.address());
            stream.write_all(b"GET /metrics HTTP/1.1\r\n").expect("it listens");
            stream
        })
        .collect();
    // They hold all connections, and the oldest one makes room.
    let told = answer_to(server.address(), b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(told.starts_with("HTTP/1.1 200"), "{told}");
    let told: Vec<String> = slow.into_iter().map(answer).collect();
    assert_eq!(told[0], "", "it was closed");
    assert!(told[1..].iter().all(|told| told.starts_with("HTTP/1.1 408")), "{told:?}");
}

#[test]
fn a_large_answer_arrives_whole() {
    let server = server();
    let told = answer_to(server.address(), b"GET /result.json HTTP/1.1\r\n\r\n");
    let body = told.split_once("\r\n\r\n").expect("a head").1;
    assert_eq!(body.len(), LARGE);
}
