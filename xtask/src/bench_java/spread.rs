//! The same figure of several rounds.

/// Values of one figure, one a round.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spread(Vec<f64>);

impl Spread {
    /// One more round.
    pub fn add(&mut self, value: f64) {
        self.0.push(value);
        self.0.sort_by(f64::total_cmp);
    }

    /// The middle one; the lower of two.
    pub fn median(&self) -> f64 {
        self.0.get(self.0.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
    }

    /// `median (least–greatest)`, without the brackets after a single round.
    pub fn text(&self) -> String {
        match (self.0.first(), self.0.last()) {
            (Some(least), Some(greatest)) if self.0.len() > 1 => {
                format!("{} ({}–{})", number(self.median()), number(*least), number(*greatest))
            }
            _ => number(self.median()),
        }
    }
}

/// Three digits that say something; from a thousand on all digits, in groups.
pub fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 1000.0 => {
            let digits = format!("{value:.0}");
            let mut text = String::new();
            for (place, digit) in digits.chars().enumerate() {
                let rest = digits.len() - place;
                if rest % 3 == 0 && !text.is_empty() && !text.ends_with('-') {
                    text.push(',');
                }
                text.push(digit);
            }
            return text;
        }
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_before_the_extremes() {
        let mut spread = Spread::default();
        for value in [3000.0, 1000.0, 2000.0] {
            spread.add(value);
        }
        assert_eq!(spread.text(), "2,000 (1,000–3,000)");
        assert_eq!(spread.median().to_bits(), 2000.0_f64.to_bits());
    }

    #[test]
    fn numbers_show_what_matters() {
        let shown = [0.0, 0.1234, 1.234, 12.34, 123.4, 1234.6, -1_234_567.0].map(number);
        assert_eq!(shown, ["0", "0.123", "1.23", "12.3", "123", "1,235", "-1,234,567"]);
    }
}
