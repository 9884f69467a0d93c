//! A shared library of one piece of code and its data, as the dynamic linker wants it: no section, one hash chain.
//! <https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.dynamic.html>

/// Where the code begins in the file and in memory; what describes the library comes before it.
pub const CODE_AT: u64 = 0x1000;
const PAGE: u64 = 0x1000;

const GLOBAL_FUNCTION: u8 = 0x12;
const WEAK: u8 = 0x20;
/// `R_X86_64_RELATIVE`, `R_X86_64_GLOB_DAT`.
const RELATIVE: u64 = 8;
const GLOBAL_DATA: u64 = 6;

/// What goes into a library.
pub struct Library<'a> {
    pub code: &'a [u8],
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
        let mut strings = vec![0];
        let mut string = |name: &str| {
            let at = strings.len() as u32;
            strings.extend_from_slice(name.as_bytes());
            strings.push(0);
            at
        };
        let needs = string(self.needs);
        let mut symbols = vec![0; 24];
        let mut symbol = |name: u32, info: u8, section: u16, value: u64| {
            symbols.extend(name.to_le_bytes());
            symbols.extend([info, 0]);
            symbols.extend(section.to_le_bytes());
            symbols.extend(value.to_le_bytes());
            symbols.extend(0_u64.to_le_bytes());
        };
        for (_, name) in self.others {
            symbol(string(name), WEAK, 0, 0);
        }
        for (name, at) in self.functions {
            // A section must be named, and there is none: any number that isn't reserved does.
            symbol(string(name), GLOBAL_FUNCTION, 1, CODE_AT + at);
        }
        let count = (1 + self.others.len() + self.functions.len()) as u32;
        // One bucket, which leads to the first symbol; each leads to the one before.
        let hash: Vec<u8> =
            [1, count, count - 1].into_iter().chain([0]).chain(0..count - 1).flat_map(u32::to_le_bytes).collect();
        let data_at = CODE_AT + self.data.0;
        let relative = self.addresses.iter().map(|&(at, to)| [data_at + at, RELATIVE, CODE_AT + to]);
        let global =
            self.others.iter().zip(1_u64..).map(|(&(at, _), index)| [data_at + at, index << 32 | GLOBAL_DATA, 0]);
        let relocations: Vec<u8> = relative.chain(global).flatten().flat_map(u64::to_le_bytes).collect();

        let mut file = vec![0; 64 + 4 * 56];
        let mut placed = |bytes: &[u8]| {
            file.resize(file.len().next_multiple_of(8), 0);
            let at = file.len() as u64;
            file.extend_from_slice(bytes);
            at
        };
        let [hash, symbols_at, relocations_at] = [&hash, &symbols, &relocations].map(|bytes| placed(bytes));
        let strings_at = placed(&strings);
        let length = |bytes: &[u8]| bytes.len() as u64;
        let described = [
            [1, u64::from(needs)],
            [4, hash],
            [5, strings_at],
            [6, symbols_at],
            [7, relocations_at],
            [8, length(&relocations)],
            [9, 24],
            [10, length(&strings)],
            [11, 24],
            [12, CODE_AT + self.init],
            [0, 0],
        ];
        let described: Vec<u8> = described.into_iter().flatten().flat_map(u64::to_le_bytes).collect();
        assert!(file.len() as u64 <= CODE_AT, "what describes the library takes {} bytes", file.len());
        file.resize(CODE_AT as usize, 0);
        file.extend_from_slice(self.code);
        assert!(file.len() as u64 <= data_at, "the code is longer than its room");
        file.resize(data_at as usize, 0);
        file.extend_from_slice(self.data.1);
        // The linker writes to its description.
        file.resize(file.len().next_multiple_of(16), 0);
        let dynamic_at = file.len() as u64;
        file.extend_from_slice(&described);
        let end = file.len() as u64;
        let segment = |kind: u32, may: u32, at: u64, length: u64, align: u64| -> Vec<u8> {
            let words = [at, at, at, length, length, align];
            [kind, may]
                .into_iter()
                .flat_map(u32::to_le_bytes)
                .chain(words.into_iter().flat_map(u64::to_le_bytes))
                .collect()
        };
        let segments = [
            segment(1, 5, 0, CODE_AT + length(self.code), PAGE),
            segment(1, 6, data_at, end - data_at, PAGE),
            segment(2, 6, dynamic_at, length(&described), 8),
            // Without it, stacks would be made executable.
            segment(0x6474_e551, 6, 0, 0, 16),
        ]
        .concat();
        file[..64].copy_from_slice(&header((segments.len() / 56) as u16));
        file[64..64 + segments.len()].copy_from_slice(&segments);
        file
    }
}

fn header(segments: u16) -> [u8; 64] {
    let mut header = [0; 64];
    header[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    // A shared object for x86-64; its segments follow at once.
    header[16] = 3;
    header[18] = 62;
    header[20] = 1;
    header[32] = 64;
    header[52] = 64;
    header[54] = 56;
    header[56..58].copy_from_slice(&segments.to_le_bytes());
    header[58] = 64;
    header
}
