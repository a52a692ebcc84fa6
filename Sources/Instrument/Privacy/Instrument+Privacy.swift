extension Instrument {
    /// What the person whose samples these are has allowed.
    public var consent: Consent { queue.consent }

    /// Changes the consent. What this means for samples says ``Consent``.
    ///
    /// What was emitted before is treated by the earlier consent, what is emitted once this has returned by the new one. May
    /// wait for the disk.
    /// - Throws: if the store could not carry it out. Then nothing is sent, and the call may be repeated.
    public func set(consent: Consent) throws(QueueError) { try queue.set(consent: consent) }

    /// Knows these fields, too, from now on: they may be sent, by the app and by every tracker, unless they are off.
    public func declare(_ fields: PrivacyCatalogue) {
        queue.declare(fields)
        collected.declare(fields)
        let slots = registry.withLock { Array($0.slots.values) }
        for slot in slots { slot.admitDeclaredGetters() }
    }

    /// All fields that may be collected: those of the vocabulary, of the trackers that were added, and of the app.
    public var catalogue: PrivacyCatalogue { queue.catalogue }

    /// Erases a person's samples from the queue, those that wait and those that are dead letters; returns how many.
    ///
    /// A person is known by the attribute that ``PrivacyRules/userIdKey`` names, set for example by
    /// `instrument.set(.userId, to: "u-1")`; metrics carry it, too. What a backend has been sent is not called back: ask
    /// there. Waits for the disk.
    /// - Throws: if some could not be erased; the call may be repeated.
    @discardableResult
    public func erase(userId: String) throws(QueueError) -> Int { try queue.erase(userId: userId) }
}
