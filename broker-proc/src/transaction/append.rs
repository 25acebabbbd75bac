use store_core::{AppendResult, PutMessageStatus, PutTicket};

/// What the log made of a put, whatever becomes of it on disk.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Append {
    /// It is in the log, before everything put from here on.
    Stored(AppendResult),
    /// The store takes nothing now; the same message may go in later.
    Refused,
    /// The store will never take this message.
    Illegal,
}

/// Looks at a put without waiting for the disk.
///
/// The log is written and recovered in order: a record put behind this one is there after a crash only if this one is.
pub(crate) fn appended(ticket: &PutTicket) -> Append {
    let Some(result) = ticket.provisional() else { return Append::Refused };
    match (&result.appended, result.status) {
        (Some(appended), _) => Append::Stored(appended.clone()),
        (None, PutMessageStatus::MessageIllegal | PutMessageStatus::PropertiesSizeExceeded) => {
            Append::Illegal
        }
        (None, _) => Append::Refused,
    }
}
