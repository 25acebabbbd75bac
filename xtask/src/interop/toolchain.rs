//! Installs and builds the client programs with the ordinary tools of each language.
//!
//! Sources stay untouched: everything built or installed goes below `interop/` in the build output directory.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use super::client::Language;
use super::stamp::Stamp;
use crate::harness::process;
use crate::harness::report::Report;
use crate::workspace::Workspace;

/// A first installation fetches about a hundred packages.
const INSTALL_DEADLINE: Duration = Duration::from_secs(540);

/// A consumer takes up a topic that appears later (its retry topic) at its next rebalance: 20 s by default.
const FREQUENT_REBALANCE: &str = "-Drocketmq.client.rebalance.waitInterval=1000";

/// The client programs, each ready to run or the reason why not.
pub struct Toolchain {
    java: Result<JavaPrograms, String>,
    node: Result<PathBuf, String>,
    go: Result<PathBuf, String>,
}

/// Where the classes are.
pub struct JavaPrograms {
    /// Of the Java programs of the harness and all they depend on.
    clients: OsString,
    /// Of Apache's servers: the same without our own classes and log configuration.
    servers: OsString,
}

impl Toolchain {
    /// Builds the programs of all languages at once; each is one line of the report.
    pub fn install(workspace: &Workspace, report: &Report) -> Self {
        let sources = workspace.root.join("xtask").join("interop");
        let output = workspace.target.join("interop");
        let (java, node, go) = thread::scope(|scope| {
            let node = scope.spawn(|| install_node(&sources.join("node"), &output.join("node")));
            let go = scope.spawn(|| install_go(&sources.join("go"), &output.join("go")));
            let java = install_java(&sources.join("java"), &output.join("java"));
            let panicked = || Err(anyhow!("the installation panicked"));
            (java, node.join().unwrap_or_else(|_| panicked()), go.join().unwrap_or_else(|_| panicked()))
        });
        Toolchain {
            java: noted(report, Language::Java, java),
            node: noted(report, Language::Node, node),
            go: noted(report, Language::Go, go),
        }
    }

    /// The start of a command that runs the client program of a language.
    ///
    /// # Errors
    /// When the program could not be built.
    pub fn client(&self, language: Language, home: &Path) -> Result<Command> {
        match language {
            Language::Java => {
                let options = ["-Xmx512m", "-XX:TieredStopAtLevel=1", FREQUENT_REBALANCE];
                let class_path = &ready(&self.java, language)?.clients;
                Ok(java(class_path, home, &options, "stratamq.interop.Main"))
            }
            Language::Node => {
                let mut command = Command::new("node");
                command.arg(ready(&self.node, language)?);
                Ok(command)
            }
            Language::Go => Ok(Command::new(ready(&self.go, language)?)),
        }
    }

    /// A command that runs one of Apache's servers, which puts its logs below `home`.
    ///
    /// # Errors
    /// When its classes are missing.
    pub fn apache_server(&self, home: &Path, options: &[&str], class: &str) -> Result<Command> {
        let mut command = java(&ready(&self.java, Language::Java)?.servers, home, options, class);
        // Where the servers look for their configuration.
        command.env("ROCKETMQ_HOME", home);
        Ok(command)
    }
}

impl JavaPrograms {
    /// Builds the Java programs and resolves Apache's classes by Maven.
    ///
    /// # Errors
    /// When a tool is missing or fails.
    pub fn install(workspace: &Workspace) -> Result<Self> {
        let sources = workspace.root.join("xtask").join("interop").join("java");
        install_java(&sources, &workspace.target.join("interop").join("java"))
    }

    /// A command that runs a class of the harness with these options of the virtual machine and no others.
    pub fn command(&self, home: &Path, options: &[&str], class: &str) -> Command {
        let mut user_home = OsString::from("-Duser.home=");
        user_home.push(home);
        let mut command = Command::new("java");
        command.args(options).arg(user_home).arg("-cp").arg(&self.clients).arg(class);
        command
    }
}

fn java(class_path: &OsString, home: &Path, options: &[&str], class: &str) -> Command {
    let mut user_home = OsString::from("-Duser.home=");
    user_home.push(home);
    let mut command = Command::new("java");
    command.args(options).arg("-XX:+UseSerialGC").arg(user_home).arg("-cp").arg(class_path).arg(class);
    command
}

/// Reports how an installation ended.
fn noted<T>(report: &Report, language: Language, outcome: Result<T>) -> Result<T, String> {
    let name = format!("{}: client program", language.name());
    match outcome {
        Ok(value) => {
            report.ok(&name, language.library());
            Ok(value)
        }
        Err(error) => {
            report.fail(&name, &error);
            Err(format!("{error:#}").lines().next().unwrap_or_default().to_owned())
        }
    }
}

fn ready<T>(program: &Result<T, String>, language: Language) -> Result<&T> {
    match program {
        Ok(value) => Ok(value),
        Err(reason) => bail!("the {} client program is missing: {reason}", language.name()),
    }
}

/// Fails with the name of what is missing when a tool cannot be run.
fn require(what: &str, program: &str, argument: &str) -> Result<()> {
    let status = Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("{what} is needed, but `{program} {argument}` ended with {status}"),
        Err(error) => bail!("{what} is needed, but `{program} {argument}` cannot be run: {error}"),
    }
}

fn install_java(sources: &Path, output: &Path) -> Result<JavaPrograms> {
    require("a JDK", "javac", "-version")?;
    require("a Java runtime", "java", "-version")?;
    require("Maven", "mvn", "--version")?;
    let class_path_file = output.join("classpath.txt");
    let stamp = prepare(sources, output)?;
    if !stamp.is_current() || !class_path_is_complete(&class_path_file) {
        let mut command = Command::new("mvn");
        command.args(["--quiet", "--batch-mode", "compile", "dependency:build-classpath"]);
        command.arg(property("interop.target", output)).arg(property("mdep.outputFile", &class_path_file));
        build(command.current_dir(sources), output)?;
        stamp.write()?;
    }
    let dependencies = fs::read_to_string(&class_path_file)
        .with_context(|| format!("cannot read {}", class_path_file.display()))?;
    let servers = OsString::from(dependencies.trim());
    let entries = [output.join("classes")].into_iter().chain(env::split_paths(&servers));
    Ok(JavaPrograms { clients: env::join_paths(entries)?, servers })
}

fn property(name: &str, value: &Path) -> OsString {
    let mut argument = OsString::from(format!("-D{name}="));
    argument.push(value);
    argument
}

/// Whether all files of the last build's class path are still there.
fn class_path_is_complete(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|paths| env::split_paths(paths.trim()).all(|path| path.exists()))
}

fn install_node(sources: &Path, output: &Path) -> Result<PathBuf> {
    require("Node.js", "node", "--version")?;
    require("npm", "npm", "--version")?;
    let stamp = prepare(sources, output)?;
    if !stamp.is_current() {
        for entry in fs::read_dir(sources).with_context(|| format!("cannot list {}", sources.display()))? {
            let path = entry?.path();
            if let (true, Some(name)) = (path.is_file(), path.file_name()) {
                fs::copy(&path, output.join(name))
                    .with_context(|| format!("cannot copy {}", path.display()))?;
            }
        }
        let mut command = Command::new("npm");
        command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        build(command.current_dir(output), output)?;
        stamp.write()?;
    }
    Ok(output.join("main.js"))
}

fn install_go(sources: &Path, output: &Path) -> Result<PathBuf> {
    require("Go", "go", "version")?;
    let program = output.join(format!("client{}", env::consts::EXE_SUFFIX));
    let stamp = prepare(sources, output)?;
    if !stamp.is_current() || !program.exists() {
        let mut command = Command::new("go");
        command.args(["build", "-buildvcs=false", "-o"]).arg(&program).arg(".");
        // The installed Go must do: no other one is fetched.
        build(command.env("GOTOOLCHAIN", "local").current_dir(sources), output)?;
        stamp.write()?;
    }
    Ok(program)
}

fn prepare(sources: &Path, output: &Path) -> Result<Stamp> {
    fs::create_dir_all(output).with_context(|| format!("cannot make {}", output.display()))?;
    Stamp::of(sources, output.join("sources.sha256"))
}

/// Runs an installer with a fresh log beside its result.
fn build(command: &mut Command, output: &Path) -> Result<()> {
    let log = output.join("install.log");
    fs::write(&log, "").with_context(|| format!("cannot write {}", log.display()))?;
    process::run(command, &log, INSTALL_DEADLINE)
}
