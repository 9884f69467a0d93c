//! Whatever can be a result: results of any version, recordings of `oversleep why` and of other tools, files of other
//! programs.

use std::io::Read;

use oversleep_record::file::FileError;
use oversleep_record::{ResultFile, Series};
use oversleep_recordings::packed;
use oversleep_why::recording::Reader;
use oversleep_why::session;

use crate::{FILE_BYTES_MAX, HEAD_BYTES, ImportError, recognise};

/// Why there is no result in a source.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It can't be read, or is no result.
    #[error(transparent)]
    Result(#[from] FileError),
    /// It is a recording that is damaged.
    #[error("{0}")]
    Recording(String),
    /// It is another program's.
    #[error(transparent)]
    Import(#[from] ImportError),
}

/// Reads a result, or makes one of what is there. `reduce` is applied to each series.
///
/// # Errors
/// Why there is none.
pub fn read(source: &mut dyn Read, reduce: fn(&mut Series)) -> Result<ResultFile, ReadError> {
    let mut bytes = Vec::new();
    (&mut *source).take(HEAD_BYTES as u64).read_to_end(&mut bytes).map_err(FileError::Unreadable)?;
    if packed::is_packed(&bytes) {
        source.read_to_end(&mut bytes).map_err(FileError::Unreadable)?;
        bytes = packed::unpack(&bytes).map_err(|why| ReadError::Recording(why.to_owned()))?;
    }
    if Reader::knows(&bytes) {
        source.read_to_end(&mut bytes).map_err(FileError::Unreadable)?;
        return session::replay(&bytes).map_err(|error| ReadError::Recording(error.to_string()));
    }
    if let Some(format) = oversleep_recordings::recognise(&bytes) {
        source.read_to_end(&mut bytes).map_err(FileError::Unreadable)?;
        let made = oversleep_recordings::replay(format, &&bytes[..]);
        return made.map_err(|fault| ReadError::Recording(format!("it is {}, but {fault}", format.name)));
    }
    let Some(format) = recognise(&bytes)? else {
        return Ok(ResultFile::read_reduced(bytes.chain(source), reduce)?);
    };
    (&mut *source).take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(FileError::Unreadable)?;
    let mut file = format.read(&bytes)?;
    file.series.iter_mut().for_each(reduce);
    Ok(file)
}
