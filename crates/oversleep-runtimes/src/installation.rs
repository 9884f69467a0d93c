//! A runtime that is here, and one that is not.

use std::env;
use std::path::PathBuf;

use crate::descriptor::{Descriptor, Library};

/// A runtime that is installed here.
#[derive(Clone, Debug)]
pub struct Installation {
    /// What it is.
    pub descriptor: &'static Descriptor,
    /// Its program.
    pub exe: PathBuf,
    /// Its version.
    pub version: String,
    /// Tells it from other runtimes of this machine: `java-17`.
    pub id: String,
    /// The library that its probe is built on.
    pub library: Option<Built>,
}

impl Installation {
    /// What its commands may name.
    pub fn values(&self) -> Vec<(&'static str, String)> {
        let library = self.library.as_ref();
        let jar = library.map(|library| library.jar.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = library.map(|library| library.of.folder.clone()).unwrap_or_default();
        // Two empty parts are the separator alone.
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

    /// In a list of what was found: `Java 17.0.15`, `Hazelcast Jet 5.7.0 on Java 17.0.15`.
    pub fn title(&self) -> String {
        let plain = format!("{} {}", self.descriptor.title, self.version);
        self.library.as_ref().map_or(plain.clone(), |library| format!("{plain} on {}", library.on))
    }
}

/// A runtime that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its name.
    pub name: String,
    /// Why, and what would help.
    pub reason: String,
}

/// The library that a probe is built on.
#[derive(Clone, Debug)]
pub struct Built {
    /// The file.
    pub jar: PathBuf,
    /// What it is.
    pub of: &'static Library,
    /// The runtime below it: `Java 17.0.15`.
    pub on: String,
}
