package import Instrument
internal import InstrumentQuality

enum MonitorStreamKey: AnalyticsKey { static let key = "monitorStream" }

extension AnalyticsValues {
    /// The name of the stream whose session emits.
    package var monitorStream: String? {
        get { self[MonitorStreamKey.self] }
        set { self[MonitorStreamKey.self] = newValue }
    }
}

extension AttributeKey where Value == String {
    /// The message about an alert, as JSON.
    static var alertMessage: Self { "alertMessage" }
    /// The identifier of the message.
    static var alertMessageId: Self { "alertMessageId" }
}

extension Action {
    /// A message about an alert, on its way to a receiver.
    package static let monitorAlert = Action("MonitorAlert")
}

extension PrivacyCatalogue {
    /// The fields of messages about alerts.
    package static let monitorAlerts: PrivacyCatalogue = [
        FieldDeclaration(.alertMessage, "Message about an alert", .otherDiagnosticData),
        FieldDeclaration(.alertMessageId, "Identifier of a message about an alert", .otherDiagnosticData),
    ]
}

/// Passes the events of trackers to their sessions.
package final class SessionTaps: Sendable {
    private let taps = Lock<[TrackerID: @Sendable (Event) -> Void]>([:])

    package init() {}

    /// Passes the events of a tracker to `tap`, which must return at once.
    package func add(_ tracker: TrackerID, _ tap: @escaping @Sendable (Event) -> Void) {
        taps.withLock { $0[tracker] = tap }
    }

    package func remove(_ tracker: TrackerID) { taps.withLock { $0[tracker] = nil } }

    func pass(_ event: Event) { taps.withLock { $0[event.tracker] }?(event) }
}

/// The metrics of quality, with the stream, the labels and the location of their events, and the events that they are
/// computed from, which go to the monitor, too.
package struct TappedMetricalc: Metricalc {
    private var base = CarryingMetricalc(QualityMetricalc(), AttributeName.ofMonitor)
    private let taps: SessionTaps

    package init(_ taps: SessionTaps) { self.taps = taps }

    package mutating func process(_ event: Event, into metrics: inout [Metric]) {
        taps.pass(event)
        base.process(event, into: &metrics)
    }

    package mutating func forget(_ tracker: TrackerID) { base.forget(tracker) }

    package mutating func forget(_ tracker: TrackerID, into metrics: inout [Metric]) {
        base.forget(tracker, into: &metrics)
    }

    package mutating func ready() { base.ready() }
    package mutating func end() { base.end() }
}
