extension Instrument {
    /// The consent of the person whose samples the queue holds.
    public var consent: Consent { queue.consent }

    /// Changes the consent; ``Consent`` describes the effect on samples.
    ///
    /// The earlier consent applies to events that were emitted before the call, the new consent to events that are
    /// emitted once this method has returned. May wait for the disk.
    /// - Throws: if the store could not carry out the change. Then nothing is sent, and the call may be repeated.
    public func set(consent: Consent) throws(QueueError) { try queue.set(consent: consent) }

    /// Declares fields of the app: they may be sent, by the app and by every tracker, unless they are off.
    public func declare(_ fields: PrivacyCatalogue) {
        queue.declare(fields)
        let slots = registry.withLock { $0.slots.values }
        for slot in slots { slot.admitDeclaredGetters() }
    }

    /// All declared fields: those of the vocabulary, of the trackers that were added, and of the app.
    public var catalogue: PrivacyCatalogue { queue.catalogue }

    /// Erases a person's queued samples and dead letters from the queue; returns their number.
    ///
    /// The attribute that ``PrivacyRules/userIdKey`` names identifies the person, set for example by
    /// `instrument.set(.userId, to: "u-1")`; metrics carry it, too. Samples that a backend has received are not
    /// affected: request their erasure there. Waits for the disk.
    /// - Throws: if some samples could not be erased; the call may be repeated.
    @discardableResult
    public func erase(userId: String) throws(QueueError) -> Int { try queue.erase(userId: userId) }
}
