//! The container image: the static command alone, run by a user without rights. It is written as the OCI describes it
//! (<https://github.com/opencontainers/image-spec>): a layer, a configuration, a manifest and an index, packed as one
//! archive. skopeo and umoci, which others wrote from the same text, read it back.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::archive;
use super::clean_root::{CleanRoot, NOBODY};
use super::contents::{Contents, gzip, sha256};
use super::product::{self, LICENCE, REPOSITORY, SUMMARY};
use super::trial;
use super::yard::{Refusal, Yard, run};

/// Where the command is in the image.
const COMMAND: &str = "/usr/bin/oversleep";

pub fn build(yard: &mut Yard) -> Result<Vec<PathBuf>, Refusal> {
    let target = archive::MUSL.target;
    xtask_tools::can_build_for(target, &yard.prerequisites).map_err(Refusal::Missing)?;
    let command = yard.command(Some(target))?;
    let command = fs::read(&command).map_err(|error| format!("{}: {error}", command.display()))?;
    let (epoch_s, version) = (product::epoch_s(&yard.root)?, product::version(&yard.root)?);
    let mut system = Contents::default();
    system.add_program(&COMMAND[1..], command);
    system.add("etc/passwd", "root:x:0:0:root:/:/none\nnobody:x:65534:65534:nobody:/tmp:/none\n");
    system.add("etc/group", "root:x:0:\nnobody:x:65534:\n");
    // Results are written to the current folder.
    system.add_folder("tmp", 0o1777);
    for name in product::TEXTS.iter().filter(|name| name.starts_with("LICENSE")) {
        system.add(&format!("usr/share/doc/oversleep/{name}"), product::read(&yard.root.join(name))?);
    }
    let image = layout(&system, &version, epoch_s)?.tar(epoch_s)?;
    Ok(vec![product::write(&yard.dist.join(format!("oversleep-{version}-image-amd64.tar")), image)?])
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
        "architecture": "amd64",
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
    trial::size_at_most(&files[0], 10_000_000)?;
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
    Ok(format!("read by skopeo, unpacked by umoci, run as {NOBODY} with nothing beside it: {used}"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
