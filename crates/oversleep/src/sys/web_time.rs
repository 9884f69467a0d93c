//! WebAssembly without a system: the host's `performance.now`, and a spin for every wait, because the host's main thread
//! may not block.

#[link(wasm_import_module = "oversleep")]
// SAFETY: the host provides it as documented in the crate's README: milliseconds since its zero, never less than before.
unsafe extern "C" {
    safe fn performance_now() -> f64;
}

/// Nanoseconds on the host's clock, from one second before its zero. Browsers round it to 5 or 100 µs.
pub(crate) fn monotonic_ns() -> u64 {
    // The second keeps arithmetic on early instants away from zero.
    1_000_000_000 + (performance_now() * 1e6) as u64
}

/// Spins until `deadline_ns`.
pub(crate) fn wait_once_until(deadline_ns: u64) {
    while monotonic_ns() < deadline_ns {
        std::hint::spin_loop();
    }
}
