//! Gives the shared library the name that programs linked with it look for at run time, which must change with
//! `OVERSLEEP_ABI_VERSION`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos" | "ios") => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/liboversleep.1.dylib");
        }
        // The DLL is found by its file's name.
        Ok("windows") | Err(_) => {}
        Ok(_) => println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liboversleep.so.1"),
    }
}
