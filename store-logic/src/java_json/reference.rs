//! `{"$ref":"$.path"}`: how an older Java writer repeats an object that it has already written.

use serde_json::Value;

/// Most values that the references of one document may copy. A reference can name a large part of the
/// document, so without a bound a small text could ask for any amount of memory.
const COPY_BUDGET: usize = 100_000;

/// Replaces every reference whose target exists by a copy of the target; others stay as they are.
///
/// A copy is taken from the document as it was written: references inside a copied part stay unresolved,
/// which Java never writes.
pub(super) fn resolve(document: &mut Value) {
    let original = document.clone();
    let mut budget = COPY_BUDGET;
    replace(document, &original, &mut budget);
}

fn replace(value: &mut Value, original: &Value, budget: &mut usize) {
    if let Some(path) = reference_path(value) {
        let copy = find(original, path).filter(|target| spend(target, budget)).cloned();
        if let Some(copy) = copy {
            *value = copy;
        }
        return;
    }
    match value {
        Value::Array(list) => list.iter_mut().for_each(|element| replace(element, original, budget)),
        Value::Object(map) => map.values_mut().for_each(|element| replace(element, original, budget)),
        _ => {}
    }
}

/// The path of a value that is nothing but a reference.
fn reference_path(value: &Value) -> Option<&str> {
    let map = value.as_object()?;
    if map.len() == 1 { map.get("$ref")?.as_str() } else { None }
}

/// Takes the size of `target` from the budget; `false` when it is used up.
fn spend(target: &Value, budget: &mut usize) -> bool {
    let Some(left) = budget.checked_sub(1) else {
        return false;
    };
    *budget = left;
    match target {
        Value::Array(list) => list.iter().all(|element| spend(element, budget)),
        Value::Object(map) => map.values().all(|element| spend(element, budget)),
        _ => true,
    }
}

/// Follows `$.name[3].other`; a backslash takes the meaning from the byte behind it.
fn find<'v>(document: &'v Value, path: &str) -> Option<&'v Value> {
    let mut rest = path.strip_prefix('$')?;
    let mut at = document;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('[') {
            let (index, tail) = behind.split_once(']')?;
            at = match at {
                Value::Array(list) => list.get(index.parse::<usize>().ok()?)?,
                _ => at.get(index.trim_matches(['\'', '"']))?,
            };
            rest = tail;
        } else {
            let (name, tail) = take_name(rest.strip_prefix('.')?);
            at = at.get(&name)?;
            rest = tail;
        }
    }
    Some(at)
}

/// Splits the name at the front of a path from the rest of it.
fn take_name(path: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = path.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '.' | '[' => return (name, &path[at..]),
            '\\' => name.extend(chars.next().map(|(_, escaped)| escaped)),
            _ => name.push(c),
        }
    }
    (name, "")
}
