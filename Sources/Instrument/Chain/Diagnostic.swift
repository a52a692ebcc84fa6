/// Something that an instrument left out, and why; nothing is lost silently.
public enum Diagnostic: Hashable, Sendable {
    /// An action was emitted for a tracker that the instrument does not have; nothing happened.
    case unknownTracker(TrackerID, Action)
    /// A tracker of ads was added for a content tracker that the instrument does not have. The tracker works, for itself
    /// alone: its ad breaks are shared with no content.
    case unknownContent(TrackerID, of: TrackerID)
    /// A backend was not added, because the instrument already has one with this name. Names must differ.
    case duplicateBackend(BackendName)
    /// An event was not legal and went no further.
    case rejected(Action, TrackerID, Rejection)
    /// Attributes were left out of an event because they are NaN or infinite.
    case notFinite([AttributeName], Action, TrackerID)
    /// Attributes of this name are left out where they have to be declared and are not (``FieldAdmission``). Said
    /// once for each name.
    case undeclared(AttributeName)
    /// A metric was left out because it is NaN or infinite.
    case metricNotFinite(MetricName, TrackerID)
    /// The queue did not take samples.
    case notQueued(QueueError)
    /// A store repaired damage, or could not; the text says what.
    case store(String)
    /// The queue dropped samples of a backend.
    case dropped(BackendName, count: Int, DropReason)
    /// A sample will never be taken by a backend, for the given reason.
    case deadLetter(BackendName, SampleID, reason: String)
    /// A delivery failed and will be tried again after a while. Said once in a row of failures for the same reason.
    case retrying(BackendName, after: Duration, reason: String)
    /// A backend takes nothing more until the next start; its samples stay.
    case silenced(BackendName, reason: String)
}

extension Diagnostic {
    /// The case's name, for counting and for showing one of each: `retrying`, `dropped` …
    public var kind: String {
        switch self {
        case .unknownTracker: "unknownTracker"
        case .unknownContent: "unknownContent"
        case .duplicateBackend: "duplicateBackend"
        case .rejected: "rejected"
        case .notFinite: "notFinite"
        case .undeclared: "undeclared"
        case .metricNotFinite: "metricNotFinite"
        case .notQueued: "notQueued"
        case .store: "store"
        case .dropped: "dropped"
        case .deadLetter: "deadLetter"
        case .retrying: "retrying"
        case .silenced: "silenced"
        }
    }
}

extension Diagnostic: CustomStringConvertible {
    /// A line for a log.
    public var description: String {
        switch self {
        case .unknownTracker(let tracker, let action): "\(action) ignored: there is no tracker \(tracker)"
        case .unknownContent(let content, let tracker):
            "tracker \(tracker) reports ads of tracker \(content), which does not exist: add the content tracker first"
        case .duplicateBackend(let name):
            "backend \(name) not added: there is a backend with this name already; give each backend a different name"
        case .rejected(let action, let tracker, let reason): "\(action) of tracker \(tracker) rejected: \(reason)"
        case .notFinite(let names, let action, let tracker):
            "left out of \(action) of tracker \(tracker), not finite: \(names.map(\.spelling).joined(separator: ", "))"
        case .undeclared(let name):
            """
            left out \(name) from now on: it is not declared; say what it is in the tracker's declaredFields, or with \
            PrivacyRules(declaring:)
            """
        case .metricNotFinite(let name, let tracker): "left out \(name) of tracker \(tracker): not finite"
        case .notQueued(let error): "not queued: \(error)"
        case .store(let text): "store: \(text)"
        case .dropped(let backend, let count, let reason): "dropped \(count) samples of backend \(backend): \(reason)"
        case .deadLetter(let backend, let id, let reason): "backend \(backend) will never take \(id): \(reason)"
        case .retrying(let backend, let delay, let reason):
            "backend \(backend) is tried again in \(Self.rounded(delay)): \(reason)"
        case .silenced(let backend, let reason): "backend \(backend) is silent until the next start: \(reason)"
        }
    }

    private static func rounded(_ delay: Duration) -> String {
        delay < .seconds(10) ? "\(delay.milliseconds) ms" : "\(delay.milliseconds / 1000) s"
    }
}
