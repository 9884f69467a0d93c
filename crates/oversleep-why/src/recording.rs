//! recording
