extension BatchQueue {
    /// What the person whose samples these are has allowed.
    public var consent: Consent { state.withLock { $0.consent } }

    /// Changes the consent. What this means for samples says ``Consent``.
    ///
    /// Once it has returned, appended samples are treated accordingly, and no lane sends what it must not; a delivery that
    /// has started is not cancelled. May wait for the disk; several calls take their turns.
    /// - Throws: if the store could not hold, release or erase. Then nothing is sent, with `pending` nothing is collected
    ///   either, and the call may be repeated.
    public func set(consent: Consent) throws(QueueError) {
        try consentChange.withLock { (_: inout Void) throws(QueueError) in
            switch consent {
            case .granted: try grant()
            case .pending: try hold()
            case .denied: try deny()
            }
        }
    }

    private func grant() throws(QueueError) {
        try store.release()
        let lanes = state.withLock { state in
            (state.consent, state.isHeld, state.isCollecting) = (.granted, false, true)
            return state.lanes
        }
        for lane in lanes { lane.release() }
    }

    private func hold() throws(QueueError) {
        stopSending { _ in }
        do throws(QueueError) { try store.hold() } catch {
            // Without its mark nothing could be erased later.
            state.withLock { $0.isCollecting = false }
            throw error
        }
        state.withLock { ($0.consent, $0.isCollecting) = (.pending, true) }
    }

    private func deny() throws(QueueError) {
        stopSending { ($0.consent, $0.isCollecting) = (.denied, false) }
        try store.eraseHeld()
    }

    private func stopSending(_ change: (inout State) -> Void) {
        let lanes = state.withLock { state in
            state.isHeld = true
            change(&state)
            return state.lanes
        }
        for lane in lanes { lane.hold() }
    }

    /// Erases a person's samples from the store, those that wait and those that are dead letters; returns how many.
    ///
    /// A person is known by the attribute that ``PrivacyRules/userIdKey`` names. What a backend has been sent is not called
    /// back. What is emitted while this runs may or may not be erased. Waits for the disk.
    /// - Throws: if some could not be erased; the call may be repeated.
    @discardableResult
    public func erase(userId: String) throws(QueueError) -> Int {
        // What a lane has read and not sent may hold what is being erased.
        defer { for lane in state.withLock({ $0.lanes }) { lane.readAgain() } }
        return try store.erase { [privacy] in privacy.names(userId, in: $0.sample) }
    }
}
