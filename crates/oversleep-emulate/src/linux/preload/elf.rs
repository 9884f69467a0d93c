//! A shared library of one piece of code and its data, as the dynamic linker wants it: no section, one hash chain.
//! <https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.dynamic.html>

use object::Endianness;
use object::elf::*;
use object::write::Error;
use object::write::elf::{FileHeader, ProgramHeader, Rel, Sym, Writer};

/// Where the code begins in the file and in memory; what describes the library comes before it.
pub const CODE_AT: u64 = 0x1000;
const PAGE: u64 = 0x1000;
const RELOCATION: usize = size_of::<Rela64<Endianness>>();

/// What goes into a library.
pub struct Library<'a> {
    pub code: &'a [u8],
    /// Where in the code `.eh_frame_hdr` is, with `.eh_frame` behind it, and how long both are.
    pub frames: (u64, u64),
    /// Names of functions, and where they are in the code.
    pub functions: &'a [(&'a str, u64)],
    /// Where the data begin, counted from the code, and what they are.
    pub data: (u64, &'a [u8]),
    /// Words of the data that hold addresses in this library: where in the data, and which, counted from the code.
    pub addresses: &'a [(u64, u64)],
    /// Words of the data that hold functions of other libraries: where in the data, and which. They may be missing.
    pub others: &'a [(u64, &'a str)],
    /// A library that has those.
    pub needs: &'a str,
    /// Where the function is that is called when the library is loaded, counted from the code.
    pub init: u64,
}

impl Library<'_> {
    /// The file.
    pub fn file(&self) -> Vec<u8> {
        let mut file = Vec::new();
        self.write(&mut Writer::new(Endianness::Little, true, &mut file)).expect("it has few strings and symbols");
        file
    }

    /// Everything is reserved and then written in one order.
    fn write<'a>(&'a self, writer: &mut Writer<'a>) -> Result<(), Error> {
        let needs = writer.add_dynamic_string(self.needs.as_bytes());
        let mut symbols = Vec::new();
        let mut symbol = |name: &'a str, st_info, st_shndx, st_value| {
            let name = Some(writer.add_dynamic_string(name.as_bytes()));
            symbols.push(Sym { name, section: None, st_info, st_other: 0, st_shndx, st_value, st_size: 0 });
            writer.reserve_dynamic_symbol_index().0
        };
        let data_at = CODE_AT + self.data.0;
        let mut relocations: Vec<Rel> = Vec::new();
        for &(at, to) in self.addresses {
            let r_addend = (CODE_AT + to) as i64;
            relocations.push(Rel { r_offset: data_at + at, r_sym: 0, r_type: R_X86_64_RELATIVE, r_addend });
        }
        for &(at, name) in self.others {
            let r_sym = symbol(name, STB_WEAK << 4, SHN_UNDEF, 0);
            relocations.push(Rel { r_offset: data_at + at, r_sym, r_type: R_X86_64_GLOB_DAT, r_addend: 0 });
        }
        for &(name, at) in self.functions {
            // A section must be named, and there is none: any number that isn't reserved does.
            symbol(name, STB_GLOBAL << 4 | STT_FUNC, 1, CODE_AT + at);
        }
        let count = writer.dynamic_symbol_count();
        writer.reserve_file_header();
        writer.reserve_program_headers(5);
        let hash_at = writer.reserve_hash(1, count);
        let symbols_at = writer.reserve_dynsym();
        let relocations_at = writer.reserve_relocations(relocations.len(), true);
        let strings_at = writer.reserve_dynstr();
        let described = [
            (DT_HASH, hash_at as u64),
            (DT_STRTAB, strings_at as u64),
            (DT_SYMTAB, symbols_at as u64),
            (DT_RELA, relocations_at as u64),
            (DT_RELASZ, (relocations.len() * RELOCATION) as u64),
            (DT_RELAENT, RELOCATION as u64),
            (DT_STRSZ, writer.dynstr_len() as u64),
            (DT_SYMENT, size_of::<Sym64<Endianness>>() as u64),
            (DT_INIT, CODE_AT + self.init),
            (DT_NULL, 0),
        ];
        let code_end = CODE_AT + self.code.len() as u64;
        assert!(writer.reserved_len() as u64 <= CODE_AT && code_end <= data_at, "the library is too long for its room");
        writer.reserve_until(data_at as usize);
        writer.reserve(self.data.1.len(), 1);
        // The linker writes to its description.
        let dynamic_at = writer.reserve_dynamic(1 + described.len()) as u64;
        let end = writer.reserved_len() as u64;

        let (e_type, e_machine) = (ET_DYN, EM_X86_64);
        writer.write_file_header(&FileHeader {
            os_abi: 0,
            abi_version: 0,
            e_type,
            e_machine,
            e_entry: 0,
            e_flags: 0,
        })?;
        writer.write_align_program_headers();
        let frames_at = CODE_AT + self.frames.0;
        for (p_type, p_flags, at, end, p_align) in [
            (PT_LOAD, PF_R | PF_X, 0, code_end, PAGE),
            (PT_LOAD, PF_R | PF_W, data_at, end, PAGE),
            (PT_DYNAMIC, PF_R | PF_W, dynamic_at, end, 8),
            (PT_GNU_EH_FRAME, PF_R, frames_at, frames_at + self.frames.1, 4),
            // Without it, stacks would be made executable.
            (PT_GNU_STACK, PF_R | PF_W, 0, 0, 16),
        ] {
            let (p_offset, p_vaddr, p_paddr) = (at, at, at);
            let (p_filesz, p_memsz) = (end - at, end - at);
            let header = ProgramHeader { p_type, p_flags, p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align };
            writer.write_program_header(&header);
        }
        writer.write_hash(1, count, |symbol| (symbol > 0).then_some(0));
        writer.write_null_dynamic_symbol();
        symbols.iter().for_each(|symbol| writer.write_dynamic_symbol(symbol));
        writer.write_align_relocation();
        relocations.iter().for_each(|relocation| writer.write_relocation(true, relocation));
        writer.write_dynstr();
        writer.pad_until(CODE_AT as usize);
        writer.write(self.code);
        writer.pad_until(data_at as usize);
        writer.write(self.data.1);
        writer.write_align_dynamic();
        writer.write_dynamic_string(DT_NEEDED, needs)?;
        described.into_iter().try_for_each(|(tag, value)| writer.write_dynamic(tag, value))
    }
}
