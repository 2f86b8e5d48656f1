//! Which known name a mistyped one was probably meant to be.

/// Below this nearest a suggestion confuses more than it helps.
const LIKENESS_MIN: f64 = 0.7;

/// Returns the name most like `wanted`, if one is like it at all.
pub fn find_nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|name| (strsim::jaro_winkler(wanted, name), name));
    let best = scored.filter(|(score, _)| *score >= LIKENESS_MIN).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_likely_name_is_offered() {
        let known = ["builder", "writer", "reviewer"];
        assert_eq!(find_nearest("bulider", known), Some("builder"));
        assert_eq!(find_nearest("writr", known), Some("writer"));
        assert_eq!(find_nearest("zzz", known), None);
        assert_eq!(find_nearest("x", []), None);
    }
}
