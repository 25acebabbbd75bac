//! A directory of pre-sized, mostly empty files in one small file: for sending a store along with a report, and for the
//! golden stores of the tests.
//!
//! Layout: 8 bytes magic `SMQPACK1`, then a zlib stream of big-endian fields:
//!
//! | field | size |
//! |---|---|
//! | number of blocks | 4 |
//! | per block: length (1…4096), bytes | 2 + n |
//! | number of files | 4 |
//! | per file: path length, path (UTF-8, `/` between components) | 2 + n |
//! | … length of the file | 8 |
//! | … number of its blocks; per block: position ÷ 4096, block number | 4 + 8 each |
//!
//! A block is a 4 KiB stretch without its trailing zeros; equal blocks are kept once, whatever file they come from, so
//! near-copies of a store cost little. What no block covers is zero.

use crate::env::{Disk, FileKind, OpenMode};
use crate::error::{DiskError, Result};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::path::{Component, Path};

const MAGIC: &[u8; 8] = b"SMQPACK1";
const BLOCK: usize = 4096;

/// What an archive holds, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Files.
    pub files: usize,
    /// Sum of their lengths in bytes.
    pub bytes: u64,
    /// Bytes of the archive.
    pub packed: u64,
}

/// Packs every file below `directory` into `archive`.
pub fn pack(disk: &dyn Disk, directory: &Path, archive: &Path) -> Result<Summary> {
    let mut builder = Builder::default();
    builder.add_directory(disk, directory, "")?;
    let bytes = builder.finish().map_err(|error| DiskError::new("pack", directory, error))?;
    let file = disk.open(archive, OpenMode::OpenOrCreate)?;
    file.set_len(0)?;
    file.write_all_at(&bytes, 0)?;
    file.sync_all()?;
    Ok(Summary { packed: bytes.len() as u64, ..builder.summary })
}

/// Unpacks the files whose path begins with `prefix` (empty: all) below `directory`; the prefix is taken off. Space
/// that holds zeros is not reserved.
///
/// # Errors
///
/// A damaged archive, a path that leaves the directory, a file that exists.
pub fn unpack(disk: &dyn Disk, archive: &Path, prefix: &str, directory: &Path) -> Result<Summary> {
    let packed = crate::atomic_file::read(disk, archive)?
        .ok_or_else(|| DiskError::new("open", archive, io::ErrorKind::NotFound.into()))?;
    let contents = Contents::parse(&packed).map_err(|error| DiskError::new("unpack", archive, error))?;
    let mut summary = Summary { files: 0, bytes: 0, packed: packed.len() as u64 };
    for file in &contents.files {
        let Some(relative) = file.path.strip_prefix(prefix) else { continue };
        contents.write_file(disk, file, &directory.join(relative.trim_start_matches('/')))?;
        summary.files += 1;
        summary.bytes += file.len;
    }
    Ok(summary)
}

struct PackedFile {
    path: String,
    len: u64,
    /// Position ÷ 4096, block number.
    blocks: Vec<(u32, u32)>,
}

struct Builder {
    blocks: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u32>,
    files: Vec<PackedFile>,
    summary: Summary,
}

impl Default for Builder {
    fn default() -> Self {
        let summary = Summary { files: 0, bytes: 0, packed: 0 };
        Self { blocks: Vec::new(), numbers: HashMap::new(), files: Vec::new(), summary }
    }
}

impl Builder {
    fn add_directory(&mut self, disk: &dyn Disk, directory: &Path, prefix: &str) -> Result<()> {
        for entry in disk.read_dir(directory)? {
            let path = directory.join(&entry.name);
            let name =
                if prefix.is_empty() { entry.name.clone() } else { format!("{prefix}/{}", entry.name) };
            match entry.kind {
                FileKind::Directory => self.add_directory(disk, &path, &name)?,
                FileKind::File => self.add_file(disk, &path, name)?,
                FileKind::Other => {}
            }
        }
        Ok(())
    }

    fn add_file(&mut self, disk: &dyn Disk, path: &Path, name: String) -> Result<()> {
        let file = disk.open(path, OpenMode::Read)?;
        let len = file.len()?;
        let mut blocks = Vec::new();
        let mut buf = [0_u8; BLOCK];
        let mut at = 0;
        while at < len {
            let part = (len - at).min(BLOCK as u64) as usize;
            file.read_exact_at(&mut buf[..part], at)?;
            if let Some(last) = buf[..part].iter().rposition(|byte| *byte != 0) {
                let number = self.block_number(&buf[..=last]);
                let position = u32::try_from(at / BLOCK as u64)
                    .map_err(|_| DiskError::new("pack", path, io::ErrorKind::FileTooLarge.into()))?;
                blocks.push((position, number));
            }
            at += part as u64;
        }
        self.summary.files += 1;
        self.summary.bytes += len;
        self.files.push(PackedFile { path: name, len, blocks });
        Ok(())
    }

    fn block_number(&mut self, block: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(block) {
            return *number;
        }
        let number = self.blocks.len() as u32;
        self.blocks.push(block.to_vec());
        self.numbers.insert(block.to_vec(), number);
        number
    }

    fn finish(&self) -> io::Result<Vec<u8>> {
        let mut out = ZlibEncoder::new(MAGIC.to_vec(), Compression::best());
        out.write_all(&(self.blocks.len() as u32).to_be_bytes())?;
        for block in &self.blocks {
            out.write_all(&(block.len() as u16).to_be_bytes())?;
            out.write_all(block)?;
        }
        out.write_all(&(self.files.len() as u32).to_be_bytes())?;
        for file in &self.files {
            let path_len =
                u16::try_from(file.path.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
            out.write_all(&path_len.to_be_bytes())?;
            out.write_all(file.path.as_bytes())?;
            out.write_all(&file.len.to_be_bytes())?;
            out.write_all(&(file.blocks.len() as u32).to_be_bytes())?;
            for (position, number) in &file.blocks {
                out.write_all(&position.to_be_bytes())?;
                out.write_all(&number.to_be_bytes())?;
            }
        }
        out.finish()
    }
}

struct Contents {
    blocks: Vec<Vec<u8>>,
    files: Vec<PackedFile>,
}

impl Contents {
    fn parse(packed: &[u8]) -> io::Result<Self> {
        let stream =
            packed.strip_prefix(MAGIC).ok_or_else(|| damaged("expected the magic SMQPACK1 at offset 0"))?;
        let mut input = ZlibDecoder::new(stream);
        let mut blocks = Vec::new();
        for _ in 0..read_u32(&mut input)? {
            let len = usize::from(u16::from_be_bytes(read_array(&mut input)?));
            if len > BLOCK {
                return Err(damaged("a block is longer than 4096 bytes"));
            }
            blocks.push(read_vec(&mut input, len)?);
        }
        let mut files = Vec::new();
        for _ in 0..read_u32(&mut input)? {
            files.push(read_file(&mut input, blocks.len())?);
        }
        Ok(Self { blocks, files })
    }

    fn write_file(&self, disk: &dyn Disk, packed: &PackedFile, path: &Path) -> Result<()> {
        if let Some(parent) = path.parent() {
            disk.create_dir_all(parent)?;
        }
        let file = disk.open(path, OpenMode::CreateNew)?;
        file.set_len(packed.len)?;
        for (position, number) in &packed.blocks {
            file.write_all_at(&self.blocks[*number as usize], u64::from(*position) * BLOCK as u64)?;
        }
        Ok(())
    }
}

fn read_file(input: &mut impl Read, block_count: usize) -> io::Result<PackedFile> {
    let path_len = usize::from(u16::from_be_bytes(read_array(input)?));
    let path = String::from_utf8(read_vec(input, path_len)?).map_err(|_| damaged("a path is not UTF-8"))?;
    let inside = Path::new(&path).components().all(|component| matches!(component, Component::Normal(_)));
    if path.is_empty() || !inside {
        return Err(damaged("a path leaves the directory"));
    }
    let len = u64::from_be_bytes(read_array(input)?);
    let mut blocks = Vec::new();
    for _ in 0..read_u32(input)? {
        let position = read_u32(input)?;
        let number = read_u32(input)?;
        if number as usize >= block_count || u64::from(position) * BLOCK as u64 >= len {
            return Err(damaged("a block number or position is out of range"));
        }
        blocks.push((position, number));
    }
    Ok(PackedFile { path, len, blocks })
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("damaged archive: {what}"))
}

fn read_array<const N: usize>(input: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_u32(input: &mut impl Read) -> io::Result<u32> {
    Ok(u32::from_be_bytes(read_array(input)?))
}

fn read_vec(input: &mut impl Read, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::OsDisk;
    use std::fs;

    fn sample(dir: &Path) {
        fs::create_dir_all(dir.join("a/b")).unwrap();
        let mut log = vec![0_u8; 65_536];
        log[..5].copy_from_slice(b"hello");
        log[50_000] = 7;
        fs::write(dir.join("a/b/00000000000000000000"), &log).unwrap();
        fs::write(dir.join("a/copy"), &log).unwrap();
        fs::write(dir.join("empty"), b"").unwrap();
    }

    #[test]
    fn packs_and_unpacks_equal_bytes() {
        let dir = tempfile::tempdir().unwrap();
        sample(&dir.path().join("in"));
        let archive = dir.path().join("x.pack");
        let packed = pack(&OsDisk, &dir.path().join("in"), &archive).unwrap();
        assert_eq!((packed.files, packed.bytes), (3, 131_072));
        assert!(packed.packed < 300, "{packed:?}");
        let out = dir.path().join("out");
        assert_eq!(unpack(&OsDisk, &archive, "", &out).unwrap(), packed);
        for name in ["a/b/00000000000000000000", "a/copy", "empty"] {
            assert_eq!(
                fs::read(out.join(name)).unwrap(),
                fs::read(dir.path().join("in").join(name)).unwrap()
            );
        }
        let part = dir.path().join("part");
        assert_eq!(unpack(&OsDisk, &archive, "a/b/", &part).unwrap().files, 1);
        assert!(part.join("00000000000000000000").exists());
    }

    #[test]
    fn damage_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        sample(&dir.path().join("in"));
        let archive = dir.path().join("x.pack");
        pack(&OsDisk, &dir.path().join("in"), &archive).unwrap();
        let bytes = fs::read(&archive).unwrap();
        for cut in [0, 4, 8, 12, bytes.len() / 2] {
            assert!(Contents::parse(&bytes[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn a_path_outside_is_refused() {
        let mut builder = Builder::default();
        builder.files.push(PackedFile { path: "../evil".into(), len: 0, blocks: Vec::new() });
        let error = Contents::parse(&builder.finish().unwrap()).err().unwrap();
        assert!(error.to_string().contains("leaves the directory"), "{error}");
    }
}
