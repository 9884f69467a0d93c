//! A runtime that is installed, and one that is missing.

use std::env;
use std::path::PathBuf;

use crate::descriptor::{Descriptor, Library};

/// A runtime that is installed.
#[derive(Clone, Debug)]
pub struct Installation {
    /// Its description.
    pub descriptor: &'static Descriptor,
    /// Its program.
    pub exe: PathBuf,
    /// Its version.
    pub version: String,
    /// Distinguishes it from other runtimes of this machine: `java-17`.
    pub id: String,
    /// The library that its probe uses.
    pub library: Option<Built>,
}

impl Installation {
    /// The placeholders of its commands, with their values.
    pub fn values(&self) -> Vec<(&'static str, String)> {
        let library = self.library.as_ref();
        let jar = library.map(|library| library.jar.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = library.map(|library| library.of.folder.clone()).unwrap_or_default();
        // Joining two empty parts yields just the separator.
        let separator = env::join_paths(["", ""]).unwrap_or_default().to_string_lossy().into_owned();
        vec![
            ("exe", self.exe.to_string_lossy().into_owned()),
            ("version", self.version.clone()),
            ("short", self.version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")),
            ("jar", jar),
            ("folder", folder),
            ("separator", separator),
        ]
    }

    /// The title in a list of what was found: `Java 17.0.15`, `Hazelcast Jet 5.7.0 on Java 17.0.15`.
    pub fn title(&self) -> String {
        let plain = format!("{} {}", self.descriptor.title, self.version);
        self.library.as_ref().map_or(plain.clone(), |library| format!("{plain} on {}", library.on))
    }
}

/// A runtime that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its name.
    pub name: String,
    /// The reason, and the remedy.
    pub reason: String,
}

/// The library that a probe uses.
#[derive(Clone, Debug)]
pub struct Built {
    /// The file.
    pub jar: PathBuf,
    /// Its description.
    pub of: &'static Library,
    /// The runtime that hosts it: `Java 17.0.15`.
    pub on: String,
}
