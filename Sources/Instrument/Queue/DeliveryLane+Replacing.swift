/// How one lane takes over from another, whose backend was replaced.
extension DeliveryLane {
    /// Closes this lane and leaves its flushes to `successor`; false if it was closed before.
    ///
    /// A delivery in flight ends as usual, and this lane settles it.
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

    /// Waits until the lane that this one replaces has ended; returns what that lane reported as dropped, nil without one.
    func predecessorDrops() async -> [DropReason: Int]? {
        guard let predecessor = state.withLock({ $0.predecessor }) else { return nil }
        await predecessor.ended.waitDespiteCancellation()
        state.withLock { $0.predecessor = nil }
        // The last delivery of that lane may have reached the goal of a flush that this lane took over.
        openGates()
        return predecessor.state.withLock { $0.reportedDrops }
    }

    /// Removes a flush from the list of this lane, or of the lane that took the flush over.
    func forget(_ gate: Gate) {
        let successor = state.withLock { state in
            state.flushes.removeAll { $0.gate === gate }
            return state.successor
        }
        successor?.forget(gate)
    }
}
