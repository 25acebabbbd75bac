use store_logic::commit_log::format::Checksum;

/// Settings of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitLogConfig {
    /// Bytes of one log file (`mappedFileSizeCommitLog`). Default 1 GiB. Must equal the size of existing files.
    pub mapped_file_size_commit_log: u64,
    /// Largest message body in bytes (`maxMessageSize`). Default 4 MiB.
    pub max_message_size: u32,
    /// Compare the body's CRC while recovering (`checkCRCOnRecover`). Default true.
    pub check_crc_on_recover: bool,
    /// Put a CRC of the whole record at the end of each new record (`enabledAppendPropCRC`). Default false.
    pub enabled_append_prop_crc: bool,
    /// While recovering, check records that have it against the CRC of the whole record instead of that of the body
    /// (`forceVerifyPropCRC`). Default false.
    pub force_verify_prop_crc: bool,
    /// Take topics that need a record of version 2, over 127 bytes (`autoMessageVersionOnTopicLen`). Default true.
    pub auto_message_version_on_topic_len: bool,
    /// What a start does about damage in the log (`damagedCommitLogPolicy`, a key of StrataMQ's own). Default: it stops.
    pub damaged_commit_log_policy: DamagedCommitLogPolicy,
    /// Milliseconds the tail may be held before the store calls itself busy (`osPageCacheBusyTimeOutMills`). Default 1000.
    pub os_page_cache_busy_time_out_mills: u64,
    /// Touch the pages of a new file and lock it in memory (`warmMapedFileEnable`, spelt as Apache spells it). Default false.
    pub warm_mapped_file_enable: bool,
    /// SYNC_FLUSH: 4 KiB pages that are written back at a time while a file is warmed up
    /// (`flushLeastPagesWhenWarmMapedFile`). Default 4096.
    pub flush_least_pages_when_warm_mapped_file: u32,
    /// Let the kernel read ahead in log files (`dataReadAheadEnable`). Default true.
    pub data_read_ahead_enable: bool,
    /// Make the next files before they are needed. Default true; a nearly full disk overrides it.
    pub preallocate: bool,
}

impl CommitLogConfig {
    /// What a recovery checks of each record.
    pub fn checksum_on_recover(&self) -> Checksum {
        match (self.force_verify_prop_crc, self.check_crc_on_recover) {
            (true, _) => Checksum::Record,
            (false, true) => Checksum::Body,
            (false, false) => Checksum::Skip,
        }
    }
}

/// What a start does when a record below the position up to which the log is known to have been durable cannot be read.
/// Whatever stands *above* that position is a torn tail, which a start always cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DamagedCommitLogPolicy {
    /// Refuse to open, change nothing, and say what is there. The default.
    #[default]
    Stop,
    /// Save what stands from the damaged record on, and cut it: the good records behind it are no longer served.
    Truncate,
    /// Save the damaged stretch and put fillers in its place: the good records behind it stay.
    Skip,
}

impl Default for CommitLogConfig {
    fn default() -> Self {
        Self {
            mapped_file_size_commit_log: 1 << 30,
            max_message_size: 4 << 20,
            check_crc_on_recover: true,
            enabled_append_prop_crc: false,
            force_verify_prop_crc: false,
            auto_message_version_on_topic_len: true,
            damaged_commit_log_policy: DamagedCommitLogPolicy::Stop,
            os_page_cache_busy_time_out_mills: 1000,
            warm_mapped_file_enable: false,
            flush_least_pages_when_warm_mapped_file: 4096,
            data_read_ahead_enable: true,
            preallocate: true,
        }
    }
}
