extension BatchQueue {
    /// Exchanges the backend that has the name of `backend`, without losing or repeating a sample.
    ///
    /// The new backend takes over the old one's place in the log, with its ledger and its dead letters. It gets every sample
    /// that the old one has not settled, beginning with a batch that failed, with the same identifiers. Waiting
    /// times and limits that the old backend's failures caused end with it. A ``flush(timeout:isolation:)`` that is under way continues.
    ///
    /// A delivery in flight may take `timeout`; then its task is cancelled. The new backend starts once the old one has
    /// answered and its service has ended, so that no two backends deliver the same samples at a time. An old backend that
    /// ignores the cancellation delays the new one, and no other.
    ///
    /// Cancelling the task has the effect of `timeout`: the delivery in flight is cancelled, and the exchange is completed.
    ///
    /// - Returns: once the old backend's service has ended, or `timeout` has passed; false if the queue has no backend of that
    ///   name, or was shut down. Then nothing changes.
    @discardableResult
    public func replace(backend: any Backend, timeout: Duration = .seconds(60)) async -> Bool {
        await replace(backend, timeout: timeout) {}
    }

    /// - Parameter prepare: called once it is clear that `backend` will be used, before the first delivery.
    func replace(_ backend: any Backend, timeout: Duration, prepare: () -> Void) async -> Bool {
        guard let (old, new) = exchange(backend) else { return false }
        prepare()
        new.start()
        await old.end(by: clock.now.advanced(by: timeout))
        return true
    }

    private func exchange(_ backend: any Backend) -> (old: DeliveryLane, new: DeliveryLane)? {
        while let old = lanes.first(where: { $0.name == backend.name }) {
            let new = makeLane(backend, replacing: old)
            let isExchanged = state.withLock { state -> Bool? in
                // Another exchange or a removal was faster: look again.
                guard let index = state.lanes.firstIndex(where: { $0 === old }) else { return false }
                guard old.handOver(to: new) else { return nil }
                if state.isHeld { new.hold() }
                state.lanes[index] = new
                return true
            }
            switch isExchanged {
            case true?: return (old, new)
            case false?: continue
            case nil: return nil
            }
        }
        return nil
    }
}
