//! Which queues of a topic belong to which member.

use crate::remoting::protocol::MessageQueue;

/// The queues of `member`: sorted, cut into as many ranges as there are members, the first ones longer by one when
/// the division leaves a rest (`AllocateMessageQueueAveragely`). Members that see the same lists come to disjoint
/// results without talking to each other. `None` when `member` is not among `members`.
pub(super) fn allocate_averagely(
    member: &str,
    mut members: Vec<String>,
    mut queues: Vec<MessageQueue>,
) -> Option<Vec<MessageQueue>> {
    members.sort();
    queues.sort();
    let index = members.iter().position(|other| other == member)?;
    let (size, rest) = (queues.len() / members.len(), queues.len() % members.len());
    let start = index * size + index.min(rest);
    let len = size + usize::from(index < rest);
    Some(queues.drain(start..start + len).collect())
}

#[cfg(test)]
mod tests {
    use super::allocate_averagely;
    use crate::remoting::protocol::MessageQueue;

    fn queue(broker: &str, queue_id: i32) -> MessageQueue {
        MessageQueue { topic: "T".to_owned(), broker_name: broker.to_owned(), queue_id }
    }

    fn ids(member: &str, members: &[&str], queues: i32) -> Option<Vec<i32>> {
        let members = members.iter().map(|&member| member.to_owned()).collect();
        // Whatever the order in which a route lists them.
        let queues = (0..queues).rev().map(|id| queue("b", id)).collect();
        Some(allocate_averagely(member, members, queues)?.iter().map(|queue| queue.queue_id).collect())
    }

    #[test]
    fn ranges_cover_all_queues() {
        assert_eq!(ids("a", &["b", "a"], 4), Some(vec![0, 1]));
        assert_eq!(ids("b", &["b", "a"], 4), Some(vec![2, 3]));
        assert_eq!(ids("a", &["a"], 3), Some(vec![0, 1, 2]));
    }

    #[test]
    fn the_first_members_take_the_rest() {
        let members = ["a", "b", "c"];
        assert_eq!(ids("a", &members, 8), Some(vec![0, 1, 2]));
        assert_eq!(ids("b", &members, 8), Some(vec![3, 4, 5]));
        assert_eq!(ids("c", &members, 8), Some(vec![6, 7]));
    }

    #[test]
    fn members_beyond_the_queues_get_none() {
        assert_eq!(ids("b", &["a", "b", "c"], 2), Some(vec![1]));
        assert_eq!(ids("c", &["a", "b", "c"], 2), Some(vec![]));
        assert_eq!(ids("a", &["a"], 0), Some(vec![]));
    }

    #[test]
    fn strangers_get_nothing_and_a_second_connection_counts() {
        assert_eq!(ids("x", &["a"], 2), None);
        assert_eq!(ids("a", &[], 2), None);
        // Java counts a client once a connection, too: the first place is the one that is served.
        assert_eq!(ids("a", &["a", "a"], 4), Some(vec![0, 1]));
    }

    #[test]
    fn brokers_sort_before_queue_numbers() {
        let queues = vec![queue("b2", 0), queue("b1", 1), queue("b1", 0)];
        let members = vec!["m".to_owned(), "n".to_owned()];
        assert_eq!(allocate_averagely("m", members, queues), Some(vec![queue("b1", 0), queue("b1", 1)]));
    }
}
