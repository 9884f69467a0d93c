//! Any bytes as a file of another program, in each format.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_exchange::FORMATS;
use oversleep_record::ResultFile;

fuzz_target!(|bytes: &[u8]| {
    for format in FORMATS {
        if let Ok(file) = format.read(bytes) {
            ResultFile::read(&file.write()).expect("a result reads back");
        }
    }
});
