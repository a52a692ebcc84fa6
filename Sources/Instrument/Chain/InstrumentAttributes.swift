/// The events to which an attribute of the instrument is added. The narrowest of several scopes wins.
public enum AttributeScope: Hashable, Sendable {
    /// All events.
    case all
    /// One tracker's events.
    case tracker(TrackerID)
    /// One action's events.
    case action(Action)
    /// One action's events of one tracker.
    case trackerAction(TrackerID, Action)
}

/// The attributes that an instrument adds, by scope.
struct InstrumentAttributes: Sendable {
    private var byScope: [AttributeScope: Attributes] = [:]

    var isEmpty: Bool { byScope.isEmpty }

    mutating func set(_ value: AttributeValue?, for name: AttributeName, in scope: AttributeScope) {
        byScope[scope, default: [:]][name] = value
        if byScope[scope]?.isEmpty == true { byScope[scope] = nil }
    }

    /// Adds the attributes whose scope matches and whose name is absent, the narrowest scope first.
    func addMissing(to attributes: inout Attributes, of action: Action, from tracker: TrackerID) {
        let scopes: [AttributeScope] = [.trackerAction(tracker, action), .action(action), .tracker(tracker), .all]
        for scope in scopes {
            if let values = byScope[scope] { attributes.addMissing(values) }
        }
    }
}
