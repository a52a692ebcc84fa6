extension Diagnostic.Kind {
    /// An action was emitted for a tracker that the instrument does not have.
    public static let unknownTracker = Self("unknownTracker")
    /// A tracker of ads was added for a content tracker that the instrument does not have.
    public static let unknownContent = Self("unknownContent")
    /// A backend was not added, because the instrument already has a backend with this name.
    public static let duplicateBackend = Self("duplicateBackend")
    /// An event was not legal, and the chain dropped it.
    public static let rejected = Self("rejected")
    /// Attributes are left out of an event because they are NaN or infinite.
    public static let notFinite = Self("notFinite")
    /// Attributes of a name are left out because the name is not declared.
    public static let undeclared = Self("undeclared")
    /// A metric is left out because it is NaN or infinite.
    public static let metricNotFinite = Self("metricNotFinite")
    /// The queue did not take samples.
    public static let notQueued = Self("notQueued")
    /// A store repaired damage, or could not.
    public static let store = Self("store")
    /// The queue dropped samples of a backend.
    public static let dropped = Self("dropped")
    /// A backend will never take a sample.
    public static let deadLetter = Self("deadLetter")
    /// A delivery failed; the queue retries after a back-off.
    public static let retrying = Self("retrying")
    /// A backend takes no samples until the next start.
    public static let silenced = Self("silenced")
    /// A backend changed samples, because the format or the limits of its service do not allow the original.
    public static let altered = Self("altered")
}

extension Diagnostic {
    /// An action was emitted for a tracker that the instrument does not have; nothing happened.
    package static func unknownTracker(_ tracker: TrackerID, _ action: Action) -> Diagnostic {
        Diagnostic(fact: .unknownTracker(tracker, action))
    }

    /// A tracker of ads was added for a content tracker that the instrument does not have. The tracker works, but
    /// shares its ad breaks with no content.
    ///
    /// - Parameters:
    ///   - content: the missing content tracker.
    ///   - tracker: the tracker of ads.
    package static func unknownContent(_ content: TrackerID, of tracker: TrackerID) -> Diagnostic {
        Diagnostic(fact: .unknownContent(content, of: tracker))
    }

    /// A backend was not added, because the instrument already has a backend with this name. Names must differ.
    package static func duplicateBackend(_ name: BackendName) -> Diagnostic {
        Diagnostic(fact: .duplicateBackend(name))
    }

    /// An event was not legal, and the chain dropped it.
    public static func rejected(_ action: Action, _ tracker: TrackerID, _ reason: Rejection) -> Diagnostic {
        Diagnostic(fact: .rejected(action, tracker, reason))
    }

    /// Attributes are left out of an event because they are NaN or infinite.
    package static func notFinite(_ names: [AttributeName], _ action: Action, _ tracker: TrackerID) -> Diagnostic {
        Diagnostic(fact: .notFinite(names, action, tracker))
    }

    /// Attributes of this name are left out because ``FieldAdmission`` requires a declaration and there is no
    /// declaration. Reported once for each name.
    package static func undeclared(_ name: AttributeName) -> Diagnostic { Diagnostic(fact: .undeclared(name)) }

    /// A metric is left out because it is NaN or infinite.
    package static func metricNotFinite(_ name: MetricName, _ tracker: TrackerID) -> Diagnostic {
        Diagnostic(fact: .metricNotFinite(name, tracker))
    }

    /// The queue did not take samples.
    package static func notQueued(_ error: QueueError) -> Diagnostic { Diagnostic(fact: .notQueued(error)) }

    /// A store repaired damage, or could not; the text says what happened.
    package static func store(_ text: String) -> Diagnostic { Diagnostic(fact: .store(text)) }

    /// The queue dropped samples of a backend.
    package static func dropped(_ backend: BackendName, count: Int, _ reason: DropReason) -> Diagnostic {
        Diagnostic(fact: .dropped(backend, count: count, reason))
    }

    /// A backend will never take a sample, for the given reason.
    package static func deadLetter(_ backend: BackendName, _ sample: SampleID, reason: String) -> Diagnostic {
        Diagnostic(fact: .deadLetter(backend, sample, reason: reason))
    }

    /// A delivery failed; the queue retries after the delay. Reported once for consecutive failures with the same
    /// reason.
    package static func retrying(_ backend: BackendName, after delay: Duration, reason: String) -> Diagnostic {
        Diagnostic(fact: .retrying(backend, after: delay, reason: reason))
    }

    /// A backend takes no samples until the next start; its samples stay in the queue.
    package static func silenced(_ backend: BackendName, reason: String) -> Diagnostic {
        Diagnostic(fact: .silenced(backend, reason: reason))
    }

    /// A backend changed samples, because the format or the limits of its service do not allow the original.
    public static func altered(_ backend: BackendName, _ alteration: Alteration, count: Int) -> Diagnostic {
        Diagnostic(fact: .altered(backend, alteration, count: count))
    }
}
