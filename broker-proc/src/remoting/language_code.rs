//! Language of a peer's program.

use serde::{Deserialize, Serialize};

/// Language that a peer announces in every header. Only shown to people, never acted upon, with one
/// exception: the body of `RESET_CONSUMER_CLIENT_OFFSET` has another form for [`LanguageCode::Cpp`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "&'static str")]
pub enum LanguageCode {
    /// Java. Announced by this broker too: the one value that every client version knows.
    #[default]
    Java,
    /// C++ and the Python client built on it.
    Cpp,
    /// .NET.
    Dotnet,
    /// Python.
    Python,
    /// Delphi.
    Delphi,
    /// Erlang.
    Erlang,
    /// Ruby.
    Ruby,
    /// Any other, and whatever a peer sends that is in no table.
    Other,
    /// A bridge from HTTP.
    Http,
    /// Go.
    Go,
    /// PHP.
    Php,
    /// Open messaging.
    Oms,
    /// Rust.
    Rust,
    /// Node.js.
    NodeJs,
}

impl LanguageCode {
    /// All languages in the order of their codes.
    const ALL: [Self; 14] = [
        Self::Java,
        Self::Cpp,
        Self::Dotnet,
        Self::Python,
        Self::Delphi,
        Self::Erlang,
        Self::Ruby,
        Self::Other,
        Self::Http,
        Self::Go,
        Self::Php,
        Self::Oms,
        Self::Rust,
        Self::NodeJs,
    ];

    /// Byte in the binary header.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Language of a byte in the binary header; [`LanguageCode::Other`] for unknown bytes.
    #[must_use]
    pub fn from_code(code: u8) -> Self {
        Self::ALL.get(usize::from(code)).copied().unwrap_or(Self::Other)
    }

    /// Name in the JSON header.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Java => "JAVA",
            Self::Cpp => "CPP",
            Self::Dotnet => "DOTNET",
            Self::Python => "PYTHON",
            Self::Delphi => "DELPHI",
            Self::Erlang => "ERLANG",
            Self::Ruby => "RUBY",
            Self::Other => "OTHER",
            Self::Http => "HTTP",
            Self::Go => "GO",
            Self::Php => "PHP",
            Self::Oms => "OMS",
            Self::Rust => "RUST",
            Self::NodeJs => "NODE_JS",
        }
    }

    /// Language of a name or an ordinal in the JSON header; [`LanguageCode::Other`] for unknown text.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        match text.parse::<u8>() {
            Ok(ordinal) => Self::from_code(ordinal),
            Err(_) => Self::ALL.into_iter().find(|language| language.name() == text).unwrap_or(Self::Other),
        }
    }
}

impl From<String> for LanguageCode {
    fn from(text: String) -> Self {
        Self::from_text(&text)
    }
}

impl From<LanguageCode> for &'static str {
    fn from(language: LanguageCode) -> Self {
        language.name()
    }
}

#[cfg(test)]
mod tests {
    use super::LanguageCode;

    #[test]
    fn codes_and_names_lead_back_to_the_language() {
        for (code, language) in LanguageCode::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(language.code()), code);
            assert_eq!(LanguageCode::from_code(language.code()), language);
            assert_eq!(LanguageCode::from_text(language.name()), language);
            assert_eq!(LanguageCode::from_text(&code.to_string()), language);
            assert_eq!(serde_json::to_value(language).unwrap(), language.name());
        }
    }

    #[test]
    fn field_F118_unknown_languages_are_other() {
        assert_eq!(LanguageCode::from_code(99), LanguageCode::Other);
        assert_eq!(LanguageCode::from_text("KLINGON"), LanguageCode::Other);
        assert_eq!(LanguageCode::from_text("300"), LanguageCode::Other);
        assert_eq!(serde_json::from_str::<LanguageCode>("\"KLINGON\"").unwrap(), LanguageCode::Other);
    }
}
