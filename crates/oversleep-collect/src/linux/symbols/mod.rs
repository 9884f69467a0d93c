//! Names of the addresses in stacks. While a program runs, only the file of each address is recorded, because the
//! memory map is gone when the program ends. The files are read at the very end, when nothing is measured any more.

mod elf;
mod kernel;
mod maps;

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;

use oversleep_why::event::{Event, Kind};
use oversleep_why::stack::events_of_symbol;

use maps::Region;

/// The most addresses that are named: only the worst waits have stacks.
const ADDRESSES_MAX: usize = 16_384;
/// The most programs whose maps are kept.
const PROGRAMS_MAX: usize = 1_024;

/// A file that was mapped into a program.
struct Mapped {
    name: String,
    file: Option<File>,
}

/// The location of an address.
enum Place {
    /// At this offset of a file.
    File(Arc<Mapped>, u64),
    /// In anonymous memory: code that a runtime generated.
    Made(u64),
}

/// An address to look up in a file: the process, the address, the offset in the file.
type Wanted = (u32, u64, u64);

/// The map of a program as last read.
#[derive(Default)]
struct Program {
    regions: Vec<Region>,
    /// Its user, as long as it ran.
    user: Option<u32>,
    files: HashMap<PathBuf, Arc<Mapped>>,
}

/// The addresses seen so far.
#[derive(Default)]
pub struct Symbols {
    programs: HashMap<u32, Program>,
    user: BTreeMap<(u32, u64), Place>,
    kernel: BTreeMap<u64, ()>,
}

impl Symbols {
    /// Records the addresses of a stack event, and discards the map of a process that executes another program.
    pub fn note(&mut self, event: &Event) {
        match event.kind {
            Kind::Exec => drop(self.programs.remove(&event.tgid)),
            Kind::Stack => {
                for &address in event.fields.iter().filter(|&&address| address != 0) {
                    if self.user.len() + self.kernel.len() >= ADDRESSES_MAX {
                        return;
                    }
                    if event.x & 1 == 0 {
                        self.kernel.insert(address, ());
                    } else if !self.user.contains_key(&(event.tgid, address)) {
                        let place = self.place(event.tgid, address);
                        self.user.insert((event.tgid, address), place);
                    }
                }
            }
            _ => {}
        }
    }

    fn place(&mut self, pid: u32, address: u64) -> Place {
        if self.programs.len() >= PROGRAMS_MAX {
            self.programs.clear();
        }
        let program = self.programs.entry(pid).or_default();
        if !program.regions.iter().any(|region| region.has(address)) {
            let text = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
            // A program that has ended has an empty map; its last one still applies.
            if !text.is_empty() {
                program.regions = maps::parse(&text);
                program.user = oversleep_native::user_of(pid);
            }
        }
        let Some(region) = program.regions.iter().find(|region| region.has(address)) else {
            return Place::Made(address);
        };
        let Some(path) = &region.path else { return Place::Made(address) };
        let mapped = program.files.entry(path.clone()).or_insert_with(|| {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            Arc::new(Mapped { name, file: region.open(pid) })
        });
        Place::File(mapped.clone(), address - region.from + region.offset)
    }

    /// Appends the names of all recorded addresses as events with time `t`.
    pub fn name(&mut self, t: u64, events: &mut Vec<Event>) {
        let kernel: Vec<u64> = std::mem::take(&mut self.kernel).into_keys().collect();
        for (address, name) in kernel::names(&kernel) {
            events.extend(events_of_symbol(t, 0, address, &name));
        }
        let mut files: HashMap<*const Mapped, (Arc<Mapped>, Vec<Wanted>)> = HashMap::new();
        let mut made: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for ((pid, address), place) in std::mem::take(&mut self.user) {
            match place {
                Place::File(mapped, offset) => {
                    let (_, wanted) = files.entry(Arc::as_ptr(&mapped)).or_insert_with(|| (mapped, Vec::new()));
                    wanted.push((pid, address, offset));
                }
                Place::Made(address) => made.entry(pid).or_default().push(address),
            }
        }
        for (mapped, wanted) in files.into_values() {
            let offsets: Vec<u64> = wanted.iter().map(|(.., offset)| *offset).collect();
            let names =
                mapped.file.as_ref().map_or_else(|| vec![None; offsets.len()], |file| elf::names(file, &offsets));
            for ((pid, address, offset), name) in wanted.into_iter().zip(names) {
                let text = match name {
                    Some(name) => format!("{name} ({})", mapped.name),
                    None => format!("{offset:#x} ({})", mapped.name),
                };
                events.extend(events_of_symbol(t, pid, address, &text));
            }
        }
        for (pid, addresses) in made {
            for (address, name) in
                maps::made_code(pid, self.programs.get(&pid).and_then(|program| program.user), &addresses)
            {
                events.extend(events_of_symbol(t, pid, address, &name));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_why::stack::events_of_stack;

    use super::*;

    #[inline(never)]
    fn a_function_of_this_test() -> u64 {
        let function: fn() -> u64 = a_function_of_this_test;
        std::hint::black_box(function as usize as u64)
    }

    #[test]
    fn addresses_of_this_program_and_its_libraries_have_names() {
        let own = a_function_of_this_test();
        let mut head = Event::new(Kind::Stack, 5, std::process::id());
        head.x = 1;
        let mut symbols = Symbols::default();
        // The second address is in no map.
        events_of_stack(head, &[own + 1, 0x10]).for_each(|event| symbols.note(&event));
        let mut events = Vec::new();
        symbols.name(9, &mut events);
        let texts: Vec<String> = events
            .iter()
            .filter(|event| event.fields[0] == own + 1)
            .map(|event| {
                let bytes: Vec<u8> = event.fields[1..].iter().flat_map(|field| field.to_le_bytes()).collect();
                String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()
            })
            .collect();
        let text = texts.concat();
        assert!(text.contains("a_function_of_this_test+0x1 ("), "{text}");
        assert!(events.iter().all(|event| event.kind == Kind::Symbol && event.fields[0] != 0x10));
    }
}
