extension BatchQueue {
    /// Declares fields of the app: they may be sent, by the app and by every tracker, unless they are off.
    public func declare(_ fields: PrivacyCatalogue) { privacy.declare(fields) }

    /// All fields that are declared so far.
    public var catalogue: PrivacyCatalogue { privacy.catalogue }

    /// The consent of the person whose samples the queue holds.
    public var consent: Consent { state.withLock { $0.consent.consent } }

    /// Changes the consent; ``Consent`` describes the effect on samples.
    ///
    /// Once this method returns, the queue treats appended samples accordingly, and no lane sends what it must not
    /// send; the queue does not cancel a delivery that has started. May wait for the disk; concurrent calls run one
    /// after another.
    /// - Throws: if the store could not hold, release or erase. Then the queue sends nothing, with `pending` it
    ///   collects nothing either, and the call may be repeated.
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
        try finishDenial()
        try store.release()
        let lanes = state.withLock { state in
            state.consent.grant()
            return state.lanes
        }
        for lane in lanes { lane.release() }
    }

    private func hold() throws(QueueError) {
        changeConsent { $0.stopSending() }
        do throws(QueueError) {
            try finishDenial()
            try store.hold()
        } catch {
            state.withLock { $0.consent.stopCollecting() }
            throw error
        }
        state.withLock { $0.consent.hold() }
    }

    private func deny() throws(QueueError) {
        changeConsent { $0.deny() }
        try store.eraseHeld()
    }

    /// Erases what a denial could not erase: a later consent does not include these samples.
    private func finishDenial() throws(QueueError) { if store.consent == .denied { try store.eraseHeld() } }

    /// Applies a change after which nothing is sent.
    private func changeConsent(_ change: (inout ConsentState) -> Void) {
        let lanes = state.withLock { state in
            change(&state.consent)
            return state.lanes
        }
        for lane in lanes { lane.hold() }
    }

    /// Erases a person's queued samples and dead letters from the store; returns their number.
    ///
    /// The attribute that ``PrivacyRules/userIdKey`` names identifies the person. Samples that a backend has received
    /// are not affected. Samples that are emitted while this method runs may or may not be erased. Waits for the disk.
    /// - Throws: if some samples could not be erased; the call may be repeated.
    @discardableResult
    public func erase(userId: String) throws(QueueError) -> Int {
        // A lane may have read, and not yet sent, samples that are being erased.
        defer { for lane in state.withLock({ $0.lanes }) { lane.readAgain() } }
        return try store.erase { [privacy] in privacy.rules.names(userId, in: $0.sample) }
    }
}
