//! The initial file system of a kernel: an archive in cpio's `newc` format, uncompressed, because unpacking costs
//! emulated time. The kernel unpacks several concatenated archives.
//! <https://docs.kernel.org/driver-api/early-userspace/buffer-format.html>

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// An archive being built.
#[derive(Default)]
pub struct Archive {
    bytes: Vec<u8>,
    entries: u32,
    directories: Vec<String>,
}

impl Archive {
    /// Adds a directory, with its parents.
    pub fn directory(&mut self, path: &str) {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for above in ends.map(|end| &path[..end]) {
            if !self.directories.iter().any(|known| known == above) {
                self.directories.push(above.to_owned());
                self.entry(above, DIRECTORY, &[]);
            }
        }
    }

    /// Adds a file that every user may read and run.
    pub fn file(&mut self, path: &str, content: &[u8]) {
        if let Some((directory, _)) = path.rsplit_once('/') {
            self.directory(directory);
        }
        self.entry(path, PROGRAM, content);
    }

    /// The archive, closed.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let (size, name) = (content.len() as u32, path.len() as u32 + 1);
        // Number, mode, user, group, links, time of change, size, four numbers of devices, length of the name, checksum.
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name, 0];
        self.bytes.extend(b"070701");
        for field in fields {
            self.bytes.extend(format!("{field:08x}").bytes());
        }
        self.bytes.extend(path.bytes().chain([0]));
        self.align();
        self.bytes.extend(content);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_header_a_name_and_its_content_each_on_a_multiple_of_four() {
        let mut archive = Archive::default();
        archive.file("bin/sh", b"hello");
        let bytes = archive.into_bytes();
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(text.matches("070701").count(), 3, "the directory, the file and the end");
        assert!(bytes.len().is_multiple_of(4));
        let directory = "07070100000001000041ed0000000000000000000000010000000000000000000000000000000000000000000000000000\
                         000400000000bin\0";
        assert!(text.starts_with(directory), "{text}");
        // 110 bytes of header and 4 of the name, to 116; then the file, whose name ends at 116 + 110 + 7.
        assert_eq!(&bytes[116 + 110..116 + 117], b"bin/sh\0");
        assert_eq!(&bytes[236..241], b"hello");
    }

    #[test]
    fn directories_come_once_and_before_what_is_in_them() {
        let mut archive = Archive::default();
        archive.file("lib/a/b", b"");
        archive.file("lib/a/c", b"");
        let text = String::from_utf8_lossy(&archive.into_bytes()).into_owned();
        assert_eq!(text.matches("lib/a\0").count(), 1);
        assert!(text.find("lib\0") < text.find("lib/a\0") && text.find("lib/a\0") < text.find("lib/a/b\0"));
    }
}
