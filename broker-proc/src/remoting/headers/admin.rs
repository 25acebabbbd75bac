//! Settings and replication: `GET_BROKER_CONFIG`, `EXCHANGE_BROKER_HA_INFO`, `RESET_MASTER_FLUSH_OFFSET`.

use super::remoting_header;

remoting_header! {
    /// Answer to `GET_BROKER_CONFIG`.
    pub struct GetBrokerConfigResponseHeader {
        /// JSON text of the data version.
        "version" version: String,
    }
}

remoting_header! {
    /// `EXCHANGE_BROKER_HA_INFO`, both ways.
    pub struct ExchangeHaInfoHeader {
        /// Address of the master.
        "masterAddress" master_address: Option<String>,
        /// Replication address of the master.
        "masterHaAddress" master_ha_address: Option<String>,
        /// How far the master has flushed, in bytes.
        "masterFlushOffset" master_flush_offset: Option<i64>,
    }
}

remoting_header! {
    /// `RESET_MASTER_FLUSH_OFFSET`.
    pub struct ResetMasterFlushOffsetHeader {
        /// How far the master has flushed, in bytes.
        "masterFlushOffset" master_flush_offset: Option<i64>,
    }
}
