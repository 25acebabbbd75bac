//! What a key that has an effect is made of. The two tables built from it are `broker_settings` and
//! `store_settings`.

use store_core::config::MessageStoreConfig;

use super::BrokerConfig;

/// The configuration being filled.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    /// Settings of layer 5.
    pub broker: BrokerConfig,
    /// Settings of the store; its root stays empty until a line or the caller gives one.
    pub store: MessageStoreConfig,
}

/// A key that has an effect.
pub(super) struct Setting {
    /// The key as Apache spells it.
    pub key: &'static str,
    /// Reads a value. `Ok` may carry a remark for the operator, `Err` is what would have been allowed.
    pub set: fn(&mut Settings, &str) -> Result<Option<String>, String>,
    /// The value in force, as a properties file would hold it.
    pub show: fn(&Settings) -> String,
}

/// The table entry of `key`.
pub(super) fn find(key: &str) -> Option<&'static Setting> {
    all().find(|setting| setting.key == key)
}

/// All keys that have an effect.
pub(super) fn all() -> impl Iterator<Item = &'static Setting> {
    super::broker_settings::SETTINGS.iter().chain(super::store_settings::SETTINGS)
}

/// `number!("key", path.to.field, range)`: a whole number.
macro_rules! number {
    ($key:literal, $($field:ident).+, $range:expr) => {
        Setting {
            key: $key,
            set: |settings, text| {
                settings.$($field).+ = value::number(text, $range)?;
                Ok(None)
            },
            show: |settings| settings.$($field).+.to_string(),
        }
    };
}

/// `percent!("key", path.to.field, range)`: a percentage that Apache moves into the range instead of refusing it.
macro_rules! percent {
    ($key:literal, $($field:ident).+, $range:expr) => {
        Setting {
            key: $key,
            set: |settings, text| {
                let given: i64 = value::number(text, i64::from(i32::MIN)..=i64::from(i32::MAX))?;
                let used = given.clamp(*$range.start(), *$range.end());
                settings.$($field).+ = value::number(&used.to_string(), $range)?;
                Ok((used != given).then(|| format!("{given} is outside {:?}, {used} is used", $range)))
            },
            show: |settings| settings.$($field).+.to_string(),
        }
    };
}

/// `flag!("key", path.to.field)`: true or false.
macro_rules! flag {
    ($key:literal, $($field:ident).+) => {
        Setting {
            key: $key,
            set: |settings, text| {
                settings.$($field).+ = value::boolean(text)?;
                Ok(None)
            },
            show: |settings| settings.$($field).+.to_string(),
        }
    };
}

/// `text!("key", path.to.field, reader)`: text that `reader` accepts.
macro_rules! text {
    ($key:literal, $($field:ident).+, $reader:path) => {
        Setting {
            key: $key,
            set: |settings, text| {
                settings.$($field).+ = $reader(text)?;
                Ok(None)
            },
            show: |settings| settings.$($field).+.clone(),
        }
    };
}

pub(super) use {flag, number, percent, text};
