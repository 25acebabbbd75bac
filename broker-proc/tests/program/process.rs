//! The program in a process of its own.

use crate::in_process::{LONG, free_port};
use std::io::{BufRead as _, BufReader, Read};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Small files, so that a start is cheap.
const SETTINGS: &str = "\
mappedFileSizeCommitLog=1048576
mappedFileSizeConsumeQueue=20000
maxHashSlotNum=1000
maxIndexNum=4000
";

/// A process that runs.
pub struct Process {
    child: Child,
    lines: mpsc::Receiver<String>,
    errors: Option<JoinHandle<String>>,
}

/// A process that has ended.
pub struct Ended {
    pub status: ExitStatus,
    /// What it wrote to standard error.
    pub errors: String,
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stratamq"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("NAMESRV_ADDR").env_remove("STRATAMQ_LOG");
    command
}

fn read_all(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    })
}

impl Process {
    /// Starts the program.
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // Nobody may be listening any more.
                let _ = sender.send(line);
            }
        });
        let errors = child.stderr.take().map(read_all);
        Self { child, lines, errors }
    }

    /// Starts the program with nobody reading its standard output, nor its standard error if `both`.
    pub fn start_unread(arguments: &[&str], both: bool) -> Self {
        let mut child = command(arguments).spawn().unwrap();
        drop(child.stdout.take());
        let (_, lines) = mpsc::channel();
        let errors = child.stderr.take().filter(|_| !both).map(read_all);
        Self { child, lines, errors }
    }

    /// The next line of standard output; `None` when there is no more.
    fn line(&mut self) -> Option<String> {
        match self.lines.recv_timeout(LONG) {
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("the program has written nothing for {LONG:?}"),
        }
    }

    /// Reads lines until one contains `text`, and returns that.
    pub fn until(&mut self, text: &str) -> String {
        loop {
            match self.line() {
                Some(line) if line.contains(text) => return line,
                Some(_) => {}
                None => panic!("the program ended before {text:?}: {}", self.wait().errors),
            }
        }
    }

    /// The lines by which a broker says that it serves; call it once.
    pub fn banner(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| line.starts_with("stop ")) {
            match self.line() {
                Some(line) => lines.push(line),
                None => panic!("the broker ended: {}", self.wait().errors),
            }
        }
        lines
    }

    /// Waits for the end, which must come before [`LONG`] is over.
    pub fn wait(&mut self) -> Ended {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < LONG, "the program has not ended after {LONG:?}");
            std::thread::sleep(Duration::from_millis(5));
        };
        let errors = self.errors.take().map(|errors| errors.join().unwrap()).unwrap_or_default();
        Ended { status, errors }
    }

    /// Sends a signal by its name.
    pub fn signal(&self, signal: &str) {
        let kill = format!("kill -{signal} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Sends a signal by its name and waits for the end.
    pub fn terminate(mut self, signal: &str) -> Ended {
        self.signal(signal);
        self.wait()
    }

    /// Sends a signal again and again until the process has ended.
    pub fn insist(mut self, signal: &str) -> Ended {
        while self.child.try_wait().unwrap().is_none() {
            self.signal(signal);
        }
        self.wait()
    }

    /// Ends the process as a crash would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    /// A failed test leaves no process behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A configuration and a place for a store, for one broker after the other.
pub struct Site {
    directory: TempDir,
}

impl Site {
    /// A place without a store yet; `settings` are the last lines of the configuration.
    pub fn new(settings: &str) -> Self {
        let site = Self { directory: tempfile::tempdir().unwrap() };
        std::fs::write(site.config(), format!("{SETTINGS}{settings}")).unwrap();
        site
    }

    /// The configuration.
    pub fn config(&self) -> PathBuf {
        self.directory.path().join("broker.conf")
    }

    /// Line in which the settings given to [`Site::new`] begin.
    pub fn first_line(&self) -> usize {
        SETTINGS.lines().count() + 1
    }

    /// The root of the store.
    pub fn store(&self) -> PathBuf {
        self.directory.path().join("store")
    }

    /// The file that is there while a store is open, or was not closed.
    pub fn abort_file(&self) -> PathBuf {
        self.store().join("abort")
    }

    fn arguments(&self, port: u16) -> Vec<String> {
        let (config, store) = (self.config().display().to_string(), self.store().display().to_string());
        let port = port.to_string();
        ["broker", "--config", &config, "--store", &store, "--listen-port", &port, "--namesrv-port", "0"]
            .map(str::to_owned)
            .into()
    }

    fn launch(&self, port: u16) -> Process {
        let arguments = self.arguments(port);
        Process::start(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Starts a broker that nobody reads, and waits until it serves.
    pub fn start_unread(&self, both: bool) -> Process {
        let port = free_port();
        let arguments = self.arguments(port);
        let mut process =
            Process::start_unread(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), both);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(process.child.try_wait().unwrap().is_none(), "{}", process.wait().errors);
            std::thread::yield_now();
        }
        process
    }

    /// Starts a broker; its port comes with it.
    pub fn start(&self) -> (Process, u16) {
        let port = free_port();
        (self.launch(port), port)
    }

    /// A start that must fail.
    pub fn refused_start(&self) -> Ended {
        self.refused_start_on(free_port())
    }

    /// The same on a given port.
    pub fn refused_start_on(&self, port: u16) -> Ended {
        let mut process = self.launch(port);
        while process.line().is_some() {}
        process.wait()
    }
}
