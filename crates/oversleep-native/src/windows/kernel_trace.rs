//! A session of the kernel's logger: context switches, threads made ready, interrupts, deferred and system calls of every
//! process, as they happen. It needs an administrator. Records are copied here and understood elsewhere.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use windows_sys::Win32::Foundation::{CloseHandle, ERROR_ACCESS_DENIED, ERROR_ALREADY_EXISTS, ERROR_SUCCESS};
use windows_sys::Win32::System::Diagnostics::Etw::{
    CONTROLTRACE_HANDLE, CloseTrace, ControlTraceW, EVENT_RECORD, EVENT_TRACE_CONTROL_STOP, EVENT_TRACE_FLAG_CSWITCH,
    EVENT_TRACE_FLAG_DISPATCHER, EVENT_TRACE_FLAG_DPC, EVENT_TRACE_FLAG_INTERRUPT, EVENT_TRACE_FLAG_SYSTEMCALL,
    EVENT_TRACE_FLAG_THREAD, EVENT_TRACE_LOGFILEW, EVENT_TRACE_PROPERTIES, EVENT_TRACE_REAL_TIME_MODE,
    EVENT_TRACE_SYSTEM_LOGGER_MODE, OpenTraceW, PROCESS_TRACE_MODE_EVENT_RECORD, PROCESS_TRACE_MODE_RAW_TIMESTAMP,
    PROCESS_TRACE_MODE_REAL_TIME, PROCESSTRACE_HANDLE, ProcessTrace, StartTraceW, WNODE_FLAG_TRACED_GUID,
};
use windows_sys::Win32::System::Performance::QueryPerformanceFrequency;
use windows_sys::Win32::System::Threading::{
    OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, QueryFullProcessImageNameW,
};

/// The session's name, by which one that a killed process left behind is found and ended.
const NAME: &str = "oversleep-why";
/// Characters of the name that the properties have room for.
const NAME_MAX: usize = 64;
/// The most records that are queued; further ones are counted as lost.
const KEPT_MAX: usize = 1 << 20;
/// The largest record that is copied: a context switch has 24 bytes.
const BYTES_MAX: usize = 64;
/// `CLOCK_TYPE` of a session: the performance counter.
const BY_COUNTER: u32 = 1;
/// What `OpenTraceW` returns if it fails.
const INVALID: u64 = u64::MAX;

/// Why no session could be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceError {
    /// The caller isn't an administrator.
    NotAdministrator,
    /// Any other failure: the call, and its error.
    Failed(&'static str, u32),
}

/// A record as the kernel wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRecord {
    /// The first part of its class's GUID, which tells the kernel's classes apart.
    pub class: u32,
    /// Its type within the class.
    pub opcode: u8,
    /// Its time on the performance counter.
    pub counter: u64,
    /// The CPU.
    pub cpu: u16,
    /// The thread that ran there.
    pub thread: u32,
    /// Its payload, truncated to [`BYTES_MAX`].
    pub bytes: Vec<u8>,
}

/// Records that have arrived, and how many were dropped.
#[derive(Debug, Default)]
struct Arrived {
    records: Vec<KernelRecord>,
    lost: u64,
}

/// A running session. Dropping it ends it.
#[derive(Debug)]
pub struct KernelTrace {
    session: u64,
    consumer: u64,
    arrived: Arc<Mutex<Arrived>>,
    thread: Option<JoinHandle<()>>,
    counter_hz: u64,
}

/// Properties with room for the session's name behind them, as the calls want it.
#[repr(C)]
struct Properties {
    head: EVENT_TRACE_PROPERTIES,
    name: [u16; NAME_MAX],
}

impl Properties {
    fn new() -> Properties {
        let mut head = EVENT_TRACE_PROPERTIES::default();
        head.Wnode.BufferSize = size_of::<Properties>() as u32;
        head.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
        head.Wnode.ClientContext = BY_COUNTER;
        // In KB. A context switch takes 48 bytes, so each buffer has a thousand.
        head.BufferSize = 64;
        head.MinimumBuffers = 64;
        head.MaximumBuffers = 256;
        head.LogFileMode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_SYSTEM_LOGGER_MODE;
        head.FlushTimer = 1;
        head.EnableFlags = EVENT_TRACE_FLAG_CSWITCH
            | EVENT_TRACE_FLAG_DISPATCHER
            | EVENT_TRACE_FLAG_DPC
            | EVENT_TRACE_FLAG_INTERRUPT
            | EVENT_TRACE_FLAG_SYSTEMCALL
            | EVENT_TRACE_FLAG_THREAD;
        head.LoggerNameOffset = std::mem::offset_of!(Properties, name) as u32;
        Properties { head, name: [0; NAME_MAX] }
    }
}

fn name() -> Vec<u16> {
    NAME.encode_utf16().chain([0]).collect()
}

impl KernelTrace {
    /// Starts a session.
    ///
    /// # Errors
    /// Why it can't be started.
    pub fn start() -> Result<KernelTrace, TraceError> {
        let (mut session, mut properties, name) = (CONTROLTRACE_HANDLE::default(), Properties::new(), name());
        // SAFETY: the properties have their own size, and room for the name where they say.
        let mut error = unsafe { StartTraceW(&mut session, name.as_ptr(), &mut properties.head) };
        if error == ERROR_ALREADY_EXISTS {
            // A killed process left this session behind.
            stop(0);
            properties = Properties::new();
            // SAFETY: as above.
            error = unsafe { StartTraceW(&mut session, name.as_ptr(), &mut properties.head) };
        }
        match error {
            ERROR_SUCCESS => {}
            ERROR_ACCESS_DENIED => return Err(TraceError::NotAdministrator),
            error => return Err(TraceError::Failed("StartTrace", error)),
        }
        let mut trace = KernelTrace {
            session: session.Value,
            consumer: INVALID,
            arrived: Arc::default(),
            thread: None,
            counter_hz: counter_hz(),
        };
        trace.consume()?;
        Ok(trace)
    }

    fn consume(&mut self) -> Result<(), TraceError> {
        let mut name = name();
        let mut logfile = EVENT_TRACE_LOGFILEW { LoggerName: name.as_mut_ptr(), ..EVENT_TRACE_LOGFILEW::default() };
        logfile.Anonymous1.ProcessTraceMode =
            PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP;
        logfile.Anonymous2.EventRecordCallback = Some(on_record);
        // The thread that calls back owns one count of it, and gives it back when no more calls come.
        let context = Arc::into_raw(Arc::clone(&self.arrived));
        logfile.Context = context.cast_mut().cast();
        // SAFETY: name and log file live longer than the call.
        let consumer = unsafe { OpenTraceW(&mut logfile) };
        if consumer.Value == INVALID {
            // SAFETY: it comes from `into_raw` above, and no callback has it.
            drop(unsafe { Arc::from_raw(context) });
            return Err(TraceError::Failed(
                "OpenTrace",
                std::io::Error::last_os_error().raw_os_error().unwrap_or(0) as u32,
            ));
        }
        self.consumer = consumer.Value;
        let (consumer, context) = (consumer.Value, context as usize);
        self.thread = Some(std::thread::spawn(move || {
            let consumer = PROCESSTRACE_HANDLE { Value: consumer };
            // SAFETY: one handle; it returns when the session ends or the handle is closed.
            unsafe { ProcessTrace(&consumer, 1, std::ptr::null(), std::ptr::null()) };
            // SAFETY: it comes from `into_raw`, and no more calls come.
            drop(unsafe { Arc::from_raw(context as *const Mutex<Arrived>) });
        }));
        Ok(())
    }

    /// Takes the records that have arrived, and returns how many have been lost so far.
    pub fn take(&self) -> (Vec<KernelRecord>, u64) {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut arrived.records), arrived.lost)
    }

    /// Ticks of the performance counter per second.
    pub fn counter_hz(&self) -> u64 {
        self.counter_hz
    }
}

impl Drop for KernelTrace {
    fn drop(&mut self) {
        stop(self.session);
        if self.consumer != INVALID {
            // SAFETY: the handle is open.
            unsafe { CloseTrace(PROCESSTRACE_HANDLE { Value: self.consumer }) };
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The file name of a process's executable.
pub fn program_of(process: u32) -> Option<String> {
    let mut path = [0u16; 1024];
    let mut length = path.len() as u32;
    // SAFETY: no pointers.
    let handle = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, process) };
    if handle.is_null() {
        return None;
    }
    // SAFETY: the buffer has that many letters, and the handle is closed after this.
    let is_known = unsafe { QueryFullProcessImageNameW(handle, 0, path.as_mut_ptr(), &mut length) } != 0;
    // SAFETY: it is open.
    unsafe { CloseHandle(handle) };
    let path = String::from_utf16_lossy(path.get(..length as usize).filter(|_| is_known)?);
    path.rsplit(['\\', '/']).next().map(str::to_owned)
}

/// Ends a session, by its name if the handle is 0.
fn stop(session: u64) {
    let (mut properties, name) = (Properties::new(), name());
    let by_name = if session == 0 { name.as_ptr() } else { std::ptr::null() };
    // SAFETY: the properties have their own size, and room for the name where they say.
    unsafe {
        ControlTraceW(CONTROLTRACE_HANDLE { Value: session }, by_name, &mut properties.head, EVENT_TRACE_CONTROL_STOP)
    };
}

fn counter_hz() -> u64 {
    let mut hz = 0;
    // SAFETY: it writes one number, and can't fail since Windows XP.
    unsafe { QueryPerformanceFrequency(&mut hz) };
    hz.unsigned_abs().max(1)
}

/// Copies a record.
unsafe extern "system" fn on_record(record: *mut EVENT_RECORD) {
    // SAFETY: the caller passes a record that lives as long as this call.
    let record = unsafe { &*record };
    // SAFETY: the context is what `consume` gave, and that thread holds a count of it.
    let arrived = unsafe { &*record.UserContext.cast::<Mutex<Arrived>>() };
    let length = usize::from(record.UserDataLength).min(BYTES_MAX);
    let bytes = match record.UserData.cast::<u8>() {
        bytes if bytes.is_null() || length == 0 => Vec::new(),
        // SAFETY: the record says how many bytes it has.
        bytes => unsafe { std::slice::from_raw_parts(bytes.cast_const(), length) }.to_vec(),
    };
    let mut arrived = arrived.lock().unwrap_or_else(PoisonError::into_inner);
    if arrived.records.len() >= KEPT_MAX {
        arrived.lost += 1;
        return;
    }
    let header = &record.EventHeader;
    // SAFETY: both members of the union are plain numbers.
    let cpu = unsafe { record.BufferContext.Anonymous.ProcessorIndex };
    arrived.records.push(KernelRecord {
        class: header.ProviderId.data1,
        opcode: header.EventDescriptor.Opcode,
        counter: header.TimeStamp.unsigned_abs(),
        cpu,
        thread: header.ThreadId,
        bytes,
    });
}
