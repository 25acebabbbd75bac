//! The machine that figures were taken on.

use serde::Serialize;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What of the machine decides figures; empty where the system does not tell.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Machine {
    /// Model of the processor.
    cpu: String,
    /// Threads of it that this process may use.
    cpus: usize,
    /// Bytes of memory.
    memory: u64,
    /// Release of the kernel.
    kernel: String,
    /// File system of the measured directory and its device.
    file_system: String,
    /// KiB the device reads ahead.
    read_ahead_kib: Option<u64>,
}

impl Machine {
    /// This machine, and the disk below `directory`.
    pub(super) fn here(directory: &Path) -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let device = fs::metadata(directory).map(|metadata| metadata.dev()).ok();
        let number = device.map(|device| (rustix::fs::major(device), rustix::fs::minor(device)));
        let read_ahead = number.and_then(|(major, minor)| {
            let path = format!("/sys/dev/block/{major}:{minor}");
            let of_device = fs::read_to_string(format!("{path}/queue/read_ahead_kb"));
            // A partition has no queue of its own.
            of_device.or_else(|_| fs::read_to_string(format!("{path}/../queue/read_ahead_kb"))).ok()
        });
        Self {
            cpu: cpu_model(&read("/proc/cpuinfo")),
            cpus: std::thread::available_parallelism().map_or(0, usize::from),
            memory: memory(&read("/proc/meminfo")),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            file_system: number
                .map(|number| file_system(&read("/proc/self/mountinfo"), number))
                .unwrap_or_default(),
            read_ahead_kib: read_ahead.and_then(|text| text.trim().parse().ok()),
        }
    }
}

fn cpu_model(cpuinfo: &str) -> String {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split_once(':')).map_or_else(String::new, |(_, name)| name.trim().to_owned())
}

fn memory(meminfo: &str) -> u64 {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or_default() << 10
}

/// Type and source of the mount of a device, as in `ext4 on /dev/vda`.
fn file_system(mountinfo: &str, (major, minor): (u32, u32)) -> String {
    let device = format!("{major}:{minor}");
    for line in mountinfo.lines() {
        let Some((mount, rest)) = line.split_once(" - ") else { continue };
        if mount.split(' ').nth(2) == Some(device.as_str()) {
            let mut rest = rest.split(' ');
            let (kind, source) = (rest.next().unwrap_or_default(), rest.next().unwrap_or_default());
            return format!("{kind} on {source}");
        }
    }
    String::new()
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
        write!(
            f,
            "{} CPUs ({}), {:.0} GiB, kernel {}, {}",
            self.cpus,
            told(&self.cpu),
            self.memory as f64 / f64::from(1 << 30),
            told(&self.kernel),
            told(&self.file_system),
        )?;
        self.read_ahead_kib.map_or(Ok(()), |kib| write!(f, ", read-ahead {kib} KiB"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_tells_is_read() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n"), "Some CPU @ 2 GHz");
        assert_eq!(memory("MemTotal:       24000000 kB\nMemFree: 1 kB\n"), 24_000_000 << 10);
        let mounts =
            "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n23 22 0:5 / /proc rw - proc proc rw\n";
        assert_eq!(file_system(mounts, (8, 1)), "ext4 on /dev/sda1");
        assert_eq!(file_system(mounts, (9, 9)), "");
        assert!(Machine::default().to_string().contains("unknown"));
    }
}
