/// When old log files are deleted; queue and index files follow the log.
#[derive(Debug, Clone, PartialEq)]
pub struct CleanConfig {
    /// Local hours in which expired files go (`deleteWhen`, `;` between them). Default `[4]`.
    pub delete_when: Vec<u8>,
    /// Hours a file is kept after its last write (`fileReservedTime`). Default 72.
    pub file_reserved_time: u32,
    /// Files deleted per round (`deleteFileBatchMax`). Default 10.
    pub delete_file_batch_max: u32,
    /// Delete before the time is up when the disk is nearly full (`cleanFileForciblyEnable`). Default true.
    pub clean_file_forcibly_enable: bool,
    /// Percent of the disk above which expired files go at any hour (`diskMaxUsedSpaceRatio`, 10…95). Default 75.
    pub disk_max_used_space_ratio: u32,
    /// Percent above which young files go too (`diskSpaceCleanForciblyRatio`, 30…85). Default 85.
    pub disk_space_clean_forcibly_ratio: u32,
    /// Percent above which writes are refused (`diskSpaceWarningLevelRatio`, 35…90). Default 90.
    pub disk_space_warning_level_ratio: u32,
    /// Milliseconds between two rounds (`cleanResourceInterval`). Default 10,000.
    pub clean_resource_interval: u64,
    /// Milliseconds between two deleted log files (`deleteCommitLogFilesInterval`). Default 100.
    pub delete_commit_log_files_interval: u64,
    /// Milliseconds after each queue that lost files (`deleteConsumeQueueFilesInterval`). Default 100.
    pub delete_consume_queue_files_interval: u64,
}

impl Default for CleanConfig {
    fn default() -> Self {
        Self {
            delete_when: vec![4],
            file_reserved_time: 72,
            delete_file_batch_max: 10,
            clean_file_forcibly_enable: true,
            disk_max_used_space_ratio: 75,
            disk_space_clean_forcibly_ratio: 85,
            disk_space_warning_level_ratio: 90,
            clean_resource_interval: 10_000,
            delete_commit_log_files_interval: 100,
            delete_consume_queue_files_interval: 100,
        }
    }
}
