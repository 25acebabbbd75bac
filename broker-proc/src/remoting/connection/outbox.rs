//! Bytes on their way to a socket.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf as _, Bytes};

use crate::remoting::frame::{FrameError, encode_head};
use crate::remoting::{Body, RemotingCommand};

/// Bodies up to this size are copied behind their header; longer parts go out from where they lie. Copying
/// a kilobyte costs less than another entry of a vectored write and keeping its owner alive.
const COPY_LIMIT: usize = 1024;
/// Memory that is kept for the next answers.
const KEPT_CAPACITY: usize = 64 * 1024;

/// Queue of encoded frames. Small frames are joined, large body parts referred to.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Finished pieces in order, none empty.
    pieces: VecDeque<Bytes>,
    /// The piece that grows behind them. Its memory is used again once it is sent.
    tail: Vec<u8>,
    /// Bytes of the tail that are sent already; 0 while there are pieces before it.
    tail_sent: usize,
    unsent: usize,
}

impl Outbox {
    /// Bytes that are not sent yet.
    pub(super) fn unsent(&self) -> usize {
        self.unsent
    }

    pub(super) fn is_empty(&self) -> bool {
        self.unsent == 0
    }

    /// Appends the frame of `command`.
    ///
    /// # Errors
    ///
    /// [`FrameError`] when it is too large for a frame; nothing is appended then.
    pub(super) fn push(&mut self, command: &RemotingCommand) -> Result<(), FrameError> {
        let before = self.tail.len();
        encode_head(command, &mut self.tail)?;
        self.unsent += self.tail.len() - before + command.body.len();
        self.push_body(&command.body);
        Ok(())
    }

    fn push_body(&mut self, body: &Body) {
        for part in body.parts() {
            if part.len() <= COPY_LIMIT {
                self.tail.extend_from_slice(part);
            } else {
                self.finish_tail();
                self.pieces.push_back(part.clone());
            }
        }
    }

    fn finish_tail(&mut self) {
        if !self.tail.is_empty() {
            let mut piece = Bytes::from(std::mem::take(&mut self.tail));
            piece.advance(std::mem::take(&mut self.tail_sent));
            self.pieces.push_back(piece);
        }
    }

    /// What is to be sent, when it lies in one piece; `None` when it does not, or there is nothing.
    pub(super) fn only(&self) -> Option<&[u8]> {
        match (self.pieces.len(), &self.tail[self.tail_sent..]) {
            (0, tail) if !tail.is_empty() => Some(tail),
            (1, []) => self.pieces.front().map(|piece| &piece[..]),
            _ => None,
        }
    }

    /// Fills `slices` with the front of the queue; the number filled.
    pub(super) fn fill<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let tail = &self.tail[self.tail_sent..];
        let all = self.pieces.iter().map(|piece| &piece[..]).chain((!tail.is_empty()).then_some(tail));
        let mut filled = 0;
        for (slice, piece) in slices.iter_mut().zip(all) {
            *slice = IoSlice::new(piece);
            filled += 1;
        }
        filled
    }

    /// Takes `sent` bytes from the front.
    pub(super) fn advance(&mut self, mut sent: usize) {
        self.unsent = self.unsent.saturating_sub(sent);
        while let Some(front) = self.pieces.front_mut() {
            if front.len() > sent {
                front.advance(sent);
                return;
            }
            sent -= front.len();
            self.pieces.pop_front();
        }
        self.tail_sent += sent;
        if self.tail_sent >= self.tail.len() {
            self.tail_sent = 0;
            self.tail.clear();
            // What many answers at once took is not kept for ever.
            self.tail.shrink_to(KEPT_CAPACITY);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;

    use bytes::Bytes;

    use super::Outbox;
    use crate::remoting::frame::{MAX_FRAME_LEN, encode};
    use crate::remoting::{Body, RemotingCommand};

    fn joined(slices: &[IoSlice<'_>]) -> Vec<u8> {
        slices.iter().flat_map(|slice| slice.iter().copied()).collect()
    }

    #[test]
    fn small_frames_are_joined_and_large_parts_referred_to() {
        let large = Bytes::from(vec![7; 5000]);
        let small = RemotingCommand::request(1).with_body(b"small".to_vec());
        let mixed = RemotingCommand::request(2)
            .with_body(Body::from_parts(vec![large.clone(), Bytes::from_static(b"x")]));
        let mut outbox = Outbox::default();
        for command in [&small, &small, &mixed, &small] {
            outbox.push(command).unwrap();
        }
        let expected: Vec<u8> =
            [&small, &small, &mixed, &small].iter().flat_map(|command| encode(command).unwrap()).collect();
        assert_eq!(outbox.unsent(), expected.len());
        let mut slices = [IoSlice::new(&[]); 8];
        assert!(outbox.only().is_none());
        assert_eq!(outbox.fill(&mut slices), 3);
        assert_eq!(slices[1].as_ptr(), large.as_ptr(), "not copied");
        assert_eq!(joined(&slices), expected);
    }

    #[test]
    fn any_number_of_bytes_may_go_at_a_time() {
        let mut outbox = Outbox::default();
        let command = RemotingCommand::request(3).with_body(vec![1; 3000]);
        outbox.push(&command).unwrap();
        outbox.push(&command).unwrap();
        let expected = [encode(&command).unwrap(), encode(&command).unwrap()].concat();
        let mut sent = Vec::new();
        while !outbox.is_empty() {
            let mut slices = [IoSlice::new(&[]); 2];
            outbox.fill(&mut slices);
            let front = joined(&slices);
            let step = front.len().min(997);
            sent.extend_from_slice(&front[..step]);
            outbox.advance(step);
        }
        assert_eq!(sent, expected);
    }

    #[test]
    fn what_is_joined_lies_in_one_piece_and_its_memory_is_used_again() {
        let command = RemotingCommand::request(5).with_body(vec![2; 100]);
        let frame = encode(&command).unwrap();
        let mut outbox = Outbox::default();
        assert!(outbox.only().is_none());
        outbox.push(&command).unwrap();
        assert_eq!(outbox.only(), Some(&frame[..]));
        outbox.advance(10);
        // More comes behind what is sent in part.
        outbox.push(&command).unwrap();
        assert_eq!(outbox.only(), Some(&[&frame[10..], &frame[..]].concat()[..]));
        let place = outbox.only().unwrap().as_ptr();
        outbox.advance(2 * frame.len() - 10);
        assert!(outbox.is_empty() && outbox.only().is_none());
        outbox.push(&command).unwrap();
        assert_eq!(outbox.only().unwrap().as_ptr(), place.wrapping_sub(10));
        // A part of it is sent when a large body cuts the tail.
        outbox.advance(7);
        let large = RemotingCommand::request(6).with_body(vec![3; 5000]);
        outbox.push(&large).unwrap();
        let mut slices = [IoSlice::new(&[]); 4];
        let filled = outbox.fill(&mut slices);
        assert_eq!(joined(&slices[..filled]), [&frame[7..], &encode(&large).unwrap()].concat());
    }

    #[test]
    fn frames_beyond_the_limit_leave_nothing_behind() {
        let mut outbox = Outbox::default();
        assert!(outbox.push(&RemotingCommand::request(4).with_body(vec![0; MAX_FRAME_LEN])).is_err());
        assert!(outbox.is_empty());
        assert_eq!(outbox.fill(&mut [IoSlice::new(&[]); 2]), 0);
    }
}
