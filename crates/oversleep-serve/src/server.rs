//! Answers over plain HTTP: a thread for each of a few connections, which are short. No keep-alive, no TLS, no bodies.
//! Where all of them are taken, the oldest one that isn't being answered makes room: clients that connect and say nothing
//! keep nobody out.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::request::{self, HEAD_MAX};
use crate::routes::{self, Answer, Source};

/// The most connections at a time.
pub const CONNECTIONS_MAX: usize = 8;
/// The most threads: one that was closed takes a moment to end.
const THREADS_MAX: usize = 2 * CONNECTIONS_MAX;
/// How long a client may take for its request, and again for the answer.
pub const TIME_MAX: Duration = Duration::from_secs(2);
/// How long what follows a request is read, so that the answer isn't lost with it.
const LINGER: Duration = Duration::from_millis(200);
const LINGER_BYTES_MAX: usize = 64 * 1024;
/// How long the end waits for answers under way.
const LAST_ANSWERS: Duration = Duration::from_millis(50);

/// A server that runs.
pub struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    active: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

/// A connection that lasts.
struct Open {
    stream: TcpStream,
    /// Whether its request is being answered.
    is_answered: AtomicBool,
}

/// All of them, the oldest first.
#[derive(Default)]
struct Connections(Mutex<Vec<Arc<Open>>>);

impl Connections {
    fn list(&self) -> MutexGuard<'_, Vec<Arc<Open>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a connection in if there is room, or if one can be closed for it.
    fn take(&self, stream: &TcpStream) -> Option<Arc<Open>> {
        let mut list = self.list();
        if list.len() >= CONNECTIONS_MAX {
            let oldest = list.iter().position(|open| !open.is_answered.load(Ordering::Acquire))?;
            // Its thread reads the end of the stream, and ends.
            let _ = list.remove(oldest).stream.shutdown(Shutdown::Both);
        }
        let open = Arc::new(Open { stream: stream.try_clone().ok()?, is_answered: AtomicBool::new(false) });
        list.push(Arc::clone(&open));
        Some(open)
    }

    fn remove(&self, open: &Arc<Open>) {
        self.list().retain(|other| !Arc::ptr_eq(other, open));
    }
}

/// Counts a connection while its thread lasts.
struct Active {
    count: Arc<AtomicUsize>,
    connections: Arc<Connections>,
    open: Option<Arc<Open>>,
}

impl Drop for Active {
    fn drop(&mut self) {
        if let Some(open) = &self.open {
            self.connections.remove(open);
        }
        self.count.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Server {
    /// Answers from a thread of its own until it is dropped.
    ///
    /// # Errors
    /// The address isn't known, or no thread can start.
    pub fn start(listener: TcpListener, source: Arc<dyn Source>) -> io::Result<Server> {
        let address = listener.local_addr()?;
        let (is_over, active) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (over, count) = (Arc::clone(&is_over), Arc::clone(&active));
        let thread = thread::Builder::new()
            .name("server".to_owned())
            .spawn(move || accept(&listener, &source, &over, &count))?;
        Ok(Server { address, is_over, active, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // `accept` has no time limit; a connection ends it.
        let mut own = self.address;
        if own.ip().is_unspecified() {
            own.set_ip(match own {
                SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
                SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
            });
        }
        let is_woken = TcpStream::connect_timeout(&own, LAST_ANSWERS).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| is_woken) {
            let _ = thread.join();
        }
        let began = Instant::now();
        while self.active.load(Ordering::Acquire) > 0 && began.elapsed() < LAST_ANSWERS {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn accept(listener: &TcpListener, source: &Arc<dyn Source>, is_over: &AtomicBool, active: &Arc<AtomicUsize>) {
    let connections = Arc::new(Connections::default());
    loop {
        let accepted = listener.accept();
        if is_over.load(Ordering::Acquire) {
            return;
        }
        let stream = match accepted {
            Ok((stream, _)) => stream,
            // Out of descriptors, or the client went away: others may be luckier a moment later.
            Err(_) => {
                thread::sleep(Duration::from_millis(20));
                continue;
            }
        };
        let before = active.fetch_add(1, Ordering::AcqRel);
        let mut counted = Active { count: Arc::clone(active), connections: Arc::clone(&connections), open: None };
        counted.open = if before < THREADS_MAX { connections.take(&stream) } else { None };
        let Some(open) = counted.open.clone() else {
            refuse(stream);
            continue;
        };
        let source = Arc::clone(source);
        let connection = thread::Builder::new().name("connection".to_owned());
        let started = connection.spawn(move || {
            let _counted = counted;
            let _ = connection_of(stream, &*source, &open.is_answered);
        });
        // Without a thread there is no answer, and the connection is closed.
        drop(started);
    }
}

/// One client too many: what fits in the buffers, without waiting for anything.
fn refuse(mut stream: TcpStream) {
    let _ = stream.set_nonblocking(true);
    let mut unread = [0; HEAD_MAX];
    let _ = stream.read(&mut unread);
    let _ = stream.write(&Answer::too_many().bytes(false));
    let _ = stream.shutdown(Shutdown::Write);
}

fn connection_of(mut stream: TcpStream, source: &dyn Source, is_answered: &AtomicBool) -> io::Result<()> {
    let (answer, is_head) = match head(&mut stream)? {
        Some(Ok(request)) => {
            is_answered.store(true, Ordering::Release);
            (routes::answer(source, &request), request.is_head)
        }
        Some(Err(refusal)) => (Answer::refused(refusal), false),
        None => (Answer::too_slow(), false),
    };
    send(&mut stream, &answer.bytes(is_head))?;
    stream.shutdown(Shutdown::Write)?;
    is_answered.store(false, Ordering::Release);
    linger(&mut stream)
}

/// The request; `None` if it isn't there in time. A client that goes away is an error.
fn head(stream: &mut TcpStream) -> io::Result<Option<Result<request::Request, request::Refusal>>> {
    let until = Instant::now() + TIME_MAX;
    let (mut bytes, mut part) = (Vec::new(), [0; 1_024]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => bytes.extend_from_slice(&part[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if is_timeout(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
        if let Some(read) = request::read(&bytes).transpose() {
            return Ok(Some(read));
        }
    }
}

/// Sends all of it in time, or not all of it.
fn send(stream: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    let until = Instant::now() + TIME_MAX;
    while !bytes.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => bytes = &bytes[length..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads what still comes: closing with bytes unread would take the answer back.
fn linger(stream: &mut TcpStream) -> io::Result<()> {
    let until = Instant::now() + LINGER;
    let (mut part, mut read) = ([0; 4_096], 0);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || read > LINGER_BYTES_MAX {
            return Ok(());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part)? {
            0 => return Ok(()),
            length => read += length,
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
