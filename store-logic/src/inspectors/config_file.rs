use crate::java_json;
use std::ops::ControlFlow;
use store_mmap::inspect::{Fields, Finding, InspectError, Inspector, Place, Selection};

/// Largest file of settings that is read.
const LIMIT: u64 = 256 << 20;

/// JSON files without an ending.
const PLAIN_NAMES: [&str; 2] = ["transactionMetrics", "timermetrics"];

/// Knows the JSON files of the broker: `config/*.json`, two that have no ending, and the backups of all.
#[derive(Debug)]
pub struct ConfigFileInspector;

fn parse(place: &Place) -> Result<serde_json::Value, InspectError> {
    let bytes = place.read_whole(LIMIT)?;
    java_json::parse(&bytes).map_err(|error| InspectError::Unreadable {
        path: place.path().to_owned(),
        expected: "JSON as RocketMQ writes it".to_owned(),
        found: error.to_string(),
    })
}

impl Inspector for ConfigFileInspector {
    fn name(&self) -> &'static str {
        "settings file"
    }

    fn recognises(&self, place: &Place) -> bool {
        let name = place.name().strip_suffix(".bak").unwrap_or(place.name());
        place.directory(1) == "config" && (name.ends_with(".json") || PLAIN_NAMES.contains(&name))
    }

    fn summarise(&self, place: &Place) -> Result<Fields, InspectError> {
        let value = match parse(place) {
            Ok(value) => value,
            Err(InspectError::Unreadable { found, .. }) => return Ok(Fields::new().with("unreadable", found)),
            Err(error) => return Err(error),
        };
        let mut fields = Fields::new();
        for (name, value) in value.as_object().into_iter().flatten() {
            if let Some(table) = value.as_object().filter(|_| name != "dataVersion") {
                fields.push(name.clone(), table.len() as u64);
            }
        }
        Ok(fields)
    }

    /// The whole file as one line of standard JSON, whatever dialect it is in.
    fn dump(
        &self,
        place: &Place,
        selection: &Selection,
        visit: &mut dyn FnMut(Fields) -> ControlFlow<()>,
    ) -> Result<(), InspectError> {
        selection.check(self)?;
        let content = parse(place)?.to_string();
        let _ = visit(Fields::new().with("file", place.name()).with("content", content));
        Ok(())
    }

    fn verify(&self, place: &Place, found: &mut dyn FnMut(Finding)) -> Result<(), InspectError> {
        if place.is_empty() && place.name().ends_with(".bak") {
            return Ok(());
        }
        match parse(place) {
            Ok(_) => Ok(()),
            Err(InspectError::Unreadable { path, expected, found: is }) => {
                found(Finding::error("settings-syntax", &path, expected, is));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}
