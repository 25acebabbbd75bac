//! Looking for bytes that are not zero at the speed of memory.

/// Bytes compared in one go: the compiler turns a step into a few wide instructions.
const STEP: usize = 1024;

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |seen, byte| seen | byte) == 0
}

/// Position of the first byte that is not zero; `None` when all are.
///
/// ```
/// assert_eq!(store_disk_tools::first_nonzero(&[0, 0, 7, 0]), Some(2));
/// ```
pub fn first_nonzero(bytes: &[u8]) -> Option<usize> {
    let mut steps = bytes.chunks_exact(STEP);
    let skipped = steps.by_ref().take_while(|step| is_zero(step)).count() * STEP;
    bytes[skipped..].iter().position(|byte| *byte != 0).map(|at| skipped + at)
}

/// Position of the last byte that is not zero; `None` when all are.
///
/// ```
/// assert_eq!(store_disk_tools::last_nonzero(&[0, 7, 0, 0]), Some(1));
/// ```
pub fn last_nonzero(bytes: &[u8]) -> Option<usize> {
    let skipped = bytes.rchunks_exact(STEP).take_while(|step| is_zero(step)).count() * STEP;
    bytes[..bytes.len() - skipped].iter().rposition(|byte| *byte != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_byte_wherever_it_stands() {
        for len in [0, 1, STEP - 1, STEP, 3 * STEP + 5] {
            let mut bytes = vec![0; len];
            assert_eq!((first_nonzero(&bytes), last_nonzero(&bytes)), (None, None), "{len}");
            for at in [0, 1, STEP - 1, STEP, 2 * STEP, 3 * STEP + 4].into_iter().filter(|at| *at < len) {
                bytes[at] = 1;
                assert_eq!((first_nonzero(&bytes), last_nonzero(&bytes)), (Some(at), Some(at)), "{len}");
                bytes[len - 1] = 1;
                bytes[0] = 1;
                assert_eq!((first_nonzero(&bytes), last_nonzero(&bytes)), (Some(0), Some(len - 1)), "{len}");
                bytes.fill(0);
            }
        }
    }
}
