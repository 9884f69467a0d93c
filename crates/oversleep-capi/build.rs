//! Sets the name by which linked programs find the shared library at run time. It must change with
//! `OVERSLEEP_ABI_VERSION`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos" | "ios") => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/liboversleep.1.dylib");
        }
        // Programs find a DLL by its file name, and a WebAssembly module has none.
        Ok("windows" | "unknown") | Err(_) => {}
        Ok(_) => println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liboversleep.so.1"),
    }
}
