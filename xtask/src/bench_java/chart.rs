//! Charts of horizontal bars, as SVG.

use std::fmt::Write as _;

use super::spread::number;

const WIDTH: f64 = 860.0;
/// Where bars begin.
const LEFT: f64 = 330.0;
/// Room for a figure behind the longest bar.
const RIGHT: f64 = 110.0;
const BAR: f64 = 14.0;
const GAP: f64 = 12.0;
const TOP: f64 = 44.0;

/// The bars of one figure.
pub struct Bars {
    /// What they are.
    pub label: String,
    /// Who, and how much.
    pub values: Vec<(&'static str, f64)>,
}

/// A chart; lengths are on a logarithmic scale, since figures lie far apart.
pub fn svg(title: &str, bars: &[Bars]) -> String {
    let all = || bars.iter().flat_map(|bars| &bars.values).map(|value| value.1).filter(|value| *value > 0.0);
    let (least, greatest) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let low = least.log10().floor();
    let decades = (greatest.log10() - low).max(1.0);
    let length = |value: f64| match value > 0.0 {
        true => (value.log10() - low) / decades * (WIDTH - LEFT - RIGHT),
        false => 0.0,
    };
    let lines: usize = bars.iter().map(|bars| bars.values.len()).sum();
    let height = TOP + lines as f64 * BAR + bars.len() as f64 * GAP;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"10\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{}, logarithmic scale</text>\n",
        escaped(title)
    );
    let mut y = TOP;
    for group in bars {
        let label = escaped(&group.label);
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{label}</text>",
            LEFT - 8.0,
            y + 11.0
        );
        for (who, value) in &group.values {
            let (length, color) = (length(*value).max(1.0), color(who));
            let _ = writeln!(
                text,
                "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{}\" fill=\"{color}\"/>\n\
                 <text x=\"{:.1}\" y=\"{}\">{} {who}</text>",
                BAR - 2.0,
                LEFT + length + 4.0,
                y + 10.0,
                number(*value),
            );
            y += BAR;
        }
        y += GAP;
    }
    text + "</svg>\n"
}

fn color(who: &str) -> &'static str {
    match who {
        "StrataMQ" => "#1f6f8b",
        "Java" => "#d9822b",
        _ => "#9aa5ab",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_bar_is_more() {
        let values = vec![("StrataMQ", 1_000_000.0), ("Java", 1000.0)];
        let chart = svg("a < b", &[Bars { label: "put".to_owned(), values }]);
        let widths: Vec<f64> = chart
            .lines()
            .filter(|line| line.contains("x=\"330\" y"))
            .filter_map(|line| line.split("width=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        assert_eq!(widths.len(), 2);
        assert!(widths[0] > widths[1], "{chart}");
        assert!(chart.contains("a &lt; b") && chart.contains("1,000,000 StrataMQ"), "{chart}");
    }
}
