//! A bus and a daemon that exist only for the test.

use std::os::unix::net::UnixListener;
use std::sync::mpsc;

use oversleep_testing::skip;

use super::*;

/// A message of the bus: the answer to the call with this serial.
fn answer(kind: u8, serial: u32, error: &str, signature: &str, body: &[u8]) -> Vec<u8> {
    let mut fields = vec![5, 1, b'u', 0];
    fields.extend(serial.to_le_bytes());
    if !error.is_empty() {
        fields.extend([4, 1, b's', 0]);
        fields.extend((error.len() as u32).to_le_bytes());
        fields.extend(error.bytes().chain([0]));
        fields.resize(fields.len().next_multiple_of(8), 0);
    }
    fields.extend([8, 1, b'g', 0, signature.len() as u8]);
    fields.extend(signature.bytes().chain([0]));
    let mut message = vec![b'l', kind, 1, 1];
    for number in [body.len() as u32, 99, fields.len() as u32] {
        message.extend(number.to_le_bytes());
    }
    message.extend(fields);
    message.resize(message.len().next_multiple_of(8), 0);
    message.extend(body);
    message
}

/// The bodies of calls, by member.
type Calls = Vec<(String, Vec<u8>)>;

/// Gives the thread its policy as the daemon does, if the thread belongs to this process and the process has the privilege.
fn grant(thread: u64, priority: libc::c_int) {
    if std::path::Path::new(&format!("/proc/self/task/{thread}")).exists() {
        let param = libc::sched_param { sched_priority: priority };
        // SAFETY: the parameters are readable. https://man7.org/linux/man-pages/man2/sched_setscheduler.2.html
        unsafe {
            let policy = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
            libc::syscall(libc::SYS_sched_setscheduler, thread, policy, &raw const param);
        }
    }
}

/// Serves one client, and returns the bodies of its calls by member. `error` is the daemon's answer to the last one.
fn serve(listener: &UnixListener, error: &str) -> io::Result<Calls> {
    let (stream, _) = listener.accept()?;
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    stream.read_until(b'\n', &mut line)?;
    assert!(line.starts_with(b"\0AUTH EXTERNAL "), "{line:?}");
    stream.get_mut().write_all(b"OK 1234deadbeef\r\n")?;
    line.clear();
    stream.read_until(b'\n', &mut line)?;
    assert_eq!(line, b"BEGIN\r\n");
    let mut calls = Vec::new();
    loop {
        let mut start = [0; 16];
        if stream.read_exact(&mut start).is_err() {
            return Ok(calls);
        }
        let number = |at: usize| u32::from_le_bytes(start[at..at + 4].try_into().unwrap());
        let fields = (number(12) as usize).next_multiple_of(8);
        let mut rest = vec![0; fields + number(4) as usize];
        stream.read_exact(&mut rest)?;
        let body = rest.split_off(fields);
        let has = |member: &str| rest.windows(member.len() + 1).any(|part| part == [member.as_bytes(), &[0]].concat());
        let member = ["Hello", "Get", "MakeThreadRealtime"].into_iter().find(|member| has(member)).unwrap();
        calls.push((member.to_owned(), body));
        let serial = number(8);
        let reply = match member {
            "Hello" => {
                // A bus also announces the client's name, which the client didn't request.
                stream.get_mut().write_all(&answer(4, 0, "", "s", &message::strings(&[":1.5"])))?;
                answer(2, serial, "", "s", &message::strings(&[":1.5"]))
            }
            "Get" => answer(2, serial, "", "v", &[&[1, b'i', 0, 0][..], &20_i32.to_ne_bytes()].concat()),
            _ if error.is_empty() => {
                let body = &calls[calls.len() - 1].1;
                grant(u64::from_le_bytes(body[..8].try_into().unwrap()), body[8].into());
                answer(2, serial, "", "", &[])
            }
            _ => answer(3, serial, error, "", &[]),
        };
        stream.get_mut().write_all(&reply)?;
    }
}

/// Runs the client against a test bus. Returns the client's result, and the calls that it made.
fn with_bus<R>(name: &str, error: &'static str, client: impl FnOnce(&str) -> R) -> (R, Calls) {
    let directory = std::env::temp_dir().join(format!("oversleep-bus-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("socket");
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    // Clients of another user may connect.
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let (send, calls) = mpsc::channel();
    let server = std::thread::spawn(move || send.send(serve(&listener, error).unwrap()).unwrap());
    let answer = client(path.to_str().unwrap());
    server.join().unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    (answer, calls.recv().unwrap())
}

/// Asks for a real-time policy for a thread that doesn't exist. Returns the result, and the calls that were made.
fn ask(priority: u8, error: &'static str) -> (Result<u8, Refusal>, Calls) {
    const NO_THREAD: u64 = 1 << 40;
    with_bus(&format!("{priority}{error}"), error, |socket| make_real_time(socket, NO_THREAD, priority))
}

/// The policy and the priority of the calling thread.
fn policy() -> (libc::c_long, libc::c_int) {
    let mut param = libc::sched_param { sched_priority: 0 };
    // SAFETY: the parameters are writable. https://man7.org/linux/man-pages/man2/sched_getparam.2.html
    unsafe {
        libc::syscall(libc::SYS_sched_getparam, 0, &raw mut param);
        (libc::syscall(libc::SYS_sched_getscheduler, 0), param.sched_priority)
    }
}

#[test]
fn a_thread_without_privileges_gets_its_policy_from_the_daemon() {
    // SAFETY: takes nothing. https://man7.org/linux/man-pages/man2/getuid.2.html
    if unsafe { libc::geteuid() } != 0 {
        return skip("only root can play the daemon");
    }
    let client = |socket: &str| {
        const NOBODY: libc::c_long = 65_534;
        // SAFETY: the raw calls affect this thread only. https://man7.org/linux/man-pages/man2/setresuid.2.html
        let thread = unsafe {
            libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY);
            libc::syscall(libc::SYS_gettid) as u64
        };
        (make_real_time(socket, thread, 10), policy())
    };
    let ((answer, is), _) =
        with_bus("refused", "", |socket| std::thread::scope(|scope| scope.spawn(|| client(socket)).join().unwrap()));
    assert_eq!(answer, Ok(10));
    // A sandbox may prevent the daemon from granting it.
    if is.0 == 0 {
        return skip("the daemon may not set a policy here");
    }
    assert_eq!(is, (libc::c_long::from(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK), 10));
}

#[test]
fn the_daemon_is_asked_for_this_thread_and_no_more_than_it_grants() {
    for (priority, granted) in [(10, 10), (99, 20), (0, 1)] {
        let (answer, calls) = ask(priority, "");
        assert_eq!(answer, Ok(granted));
        let members: Vec<_> = calls.iter().map(|(member, _)| member.as_str()).collect();
        assert_eq!(members, ["Hello", "Get", "MakeThreadRealtime"]);
        assert_eq!(calls[2].1, [&(1_u64 << 40).to_le_bytes()[..], &u32::from(granted).to_le_bytes()].concat());
    }
}

#[test]
fn a_refusal_has_its_reason() {
    let (answer, _) = ask(10, "org.freedesktop.DBus.Error.AccessDenied");
    assert_eq!(answer.unwrap_err().reason, Reason::Forbidden { call: CALL, errno: libc::EACCES });
    let (answer, _) = ask(10, "org.freedesktop.DBus.Error.ServiceUnknown");
    assert_eq!(answer.unwrap_err().reason, Reason::Unavailable);
    let (answer, _) = ask(10, "org.example.Broken");
    assert_eq!(answer.unwrap_err().reason, Reason::Failed { call: CALL, errno: libc::EIO });
    let refused = make_real_time("/nowhere/bus", 1, 1).unwrap_err();
    assert_eq!(refused.reason, Reason::Unavailable);
    assert!(refused.to_string().starts_with("there is no RealtimeKit on the system bus; start D-Bus"), "{refused}");
}

#[test]
fn the_socket_is_taken_from_the_address() {
    assert_eq!(socket(""), SOCKET);
    assert_eq!(socket("unix:path=/tmp/bus,guid=12"), "/tmp/bus");
    assert_eq!(socket("tcp:host=x;unix:path=/tmp/bus"), "/tmp/bus");
    assert_eq!(socket("unix:abstract=bus"), SOCKET);
}
