/// Settings of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitLogConfig {
    /// Bytes of one log file (`mappedFileSizeCommitLog`). Default 1 GiB. Must equal the size of existing files.
    pub mapped_file_size_commit_log: u64,
    /// Largest message body in bytes (`maxMessageSize`). Default 4 MiB.
    pub max_message_size: u32,
    /// Compare the body's CRC while recovering (`checkCRCOnRecover`). Default true.
    pub check_crc_on_recover: bool,
    /// Milliseconds the tail may be held before the store calls itself busy (`osPageCacheBusyTimeOutMills`). Default 1000.
    pub os_page_cache_busy_time_out_mills: u64,
    /// Touch the pages of a new file and lock it in memory (`warmMapedFileEnable`, spelt as Apache spells it). Default false.
    pub warm_mapped_file_enable: bool,
    /// Make the next files before they are needed. Default true; a nearly full disk overrides it.
    pub preallocate: bool,
}

impl Default for CommitLogConfig {
    fn default() -> Self {
        Self {
            mapped_file_size_commit_log: 1 << 30,
            max_message_size: 4 << 20,
            check_crc_on_recover: true,
            os_page_cache_busy_time_out_mills: 1000,
            warm_mapped_file_enable: false,
            preallocate: true,
        }
    }
}
