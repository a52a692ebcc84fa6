extension BatchQueue {
    /// Replaces the backend that has the name of `backend`, without losing or repeating a sample.
    ///
    /// The new backend inherits the old backend's place in the log, its ledger and its dead letters. The new backend
    /// receives every sample that the old backend has not settled, beginning with a batch that failed, with the same
    /// identifiers. Delays and limits that failures of the old backend caused end. A running
    /// ``flush(timeout:isolation:)`` continues.
    ///
    /// A delivery in flight may take `timeout`; then the queue cancels its task. The new backend starts after the old
    /// backend's delivery and service have ended, so that two backends never deliver the same samples at the same time.
    /// An old backend that ignores the cancellation delays the new backend only.
    ///
    /// Cancellation of the calling task has the effect of `timeout`: the queue cancels the delivery in flight and
    /// completes the replacement.
    ///
    /// - Returns: true after the old backend's service has ended, or `timeout` has passed; false, without a change, if
    ///   the queue has no backend of that name or was shut down.
    @discardableResult
    public func replace(backend: any Backend, timeout: Duration = .seconds(60)) async -> Bool {
        await replace(backend, timeout: timeout) {}
    }

    /// - Parameter prepare: called before the first delivery of `backend`; not called if the replacement fails.
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
                // Another replacement or a removal has changed the lanes: search again.
                guard let index = state.lanes.firstIndex(where: { $0 === old }) else { return false }
                guard old.handOver(to: new) else { return nil }
                if state.consent.isHeld { new.hold() }
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
