/// Something that an instrument left out, and why; nothing is lost silently.
public enum Diagnostic: Hashable, Sendable, CustomStringConvertible {
    /// An action was emitted for a tracker that the instrument does not have; nothing happened.
    case unknownTracker(TrackerID, Action)
    /// An event was not legal and went no further.
    case rejected(Action, TrackerID, Rejection)
    /// Attributes were left out of an event because they are NaN or infinite.
    case notFinite([AttributeName], Action, TrackerID)
    /// A metric was left out because it is NaN or infinite.
    case metricNotFinite(MetricName, TrackerID)

    /// A line for a log.
    public var description: String {
        switch self {
        case .unknownTracker(let tracker, let action): "\(action) ignored: there is no tracker \(tracker)"
        case .rejected(let action, let tracker, let reason): "\(action) of tracker \(tracker) rejected: \(reason)"
        case .notFinite(let names, let action, let tracker):
            "left out of \(action) of tracker \(tracker), not finite: \(names.map(\.spelling).joined(separator: ", "))"
        case .metricNotFinite(let name, let tracker): "left out \(name) of tracker \(tracker): not finite"
        }
    }
}
