//! From within which code a thread makes its call: a library's, or one of its exported functions. A runtime's calls differ
//! in nothing else where they end in the same function of the C library.

use std::ops::Range;
use std::sync::Mutex;

use oversleep_system::runtime_calls::Caller;

use crate::linux::process::lock::lock;
use crate::linux::process::program_file::{self, ProgramFile};
use crate::linux::process::ptrace::{self, Registers, Tid};

/// How many words of a stack are searched, most first: a shallow stack has fewer.
const WORDS: usize = 512;
const FEW_WORDS: usize = 64;
/// How often a library that isn't there yet is looked for.
const LOOKS: u32 = 200;
/// Libraries that wait for others, so no call is theirs.
const BENEATH: [&str; 3] = ["libc.so", "libc-", "libpthread"];

/// Code in a process.
#[derive(Clone, Debug)]
struct Code {
    range: Range<u64>,
    offset: u64,
    path: String,
}

impl Code {
    fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

#[derive(Default)]
struct Known {
    code: Vec<Code>,
    /// The functions that were looked for, with their library's code.
    functions: Vec<(Caller, Range<u64>, Range<u64>)>,
    looks: u32,
}

/// The code of one process, as far as anything was looked for in it.
#[derive(Default)]
pub struct Callers(Mutex<Known>);

impl Callers {
    /// Whether that thread's call is made from within this code.
    pub fn is_within(&self, process: Tid, tid: Tid, registers: &Registers, caller: &Caller) -> bool {
        let mut known = lock(&self.0);
        let is_there = |known: &Known| known.code.iter().any(|code| code.file_name().starts_with(&caller.library));
        if !is_there(&known) {
            if known.looks >= LOOKS {
                return false;
            }
            known.looks += 1;
            known.code = code_of(process);
            if !is_there(&known) {
                return false;
            }
        }
        let stack = stack_of(tid, registers.rsp);
        let Some(function) = &caller.function else {
            return called_from(&known.code, &stack).is_some_and(|code| code.file_name().starts_with(&caller.library));
        };
        if !known.functions.iter().any(|(of, ..)| of == caller) {
            let found = known.code.iter().find(|code| code.file_name().starts_with(&caller.library));
            let (code, range) =
                found.map(|code| (code.range.clone(), range_of(process, code, function))).unwrap_or_default();
            known.functions.push((caller.clone(), code, range.unwrap_or_default()));
        }
        let of = known.functions.iter().find(|(of, ..)| of == caller);
        of.is_some_and(|(_, code, range)| is_on_stack(&stack, registers.rsp, code, range))
    }
}

/// The code of a process, by its files.
fn code_of(process: Tid) -> Vec<Code> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    maps.lines().filter_map(code_in).collect()
}

fn code_in(line: &str) -> Option<Code> {
    let mut fields = line.splitn(6, ' ');
    let (begin, end) = fields.next()?.split_once('-')?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let is_code = fields.next()?.contains('x');
    let offset = hex(fields.next()?)?;
    let path = fields.nth(2)?.trim().to_owned();
    (is_code && path.starts_with('/')).then_some(Code { range: hex(begin)?..hex(end)?, offset, path })
}

fn stack_of(tid: Tid, at: u64) -> Vec<u64> {
    let words = |words: &[i64]| words.iter().map(|word| word.cast_unsigned()).collect();
    match ptrace::read::<WORDS>(tid, at) {
        Ok(all) => words(&all),
        Err(_) => ptrace::read::<FEW_WORDS>(tid, at).map(|few| words(&few)).unwrap_or_default(),
    }
}

/// The code that called the C library: the first on the stack that is not the library's own.
fn called_from<'a>(code: &'a [Code], stack: &[u64]) -> Option<&'a Code> {
    let is_beneath = |code: &Code| BENEATH.iter().any(|name| code.file_name().starts_with(name));
    stack.iter().find_map(|word| code.iter().find(|code| code.range.contains(word) && !is_beneath(code)))
}

/// Whether a function of that library is on the stack. The library keeps frame pointers: each frame begins with the address
/// of the next one, and the address to return to. So nothing is taken for a frame that was left behind on the stack.
fn is_on_stack(stack: &[u64], at: u64, library: &Range<u64>, function: &Range<u64>) -> bool {
    const WORD: u64 = 8;
    let index =
        |address: u64| usize::try_from(address.checked_sub(at)? / WORD).ok().filter(|_| address.is_multiple_of(WORD));
    let is_frame = |frame: &usize| {
        let next = stack.get(*frame).and_then(|&next| index(next)).is_some_and(|next| next > *frame);
        next && stack.get(frame + 1).is_some_and(|returns| library.contains(returns))
    };
    let mut frame = (0..stack.len()).find(is_frame);
    while let Some(now) = frame.filter(is_frame) {
        if stack.get(now + 1).is_some_and(|returns| function.contains(returns)) {
            return true;
        }
        frame = index(stack[now]);
    }
    false
}

/// Where an exported function of a library is in a process.
fn range_of(process: Tid, code: &Code, function: &str) -> Option<Range<u64>> {
    let file =
        program_file::open(format!("/proc/{process}/root{}", code.path)).or_else(|| program_file::open(&code.path))?;
    let file = ProgramFile::read(&file)?;
    let (value, size) = file.symbol(function)?;
    let at = code.range.start.wrapping_sub(file.address_of(code.offset)?).wrapping_add(value);
    Some(at..at.checked_add(size)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: Range<u64> = 0x7000..0x8000;
    const FUNCTION: Range<u64> = 0x7100..0x7200;

    #[test]
    fn a_function_is_on_the_stack_if_its_frame_is() {
        // Words of the C library, two frames of the library, and one of its caller.
        let stack = [1, 0x7150, 0x1028, 0x7f00, 0, 0x1048, 0x7180, 7, 8, 0x1060, 0x9000, 0, 0x1070, 0x9000];
        assert!(is_on_stack(&stack, 0x1000, &LIBRARY, &FUNCTION));
        let other = [1, 0x7150, 0x1028, 0x7f00, 0, 0x1048, 0x7f80, 7, 8, 0x1060, 0x9000, 0, 0x1070, 0x9000];
        assert!(!is_on_stack(&other, 0x1000, &LIBRARY, &FUNCTION), "what was left behind is no frame");
        assert!(!is_on_stack(&[], 0x1000, &LIBRARY, &FUNCTION));
        assert!(!is_on_stack(&[0x1000, 0x7150], 0x1000, &LIBRARY, &FUNCTION), "a frame that leads to itself");
    }

    #[test]
    fn a_call_is_of_the_first_code_that_is_not_the_c_librarys() {
        let line = |text: &str| code_in(text).expect("code");
        let code = [
            line("1000-2000 r-xp 00000000 fe:00 1 /lib/libc.so.6"),
            line("3000-4000 r-xp 00000000 fe:00 2 /lib/libSDL2-2.0.so.0.2600.5"),
            line("5000-6000 r-xp 00000000 fe:00 3 /game"),
        ];
        let from = |stack: &[u64]| called_from(&code, stack).map(Code::file_name);
        assert_eq!(from(&[0, 0x1800, 0x3010, 0x5000]), Some("libSDL2-2.0.so.0.2600.5"));
        assert_eq!(from(&[0x1800, 0x5000, 0x3010]), Some("game"));
        assert_eq!(from(&[0x1800]), None);
        assert!(code_in("1000-2000 rw-p 00000000 fe:00 1 /lib/libc.so.6").is_none());
        assert!(code_in("1000-2000 r-xp 00000000 00:00 0 ").is_none());
    }

    /// The C library of this process exports the function that it waits in.
    #[test]
    fn an_exported_function_is_found_where_it_is() {
        let own = std::process::id() as Tid;
        let at = libc::nanosleep as *const () as u64;
        let all = code_of(own);
        let Some(code) = all.iter().find(|code| code.range.contains(&at)) else { return };
        if code.file_name().starts_with("libc.so") {
            let range = range_of(own, code, "nanosleep").expect("it is exported");
            assert!(range.start == at && range.end > at, "{range:x?} {at:x}");
            assert_eq!(range_of(own, code, "no_such_function"), None);
        }
    }
}
