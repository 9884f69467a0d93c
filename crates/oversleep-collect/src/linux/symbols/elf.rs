//! Function names from a program's file, and from its separate debug file if one is installed.

use std::fmt::Write;
use std::fs::File;

use object::read::{ReadCache, ReadRef};
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};

/// A function: its address, its size, and its linker name.
struct Function {
    at: u64,
    size: u64,
    name: String,
}

/// The name of the function at each of these file offsets.
pub fn names(file: &File, offsets: &[u64]) -> Vec<Option<String>> {
    let nothing = || vec![None; offsets.len()];
    let cache = ReadCache::new(file);
    let Ok(parsed) = object::File::parse(&cache) else { return nothing() };
    let addresses: Vec<Option<u64>> = offsets.iter().map(|&offset| address(&parsed, offset)).collect();
    let mut functions = functions(&parsed, &addresses);
    if let Some(debug) = parsed.build_id().ok().flatten().and_then(debug_file) {
        let cache = ReadCache::new(&debug);
        if let Ok(debug) = object::File::parse(&cache) {
            functions.extend(self::functions(&debug, &addresses));
        }
    }
    addresses.into_iter().map(|address| name_at(&functions, address?)).collect()
}

/// The linked address of what is at an offset of the file.
fn address<'a, R: ReadRef<'a>>(file: &object::File<'a, R>, offset: u64) -> Option<u64> {
    file.segments().find_map(|segment| {
        let (from, size) = segment.file_range();
        let within = offset.checked_sub(from).filter(|&within| within < size)?;
        segment.address().checked_add(within)
    })
}

/// The functions that contain one of the addresses, or have no stated size and may contain it.
fn functions<'a, R: ReadRef<'a>>(file: &object::File<'a, R>, addresses: &[Option<u64>]) -> Vec<Function> {
    let mut wanted: Vec<u64> = addresses.iter().flatten().copied().collect();
    wanted.sort_unstable();
    let has_one = |at: u64, size: u64| {
        let next = wanted.partition_point(|&address| address < at);
        wanted.get(next).is_some_and(|&address| size == 0 || address - at < size)
    };
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let symbols = symbols.filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
    let symbols = symbols.filter(|symbol| has_one(symbol.address(), symbol.size()));
    let mut functions = Vec::new();
    for symbol in symbols {
        let name = symbol.name().unwrap_or_default().to_owned();
        functions.push(Function { at: symbol.address(), size: symbol.size(), name });
    }
    functions.retain(|function| !function.name.is_empty());
    functions
}

/// Opens the separate debug file, which Debian, Fedora and others install there.
fn debug_file(build_id: &[u8]) -> Option<File> {
    let (first, rest) = build_id.split_first()?;
    let mut path = format!("/usr/lib/debug/.build-id/{first:02x}/");
    for byte in rest {
        let _ = write!(path, "{byte:02x}");
    }
    File::open(path + ".debug").ok()
}

/// The nearest function below the address that reaches it; one with a stated size takes precedence.
fn name_at(functions: &[Function], address: u64) -> Option<String> {
    let reaches =
        |function: &&Function| function.at <= address && (function.size == 0 || address - function.at < function.size);
    let best = functions.iter().filter(reaches).max_by_key(|function| (function.size != 0, function.at))?;
    Some(format!("{}+{:#x}", readable(&best.name), address - best.at))
}

/// The name as written in the source: demangled, without the version.
fn readable(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    let cpp = cpp_demangle::Symbol::new(name).ok().filter(|_| name.starts_with("_Z"));
    // `clock_nanosleep@@GLIBC_2.17`: the version that it was linked with doesn't matter.
    let plain = || name.split('@').next().unwrap_or(name).to_owned();
    cpp.and_then(|symbol| symbol.demangle().ok()).unwrap_or_else(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_in_the_source() {
        assert_eq!(readable("_ZN3std6thread5sleep17h0123456789abcdefE"), "std::thread::sleep");
        assert_eq!(readable("_ZN5boost10this_fiber5sleepEi"), "boost::this_fiber::sleep(int)");
        assert_eq!(readable("usleep@@GLIBC_2.2.5"), "usleep");
    }

    #[test]
    fn a_function_with_an_end_goes_before_one_without() {
        let function = |at, size, name: &str| Function { at, size, name: name.to_owned() };
        let functions = [function(0x100, 0x40, "wide"), function(0x120, 0, "label"), function(0x200, 0, "open")];
        assert_eq!(name_at(&functions, 0x130).as_deref(), Some("wide+0x30"));
        assert_eq!(name_at(&functions, 0x150).as_deref(), Some("label+0x30"));
        assert_eq!(name_at(&functions, 0x208).as_deref(), Some("open+0x8"));
        assert_eq!(name_at(&functions, 0x10), None);
    }

    #[test]
    fn what_is_no_program_has_no_names() {
        let file = File::open("/proc/self/status").unwrap();
        assert_eq!(names(&file, &[0, 1]), [None, None]);
    }
}
