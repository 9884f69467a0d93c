//! A Trino server over the files of an archive: its core and its connector for Hive's layout of folders, from Maven.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::run;

const VERSION: &str = "476";
const PORT: u16 = 18_080;

/// Gets the server and the connector.
pub(super) fn fetch(scratch: &Path) -> Result<(), String> {
    let folder = scratch.join("trino");
    if folder.join("plugin/hive").exists() {
        return Ok(());
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let get = |artifact: &str, kind: &str| {
        let artifact = format!("-Dartifact=io.trino:{artifact}:{VERSION}:{kind}");
        let output = format!("-DoutputDirectory={}", scratch.display());
        run(Command::new("mvn").args(["--batch-mode", "--quiet", "dependency:copy", &artifact, &output]))
    };
    get("trino-server-core", "tar.gz")?;
    get("trino-hive", "zip")?;
    let archive = scratch.join(format!("trino-server-core-{VERSION}.tar.gz"));
    run(Command::new("tar").arg("-xzf").arg(archive).args(["--strip-components=1", "-C"]).arg(&folder))?;
    let unpacked = scratch.join("trino-hive");
    run(Command::new("unzip")
        .arg("-oq")
        .arg(scratch.join(format!("trino-hive-{VERSION}.zip")))
        .arg("-d")
        .arg(&unpacked))?;
    fs::create_dir_all(folder.join("plugin")).map_err(|error| error.to_string())?;
    fs::rename(unpacked.join(format!("trino-hive-{VERSION}")), folder.join("plugin/hive"))
        .map_err(|error| format!("plugin/hive: {error}"))
}

/// A running server, which ends with this.
pub(super) struct Server(Child);

impl Server {
    /// Starts it.
    pub fn start(scratch: &Path) -> Result<Server, String> {
        let folder = scratch.join("trino");
        if !folder.join("plugin/hive").exists() {
            return Err("there is no Trino; --fetch gets it".to_owned());
        }
        let java = java()?;
        let data = scratch.join("trino-data");
        let _ = fs::remove_dir_all(&data);
        let write = |name: &str, text: String| {
            let path = folder.join("etc").join(name);
            let parent = path.parent().unwrap_or(&folder).to_owned();
            fs::create_dir_all(parent).and_then(|()| fs::write(&path, text)).map_err(|error| format!("{name}: {error}"))
        };
        write("node.properties", format!("node.environment=archive\nnode.id=one\nnode.data-dir={}\n", data.display()))?;
        write(
            "config.properties",
            format!(
                "coordinator=true\nnode-scheduler.include-coordinator=true\nhttp-server.http.port={PORT}\ndiscovery.uri=\
                 http://127.0.0.1:{PORT}\n"
            ),
        )?;
        // Its own tables are beside the server, those of the archive where they are.
        write(
            "catalog/hive.properties",
            format!(
                "connector.name=hive\nhive.metastore=file\nhive.metastore.catalog.dir=local://{}\n\
                 fs.native-local.enabled=true\nlocal.location=/\n",
                data.join("catalog").display()
            ),
        )?;
        let log = fs::File::create(scratch.join("trino.log")).map_err(|error| error.to_string())?;
        let etc = folder.join("etc");
        let child = Command::new(java)
            .current_dir(&folder)
            .args(["-Xmx2G", "--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"])
            .args(["--add-modules=jdk.incubator.vector", "-XX:+EnableDynamicAgentLoading", "-cp", "lib/*"])
            .arg(format!("-Dnode.config={}", etc.join("node.properties").display()))
            .arg(format!("-Dconfig={}", etc.join("config.properties").display()))
            .args([
                format!("-Dnode.data-dir={}", data.display()).as_str(),
                "-Dnode.environment=archive",
                "-Dnode.id=one",
            ])
            .arg("io.trino.server.TrinoServer")
            .stdout(log.try_clone().map_err(|error| error.to_string())?)
            .stderr(log)
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| format!("java: {error}"))?;
        Ok(Server(child))
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{PORT}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A Java that is new enough.
fn java() -> Result<PathBuf, String> {
    let own = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_new = |home: &PathBuf| {
        let release = fs::read_to_string(home.join("release")).unwrap_or_default();
        let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""));
        version
            .and_then(|version| version.split(['.', '"', '-']).next()?.parse::<u32>().ok())
            .is_some_and(|major| major >= 24)
    };
    let found = own.into_iter().chain(installed).find(is_new);
    found
        .map(|home| home.join("bin/java"))
        .ok_or_else(|| "Trino needs Java 24, in JAVA_HOME or /usr/lib/jvm".to_owned())
}
