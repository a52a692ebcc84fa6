/// The transfer from the lane of a replaced backend to its successor.
extension DeliveryLane {
    /// Closes this lane and transfers its flushes to `successor`. Returns false if the lane was already closed.
    ///
    /// A delivery in flight continues, and this lane settles it.
    func handOver(to successor: DeliveryLane) -> Bool {
        let left = state.withLock { state -> State? in
            if state.isClosed { return nil }
            let left = state
            (state.isClosed, state.successor, state.flushes) = (true, successor, [])
            return left
        }
        guard let left else { return false }
        successor.state.withLock { state in
            (state.flushes, state.promptGoal) = (left.flushes, left.promptGoal)
            (state.waitingSince, state.pending) = (left.waitingSince, left.pending)
        }
        signal.yield()
        signal.finish()
        return true
    }

    /// Waits until the replaced lane has ended. Returns the drops that it has reported; nil without a replaced lane.
    func predecessorDrops() async -> [DropReason: Int]? {
        guard let predecessor = state.withLock({ $0.predecessor }) else { return nil }
        await predecessor.ended.waitDespiteCancellation()
        state.withLock { $0.predecessor = nil }
        // The last delivery of the replaced lane may have reached the goal of a flush that this lane has received.
        openGates()
        return predecessor.state.withLock { $0.reportedDrops }
    }

    /// Removes a flush from the list of this lane, or of the lane that has received the flush.
    func forget(_ gate: Gate) {
        let successor = state.withLock { state in
            state.flushes.removeAll { $0.gate === gate }
            return state.successor
        }
        successor?.forget(gate)
    }
}
