//! Any text as a duration: it is read or refused, and a duration that was read prints as one again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_record::Nanos;

fuzz_target!(|text: &str| {
    match text.parse::<Nanos>() {
        Ok(span) => {
            assert_eq!(format!("{}ns", span.0).parse(), Ok(span), "{text:?}");
            // Printing rounds to three digits; the printed form must still be readable.
            let printed = span.to_string();
            assert!(printed.parse::<Nanos>().is_ok() || span.0.unsigned_abs() > 1 << 62, "{text:?} → {printed:?}");
            let _ = (format!("{span:>12.2}"), span.round_up_to(Nanos(15_625_000)), span.to_std());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
