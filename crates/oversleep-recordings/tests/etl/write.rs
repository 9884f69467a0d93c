//! Writes ETL files as Windows' logger does: records in buffers of a CPU, each with its head.

use std::collections::BTreeMap;

/// Ticks of the performance counter when a file begins: its first nanosecond.
pub const BEGIN: u64 = 5_000_000_000;
/// Ticks per microsecond.
const TICKS_PER_US: u64 = 10;
const BUFFER: usize = 4_096;
const HEAD: usize = 72;
/// Microsoft-Windows-Kernel-Power.
const POWER: [u8; 16] = *b"\x3a\x3b\x1c\x33\x05\x20\xc2\x44\xac\x5e\x77\x22\x0c\x37\xd6\xb4";

/// Groups of the kernel's records.
pub const PROCESS: u8 = 3;
pub const THREAD: u8 = 5;
pub const PERF_INFO: u8 = 15;

/// The state and the reason of a thread that sleeps, that waits for an object, and that lost its CPU.
pub const SLEEPS: (u8, u8) = (5, 4);
pub const WAITS: (u8, u8) = (5, 6);
pub const LOST_CPU: (u8, u8) = (1, 32);

/// The header of a kernel's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    System = 2,
    Compact = 4,
    PerfInfo = 17,
}

/// A trace that is being written. Times are in µs since it began.
#[derive(Clone, Debug)]
pub struct Trace {
    /// 1 is the performance counter, 2 the system's time, 3 are cycles of 2 GHz.
    pub clock: u32,
    /// Whether buffers are compressed.
    pub is_packed: bool,
    pub lost: (u32, u32),
    pub records: Vec<(u16, u64, Vec<u8>)>,
    /// What each CPU runs.
    pub running: BTreeMap<u16, u32>,
}

impl Default for Trace {
    fn default() -> Trace {
        Trace { clock: 1, is_packed: false, lost: (0, 0), records: Vec::new(), running: BTreeMap::new() }
    }
}

impl Trace {
    fn ticks(&self, us: f64) -> u64 {
        let ticks = (us * TICKS_PER_US as f64).round() as u64;
        match self.clock {
            1 => BEGIN + ticks,
            2 => 133_000_000_000_000_000 + ticks,
            _ => BEGIN + ticks * 200,
        }
    }

    /// A record of the kernel.
    pub fn kernel(
        &mut self,
        cpu: u16,
        us: f64,
        header: Header,
        (group, opcode, version): (u8, u8, u16),
        payload: &[u8],
    ) {
        let head = match header {
            Header::System => 32,
            Header::Compact => 24,
            Header::PerfInfo => 16,
        };
        let mut record = version.to_le_bytes().to_vec();
        record.extend([header as u8, 0xc0]);
        record.extend(((head + payload.len()) as u16).to_le_bytes());
        record.extend([opcode, group]);
        if header != Header::PerfInfo {
            record.extend([0xff; 8]);
        }
        let t = self.ticks(us);
        record.extend(t.to_le_bytes());
        record.resize(head, 0);
        record.extend(payload);
        self.records.push((cpu, t, record));
    }

    /// A CPU switches to a thread; the one before has that state and reason.
    pub fn switch(&mut self, cpu: u16, us: f64, new: u32, (state, reason): (u8, u8)) {
        let old = self.running.insert(cpu, new).unwrap_or(0);
        self.switch_from(cpu, us, (old, new), (state, reason));
    }

    /// The same, whatever ran before.
    pub fn switch_from(&mut self, cpu: u16, us: f64, (old, new): (u32, u32), (state, reason): (u8, u8)) {
        let mut payload = [old, new].map(u32::to_le_bytes);
        payload.swap(0, 1);
        let mut payload = payload.concat();
        payload.extend([9, 12, 0, 0, reason, 1, state, 0]);
        payload.resize(24, 0);
        self.kernel(cpu, us, Header::PerfInfo, (THREAD, 36, 4), &payload);
    }

    pub fn ready(&mut self, cpu: u16, us: f64, thread: u32) {
        let payload = [thread.to_le_bytes(), [1, 0, 1, 0]].concat();
        self.kernel(cpu, us, Header::PerfInfo, (THREAD, 50, 2), &payload);
    }

    /// An interrupt (67) or a deferred procedure call (68) that ends then.
    pub fn handler(&mut self, cpu: u16, (from, us): (f64, f64), opcode: u8) {
        let payload = [self.ticks(from).to_le_bytes(), [7; 8]].concat();
        self.kernel(cpu, us, Header::PerfInfo, (PERF_INFO, opcode, 2), &payload);
    }

    pub fn call(&mut self, cpu: u16, us: f64, result: Option<u32>) {
        match result {
            None => self.kernel(cpu, us, Header::PerfInfo, (PERF_INFO, 51, 2), &[1; 8]),
            Some(status) => self.kernel(cpu, us, Header::PerfInfo, (PERF_INFO, 52, 2), &status.to_le_bytes()),
        }
    }

    /// Names a thread and its process (3: it runs already).
    pub fn thread(&mut self, us: f64, (process, thread): (u32, u32), name: Option<&str>) {
        let mut payload = [process, thread].map(u32::to_le_bytes).concat();
        payload.resize(8 + 7 * 8 + 4 + 4, 0);
        payload.extend(name.into_iter().flat_map(wide));
        self.kernel(0, us, Header::System, (THREAD, 3, if name.is_some() { 4 } else { 3 }), &payload);
    }

    pub fn process(&mut self, us: f64, process: u32, name: &str) {
        let mut payload = vec![0; 8];
        payload.extend(process.to_le_bytes());
        payload.resize(8 + 16 + 8 + 4, 0);
        // A user: a pointer and flags of 8 bytes each, then a security identifier with two parts.
        payload.extend([9; 16]);
        payload.extend([1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 33, 2, 0, 0]);
        payload.extend(name.bytes().chain([0]));
        payload.extend(wide("game.exe --now"));
        self.kernel(0, us, Header::PerfInfo, (PROCESS, 3, 4), &payload);
    }

    /// A record of Kernel-Power.
    pub fn power(&mut self, us: f64, (id, version): (u16, u8), payload: &[u8]) {
        let mut record = ((80 + payload.len()) as u16).to_le_bytes().to_vec();
        record.extend([19, 0xc0, 0x40, 0, 0, 0]);
        record.extend([77_u32, 66].map(u32::to_le_bytes).concat());
        let t = self.ticks(us);
        record.extend(t.to_le_bytes());
        record.extend(POWER);
        record.extend(id.to_le_bytes());
        record.extend([version, 0]);
        record.resize(80, 0);
        record.extend(payload);
        self.records.push((0, t, record));
    }

    /// A process requests a resolution (63), or held it already (97).
    pub fn request(&mut self, us: f64, id: u16, process: u32, period: u32) {
        let path = "\\Device\\HarddiskVolume3\\Games\\game.exe";
        let mut payload = [period, process].map(u32::to_le_bytes).concat();
        payload.extend((path.len() as u16).to_le_bytes());
        payload.extend(path.encode_utf16().flat_map(u16::to_le_bytes));
        payload.extend(0_u32.to_le_bytes());
        self.power(us, (id, u8::from(id == 63)), &payload);
    }

    /// The same without the kernel's records of that group and type.
    pub fn without(&self, (group, opcode): (u8, u8)) -> Trace {
        let is_other = |record: &&(u16, u64, Vec<u8>)| record.2[2] == 19 || record.2[6..8] != [opcode, group];
        Trace { records: self.records.iter().filter(is_other).cloned().collect(), ..self.clone() }
    }

    /// The same without one record.
    pub fn without_record(&self, number: usize) -> Trace {
        let mut trace = self.clone();
        trace.records.remove(number);
        trace
    }

    pub fn count(&self) -> usize {
        self.records.len()
    }

    /// The file. Buffers of those numbers are left out.
    pub fn write(&self, without: &[u64]) -> Vec<u8> {
        let mut records = self.records.clone();
        records.sort_by_key(|(_, t, _)| *t);
        let mut full: Vec<(u64, u16, Vec<u8>)> = Vec::new();
        let mut open: BTreeMap<u16, (u64, Vec<u8>)> = BTreeMap::new();
        for (cpu, t, record) in records {
            let (last, bytes) = open.entry(cpu).or_default();
            if bytes.len() + record.len() > BUFFER - HEAD {
                full.push((*last, cpu, std::mem::take(bytes)));
            }
            *last = t;
            bytes.extend(&record);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        // What isn't full is flushed when the session ends.
        full.extend(open.into_iter().map(|(cpu, (last, bytes))| (last, cpu, bytes)));
        let last = full.iter().map(|(last, ..)| *last).max().unwrap_or(BEGIN);
        let mut file = self.buffer(0, 0, &self.first(last, full.len() as u32 + 1), 4);
        for (number, (_, cpu, bytes)) in (1..).zip(&full) {
            if !without.contains(&number) {
                file.extend(self.buffer(number, *cpu, bytes, 0));
            }
        }
        file
    }

    fn buffer(&self, number: u64, cpu: u16, records: &[u8], kind: u16) -> Vec<u8> {
        let is_packed = self.is_packed && kind == 0;
        let body = if is_packed { literals(records) } else { records.to_vec() };
        let size = if is_packed { HEAD + body.len() } else { BUFFER };
        let mut bytes = (size as u32).to_le_bytes().to_vec();
        let used = (HEAD + records.len()) as u32;
        bytes.extend(used.to_le_bytes());
        bytes.resize(24, 0);
        bytes.extend(number.to_le_bytes());
        bytes.resize(40, 0);
        bytes.extend(cpu.to_le_bytes());
        bytes.extend(9_u16.to_le_bytes());
        bytes.extend(3_u32.to_le_bytes());
        bytes.extend(used.to_le_bytes());
        bytes.extend((0x20_u16 | if is_packed { 0x40 } else { 0 }).to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.resize(HEAD, 0);
        bytes.extend(body);
        // The logger fills what remains.
        bytes.resize(size, 0xff);
        bytes
    }

    /// The first record, about the file.
    fn first(&self, last: u64, buffers: u32) -> Vec<u8> {
        let mut trace = Trace { clock: self.clock, ..Trace::default() };
        let start = 133_000_000_000_000_000_u64;
        let took = match self.clock {
            1 => last - BEGIN,
            2 => last - start,
            _ => (last - BEGIN) / 200,
        };
        let u32s = |all: &[u32]| all.iter().flat_map(|one| one.to_le_bytes()).collect::<Vec<u8>>();
        let mut payload = u32s(&[BUFFER as u32, 0x0501_000a, 18_363, 2]);
        payload.extend((start + took).to_le_bytes());
        payload.extend(u32s(&[156_250, 0, 1, buffers, 1, 8, self.lost.0, 2_000]));
        payload.resize(payload.len() + 16 + 172, 0);
        payload.resize(payload.len().next_multiple_of(8), 0);
        for number in [start - 1, 10_000_000, start] {
            payload.extend(number.to_le_bytes());
        }
        payload.extend(u32s(&[self.clock, self.lost.1]));
        payload.extend(wide("a session"));
        trace.kernel(0, 0.0, Header::System, (0, 0, 2), &payload);
        let mut record = trace.records.remove(0).2;
        record.resize(record.len().next_multiple_of(8), 0);
        record
    }
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}

/// Compressed without a match.
fn literals(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(32).flat_map(|chunk| [&[0; 4], chunk].concat()).collect()
}
