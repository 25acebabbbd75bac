//! Settings of a name server, under the names of Java's `NamesrvConfig`.

use std::time::Duration;

/// Settings of a name server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamesrvSettings {
    /// Whether routes of ordered topics carry their `ORDER_TOPIC_CONFIG` entry.
    pub order_message_enable: bool,
    /// Whether brokers get the table of ordered topics when they register.
    pub return_order_topic_config_to_broker: bool,
    /// Whether all topics may be listed.
    pub enable_all_topic_list: bool,
    /// Whether topics may be listed by cluster and by unit flags.
    pub enable_topic_list: bool,
    /// Whether topics that a broker no longer registers lose it in their route.
    pub delete_topic_with_broker_registration: bool,
    /// Whether route queries are refused for a while after the start.
    pub need_wait_for_service: bool,
    /// How long that is.
    pub wait_seconds_for_service: u32,
    /// Time between two searches for brokers that have not renewed their registration.
    pub scan_not_active_broker_interval: Duration,
    /// How long a registration lives that does not say so itself.
    pub default_broker_timeout: Duration,
}

impl Default for NamesrvSettings {
    fn default() -> Self {
        Self {
            order_message_enable: false,
            return_order_topic_config_to_broker: true,
            enable_all_topic_list: true,
            enable_topic_list: true,
            delete_topic_with_broker_registration: false,
            need_wait_for_service: false,
            wait_seconds_for_service: 45,
            scan_not_active_broker_interval: Duration::from_millis(5000),
            default_broker_timeout: Duration::from_secs(120),
        }
    }
}

/// Keys that `UPDATE_NAMESRV_CONFIG` may never touch.
pub(super) const BLACK_LIST: [&str; 3] = ["configBlackList", "configStorePath", "kvConfigPath"];

/// Why a setting was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum UpdateError {
    /// The key is on the black list.
    #[error("Can not update config in black list.")]
    BlackListed,
    /// A line is not `key=value`.
    #[error("string2Properties error: expected key=value, found `{0}`")]
    NotAProperty(String),
    /// The key exists but cannot be changed while running.
    #[error("the setting {0} cannot be changed while the name server runs")]
    Fixed(String),
    /// The value does not fit.
    #[error("the setting {key} must be {expected}, found `{found}`")]
    Value { key: String, expected: &'static str, found: String },
}

impl NamesrvSettings {
    /// The settings as sorted `key=value` lines.
    pub(super) fn to_properties(&self) -> String {
        let mut lines = vec![
            format!("configBlackList={}", BLACK_LIST.join(";")),
            format!("deleteTopicWithBrokerRegistration={}", self.delete_topic_with_broker_registration),
            format!("enableAllTopicList={}", self.enable_all_topic_list),
            format!("enableTopicList={}", self.enable_topic_list),
            format!("needWaitForService={}", self.need_wait_for_service),
            format!("orderMessageEnable={}", self.order_message_enable),
            format!("returnOrderTopicConfigToBroker={}", self.return_order_topic_config_to_broker),
            format!("scanNotActiveBrokerInterval={}", self.scan_not_active_broker_interval.as_millis()),
            format!("waitSecondsForService={}", self.wait_seconds_for_service),
        ];
        lines.sort();
        lines.push(String::new());
        lines.join("\n")
    }

    /// The settings after the `key=value` lines of `text`. Keys of other programs are passed over, as Java
    /// does; everything is refused when one line is wrong.
    pub(super) fn updated(&self, text: &str) -> Result<Self, UpdateError> {
        let mut updated = self.clone();
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with(['#', '!']) {
                continue;
            }
            let (key, value) =
                line.split_once('=').ok_or_else(|| UpdateError::NotAProperty(shortened(line)))?;
            updated.set(key.trim(), value.trim())?;
        }
        Ok(updated)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), UpdateError> {
        let target = match key {
            "orderMessageEnable" => &mut self.order_message_enable,
            "returnOrderTopicConfigToBroker" => &mut self.return_order_topic_config_to_broker,
            "enableAllTopicList" => &mut self.enable_all_topic_list,
            "enableTopicList" => &mut self.enable_topic_list,
            "deleteTopicWithBrokerRegistration" => &mut self.delete_topic_with_broker_registration,
            "needWaitForService" => &mut self.need_wait_for_service,
            "scanNotActiveBrokerInterval" | "waitSecondsForService" | "listenPort" | "bindAddress" => {
                return Err(UpdateError::Fixed(key.to_owned()));
            }
            _ if BLACK_LIST.contains(&key) => return Err(UpdateError::BlackListed),
            _ => return Ok(()),
        };
        *target = value.parse().map_err(|_| UpdateError::Value {
            key: key.to_owned(),
            expected: "true or false",
            found: shortened(value),
        })?;
        Ok(())
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::{NamesrvSettings, UpdateError};

    #[test]
    fn harmless_settings_can_be_changed() {
        let settings = NamesrvSettings::default();
        let changed = settings.updated("# comment\norderMessageEnable = true\r\nsomething=else\n\n").unwrap();
        assert!(changed.order_message_enable);
        assert!(changed.to_properties().contains("\norderMessageEnable=true\n"));
        assert_eq!(settings.updated(&settings.to_properties().replace("configBlackList", "x")).err(), {
            Some(UpdateError::Fixed("scanNotActiveBrokerInterval".to_owned()))
        });
    }

    #[test]
    fn others_are_refused_as_a_whole() {
        let settings = NamesrvSettings::default();
        assert_eq!(settings.updated("kvConfigPath=/etc/passwd"), Err(UpdateError::BlackListed));
        assert_eq!(settings.updated("listenPort=1"), Err(UpdateError::Fixed("listenPort".to_owned())));
        let errors = [
            ("no property", "string2Properties error: expected key=value, found `no property`"),
            ("enableTopicList=maybe", "the setting enableTopicList must be true or false, found `maybe`"),
        ];
        for (text, expected) in errors {
            assert_eq!(settings.updated(text).unwrap_err().to_string(), expected);
        }
    }
}
