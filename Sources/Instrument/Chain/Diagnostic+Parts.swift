extension Diagnostic {
    /// The parts of a diagnostic. Texts are composed only when somebody reads them, because a hub may reject many
    /// events.
    enum Fact: Hashable, Sendable {
        case unknownTracker(TrackerID, Action)
        case unknownContent(TrackerID, of: TrackerID)
        case duplicateBackend(BackendName)
        case rejected(Action, TrackerID, Rejection)
        case notFinite([AttributeName], Action, TrackerID)
        case undeclared(AttributeName)
        case metricNotFinite(MetricName, TrackerID)
        case notQueued(QueueError)
        case store(String)
        case dropped(BackendName, count: Int, DropReason)
        case deadLetter(BackendName, SampleID, reason: String)
        case retrying(BackendName, after: Duration, reason: String)
        case silenced(BackendName, reason: String)
        case altered(BackendName, Alteration, count: Int)
        case remark(Remark)
    }

    /// A diagnostic of a kind that the instrument does not define.
    struct Remark: Hashable, Sendable {
        let kind: Kind
        let severity: Severity
        let message: String
        let backend: BackendName?
        let tracker: TrackerID?
        let action: Action?
    }

    /// The message.
    public var kind: Kind {
        switch fact {
        case .unknownTracker: .unknownTracker
        case .unknownContent: .unknownContent
        case .duplicateBackend: .duplicateBackend
        case .rejected: .rejected
        case .notFinite: .notFinite
        case .undeclared: .undeclared
        case .metricNotFinite: .metricNotFinite
        case .notQueued: .notQueued
        case .store: .store
        case .dropped: .dropped
        case .deadLetter: .deadLetter
        case .retrying: .retrying
        case .silenced: .silenced
        case .altered: .altered
        case .remark(let remark): remark.kind
        }
    }

    /// The backend that the diagnostic concerns; nil without a backend.
    public var backend: BackendName? {
        switch fact {
        case .duplicateBackend(let backend), .dropped(let backend, _, _), .deadLetter(let backend, _, _),
            .retrying(let backend, _, _), .silenced(let backend, _),
            .altered(let backend, _, _):
            backend
        case .remark(let remark): remark.backend
        default: nil
        }
    }

    /// The tracker that the diagnostic concerns; nil without a tracker.
    public var tracker: TrackerID? {
        switch fact {
        case .unknownTracker(let tracker, _), .unknownContent(_, let tracker), .rejected(_, let tracker, _),
            .notFinite(_, _, let tracker), .metricNotFinite(_, let tracker):
            tracker
        case .remark(let remark): remark.tracker
        default: nil
        }
    }

    /// The missing content tracker of `unknownContent(_:of:)`; otherwise nil.
    public var content: TrackerID? { if case .unknownContent(let content, _) = fact { content } else { nil } }

    /// The action of the event that the diagnostic concerns; nil without an event.
    public var action: Action? {
        switch fact {
        case .unknownTracker(_, let action), .rejected(let action, _, _), .notFinite(_, let action, _): action
        case .remark(let remark): remark.action
        default: nil
        }
    }

    /// The names of the attributes that are left out; empty if the diagnostic concerns no attributes.
    public var attributes: [AttributeName] {
        switch fact {
        case .notFinite(let names, _, _): names
        case .undeclared(let name): [name]
        default: []
        }
    }

    /// The metric of `metricNotFinite(_:_:)`; otherwise nil.
    public var metric: MetricName? { if case .metricNotFinite(let name, _) = fact { name } else { nil } }

    /// The hub's or hook's reason of ``rejected(_:_:_:)``; otherwise nil.
    public var rejection: Rejection? { if case .rejected(_, _, let reason) = fact { reason } else { nil } }

    /// The error of `notQueued(_:)`; otherwise nil.
    public var queueError: QueueError? { if case .notQueued(let error) = fact { error } else { nil } }

    /// The number of samples of `dropped(_:count:_:)`, or of changes of ``altered(_:_:count:)``; otherwise nil.
    public var count: Int? {
        switch fact {
        case .dropped(_, let count, _), .altered(_, _, let count): count
        default: nil
        }
    }

    /// The change of ``altered(_:_:count:)``; otherwise nil.
    public var alteration: Alteration? { if case .altered(_, let alteration, _) = fact { alteration } else { nil } }

    /// The queue's reason of `dropped(_:count:_:)`; otherwise nil.
    public var dropReason: DropReason? { if case .dropped(_, _, let reason) = fact { reason } else { nil } }

    /// The sample of `deadLetter(_:_:reason:)`; otherwise nil.
    public var sample: SampleID? { if case .deadLetter(_, let sample, _) = fact { sample } else { nil } }

    /// The back-off of `retrying(_:after:reason:)`; otherwise nil.
    public var delay: Duration? { if case .retrying(_, let delay, _) = fact { delay } else { nil } }

    /// The reason of a failed delivery (``Kind/deadLetter``, ``Kind/retrying``, ``Kind/silenced``), for people;
    /// otherwise nil.
    public var reason: String? {
        switch fact {
        case .deadLetter(_, _, let reason), .retrying(_, _, let reason), .silenced(_, let reason): reason
        default: nil
        }
    }
}
