//! A command that serves, and requests to it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

/// A process that ends with this.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

/// Waits as long as it takes, up to what only a hang needs.
pub fn until(what: &str, is_so: impl Fn() -> Result<bool, String>) -> Result<(), String> {
    for _ in 0..1_200 {
        if is_so()? {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(250));
    }
    Err(format!("{what} never came"))
}

pub fn get(address: &str, path: &str) -> Result<(String, Vec<u8>), String> {
    let fails = |error: std::io::Error| format!("http://{address}{path}: {error}");
    let mut stream = TcpStream::connect(address).map_err(fails)?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").map_err(fails)?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).map_err(fails)?;
    let end =
        bytes.windows(4).position(|four| four == b"\r\n\r\n").ok_or(format!("http://{address}{path}: no head"))?;
    Ok((String::from_utf8_lossy(&bytes[..end]).into_owned(), bytes[end + 4..].to_vec()))
}
