//! The container image: the command and the C library that it is linked with, run by a user without rights. The image is
//! written as the OCI describes it
//! (<https://github.com/opencontainers/image-spec>): a layer, a configuration, a manifest and an index, packed as one
//! archive. skopeo and umoci, which others wrote from the same text, read it back.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::clean_root::{CleanRoot, NOBODY};
use super::contents::{Contents, gzip, sha256};
use super::product::{self, LICENCE, REPOSITORY, SUMMARY};
use super::trial;
use super::yard::{Refusal, Yard, run};

/// Where the command is in the image.
const COMMAND: &str = "/usr/bin/oversleep";

pub fn build(yard: &mut Yard) -> Result<Vec<PathBuf>, Refusal> {
    if !cfg!(target_os = "linux") {
        return Err(Refusal::Missing("an image for Linux is made on Linux, whose C library it has".to_owned()));
    }
    let path = yard.command(None)?;
    let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let (epoch_s, version) = (product::epoch_s(&yard.root)?, product::version(&yard.root)?);
    let mut system = Contents::default();
    system.add_program(&COMMAND[1..], read(&path)?);
    for library in libraries(&run(Command::new("ldd").arg(&path))?) {
        system.add_program(&library[1..], read(Path::new(library))?);
    }
    // Where these libraries are from, and under which licences they are passed on. Debian has them.
    for package in ["libc6", "libgcc-s1"] {
        let terms = format!("usr/share/doc/{package}/copyright");
        if let Ok(text) = fs::read(Path::new("/").join(&terms)) {
            system.add(&terms, text);
        }
    }
    system.add("etc/passwd", "root:x:0:0:root:/:/none\nnobody:x:65534:65534:nobody:/tmp:/none\n");
    system.add("etc/group", "root:x:0:\nnobody:x:65534:\n");
    // Results are written to the current folder.
    system.add_folder("tmp", 0o1777);
    for name in product::TEXTS.iter().filter(|name| name.starts_with("LICENSE")) {
        system.add(&format!("usr/share/doc/oversleep/{name}"), product::read(&yard.root.join(name))?);
    }
    let image = layout(&system, &version, epoch_s)?.tar(epoch_s)?;
    Ok(vec![product::write(&yard.dist.join(format!("oversleep-{version}-image-{}.tar", architecture())), image)?])
}

/// The paths that `ldd` prints: libraries, and the loader.
fn libraries(printed: &str) -> Vec<&str> {
    let paths = printed.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
    paths.collect()
}

/// What containers call this processor.
fn architecture() -> &'static str {
    if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" }
}

/// The files of an image: contents by their sums, and what leads to them.
fn layout(system: &Contents, version: &str, epoch_s: u64) -> Result<Contents, String> {
    let layer = system.tar(epoch_s)?;
    let layer_sum = sha256(&layer);
    let created = product::date(epoch_s, "%Y-%m-%dT%H:%M:%SZ")?;
    let mut image = Contents::default();
    let mut blob = |bytes: Vec<u8>, kind: &str| {
        let (sum, size) = (sha256(&bytes), bytes.len());
        image.add(&format!("blobs/sha256/{sum}"), bytes);
        json!({ "mediaType": kind, "digest": format!("sha256:{sum}"), "size": size })
    };
    let labels = json!({
        "org.opencontainers.image.title": "oversleep",
        "org.opencontainers.image.description": SUMMARY,
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": LICENCE,
        "org.opencontainers.image.source": REPOSITORY,
    });
    let layer = blob(gzip(&layer)?, "application/vnd.oci.image.layer.v1.tar+gzip");
    let config = json!({
        "created": created,
        "architecture": architecture(),
        "os": "linux",
        "config": { "User": NOBODY, "Entrypoint": [COMMAND], "WorkingDir": "/tmp", "Env": ["PATH=/usr/bin"], "Labels": labels },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{layer_sum}")] },
        "history": [{ "created": created, "created_by": "cargo xtask packages image" }],
    });
    let config = blob(text(&config), "application/vnd.oci.image.config.v1+json");
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": [layer],
        "annotations": labels,
    });
    let mut manifest = blob(text(&manifest), "application/vnd.oci.image.manifest.v1+json");
    manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": version });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [manifest],
    });
    image.add("index.json", text(&index));
    image.add("oci-layout", text(&json!({ "imageLayoutVersion": "1.0.0" })));
    Ok(image)
}

fn text(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

pub fn try_out(yard: &mut Yard, files: &[PathBuf]) -> Result<String, Refusal> {
    trial::size_at_most(yard, &files[0], 10_000_000)?;
    let version = product::version(&yard.root)?;
    for tool in ["skopeo", "umoci"] {
        yard.prerequisites.program(tool, &[tool]).map_err(Refusal::Missing)?;
    }
    let folder = yard.empty("image")?;
    let (from, to) = (format!("oci-archive:{}:{version}", files[0].display()), folder.join("layout"));
    let to = format!("{}:{version}", to.display());
    let config: Value = serde_json::from_str(&run(Command::new("skopeo").args(["inspect", "--config", &from]))?)
        .map_err(|error| format!("skopeo: {error}"))?;
    if config["config"]["User"] != NOBODY || config["config"]["Entrypoint"] != json!([COMMAND]) {
        return Err(Refusal::Failed(format!("skopeo reads another configuration: {config}")));
    }
    // It compares every sum.
    run(Command::new("skopeo").args(["copy", "--quiet", "--insecure-policy", &from, &format!("oci:{to}")]))?;
    let bundle = folder.join("bundle");
    run(Command::new("umoci").args(["unpack", "--image", &to]).arg(&bundle))?;
    let root = CleanRoot::at(bundle.join("rootfs"));
    let used = trial::of_command(&version, trial::ON_UNIX, |line| root.as_nobody(line))?;
    Ok(format!("read by skopeo, unpacked by umoci, run as {NOBODY}: {used}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_the_paths_that_ldd_prints() {
        let printed = "\tlinux-vdso.so.1 (0x1)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x2)\n\t\
                       /lib64/ld-linux-x86-64.so.2 (0x3)\n";
        assert_eq!(libraries(printed), ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"]);
    }

    #[test]
    fn everything_in_an_image_is_reached_by_its_sum() {
        let mut system = Contents::default();
        system.add_program("usr/bin/oversleep", "program");
        let image = layout(&system, "1.2.3", 1_790_000_001).unwrap();
        let read = |path: &str| image.get(path).unwrap().to_vec();
        let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        let followed = |link: &Value| {
            let sum = link["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
            let bytes = read(&format!("blobs/sha256/{sum}"));
            assert_eq!((sha256(&bytes), json!(bytes.len())), (sum.to_owned(), link["size"].clone()));
            bytes
        };
        let index = json(&read("index.json"));
        let manifest = json(&followed(&index["manifests"][0]));
        let config = json(&followed(&manifest["config"]));
        assert_eq!(
            (&config["config"]["User"], &config["created"]),
            (&json!("65534:65534"), &json!("2026-09-21T14:13:21Z"))
        );
        followed(&manifest["layers"][0]);
        assert_eq!(image.paths().count(), 5);
        // The configuration names the layer as it is unpacked.
        let sum = sha256(&system.tar(1_790_000_001).unwrap());
        assert_eq!(config["rootfs"]["diff_ids"], json!([format!("sha256:{sum}")]));
    }
}
