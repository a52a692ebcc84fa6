internal import Instrument

/// The latest requests in the order of their arrival, up to a limit.
final class AccessLog: Sendable {
    private struct State {
        var records: [AccessRecord] = []
        /// The number of the oldest record.
        var first = 1
        var next = 1
    }

    private let state = Lock(State())
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var records: [AccessRecord] { state.withLock { Array($0.records.suffix(capacity)) } }

    /// Adds a record and assigns its number.
    func begin(_ record: AccessRecord) -> AccessRecord {
        state.withLock { state in
            var record = record
            record.number = state.next
            state.next += 1
            // Removes many records at a time, so that an append to a full log costs no more than to an empty one.
            if state.records.count >= 2 * capacity {
                state.first += state.records.count - capacity
                state.records.removeFirst(state.records.count - capacity)
            }
            state.records.append(record)
            return record
        }
    }

    func update(_ record: AccessRecord) {
        state.withLock { state in
            let index = record.number - state.first
            if state.records.indices.contains(index) { state.records[index] = record }
        }
    }
}
