internal import Instrument

/// An instrument that records the events of a tracker.
final class TrackerStage: Sendable {
    /// The action that the contract emits for the app.
    static let probe = Action("ContractProbe")

    /// Accepts every event, and notes it.
    private struct NotingHub: Hub {
        let events: Lock<[Event]>
        mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
            let noted = event
            events.withLock { $0.append(noted) }
            return .accepted
        }
    }

    let instrument: Instrument
    let clock = VirtualClock()
    private let noted = Lock<[Event]>([])
    private let diagnostics = Lock<[Diagnostic]>([])

    init() {
        let diagnostics = diagnostics
        instrument = Instrument(
            hub: NotingHub(events: noted),
            metricalc: nil,
            clock: clock,
            onDiagnostic: { diagnostic in diagnostics.withLock { $0.append(diagnostic) } }
        )
    }

    var events: [Event] { noted.withLock { $0 } }

    /// The number of events that a hook rejected.
    var rejectionCount: Int {
        diagnostics.withLock { $0.count { $0.kind == .rejected } }
    }

    /// Emits an event; returns the names of its attributes, nil if a hook rejects it.
    func probe(_ id: TrackerID) -> Set<AttributeName>? {
        let count = events.count
        instrument.emit(Self.probe, from: id)
        return events.dropFirst(count).first { $0.action == Self.probe }.map { Set($0.attributes.map(\.name)) }
    }

    /// Requires that the tracker emitted no events after its removal.
    func requireSilence(of id: TrackerID, _ circumstance: String) throws(ContractViolation) {
        let emitted = diagnostics.withLock { diagnostics in
            diagnostics.filter { $0.kind == .unknownTracker && $0.tracker == id }.compactMap(\.action)
        }
        try require(
            emitted.isEmpty,
            "once its service has ended, a tracker emits nothing",
            "\(emitted.map(\.name).joined(separator: ", ")) \(circumstance)"
        )
    }

    /// Requires that no attribute was removed from the tracker's events.
    func requireDeclared() throws(ContractViolation) {
        for diagnostic in diagnostics.withLock({ $0 }) {
            let names = diagnostic.attributes.map(\.spelling).joined(separator: ", ")
            switch diagnostic.kind {
            case .undeclared:
                throw ContractViolation("every field that a tracker collects is declared", "\(names) is not")
            case .notFinite:
                let event = diagnostic.action.map { " of \($0)" } ?? ""
                throw ContractViolation("the values that a tracker collects are finite", "\(names)\(event) is not")
            default: break
            }
        }
    }
}
