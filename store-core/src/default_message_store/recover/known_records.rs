//! Records the walk need not visit: all their units stand in their places.

/// Bytes between places that are remembered.
const STEP: u64 = 1 << 20;

/// The records from the beginning of a survey to the first one of which a unit is missing.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownRecords {
    /// Where some of them begin.
    begins: Vec<u64>,
    /// The first record that is none of them.
    end: Option<u64>,
}

impl KnownRecords {
    /// A record begins here.
    pub(super) fn note(&mut self, phy_offset: u64) {
        if self.end.is_none() && self.begins.last().is_none_or(|last| phy_offset >= last + STEP) {
            self.begins.push(phy_offset);
        }
    }

    /// The record that was noted last, or one behind it, is none of them.
    pub(super) fn end_at(&mut self, phy_offset: u64) {
        self.end.get_or_insert(phy_offset);
    }

    /// The last place, as far as is remembered, before which nothing is missing, also nothing from `indexed` on.
    pub(super) fn walk_from(&self, indexed: Option<u64>) -> Option<u64> {
        let end = self.end.unwrap_or(u64::MAX).min(indexed.unwrap_or(u64::MAX));
        self.begins.iter().copied().rfind(|begin| *begin <= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_begins_at_a_record_before_all_that_is_missing() {
        let mut known = KnownRecords::default();
        assert_eq!(known.walk_from(None), None);
        for phy_offset in (0..4 * STEP).step_by(STEP as usize / 4) {
            known.note(phy_offset);
        }
        assert_eq!(known.walk_from(None), Some(3 * STEP));
        assert_eq!(known.walk_from(Some(2 * STEP - 1)), Some(STEP));
        known.end_at(2 * STEP);
        known.end_at(3 * STEP);
        assert_eq!(known.walk_from(None), Some(2 * STEP));
        assert_eq!(known.walk_from(Some(0)), Some(0));
    }
}
