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
    /// The name of the stream in the monitor's configuration; every sample of a monitor has it.
    package static var monitorStream: Self { "monitorStream" }
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
    /// The fields that the monitor adds to samples.
    package static let monitor: PrivacyCatalogue = [
        FieldDeclaration(.monitorStream, "Name of the stream in the configuration", .otherDiagnosticData),
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

/// The metrics of quality, and the events that they are computed from, which go to the monitor, too.
package struct TappedMetricalc: Metricalc {
    private var base = QualityMetricalc()
    private let taps: SessionTaps
    /// The stream of each tracker, for its last metrics.
    private var streams = TrackerTable<String>()

    package init(_ taps: SessionTaps) { self.taps = taps }

    package mutating func process(_ event: Event, into metrics: inout [Metric]) {
        taps.pass(event)
        let first = metrics.count
        base.process(event, into: &metrics)
        guard let stream = event[.monitorStream] else { return }
        streams[event.tracker, default: stream] = stream
        for index in first..<metrics.count { metrics[index].attributes[.monitorStream] = stream }
    }

    package mutating func forget(_ tracker: TrackerID) {
        base.forget(tracker)
        streams.remove(tracker)
    }

    package mutating func forget(_ tracker: TrackerID, into metrics: inout [Metric]) {
        let first = metrics.count
        base.forget(tracker, into: &metrics)
        if streams.contains(tracker) {
            let stream = streams[tracker, default: ""]
            for index in first..<metrics.count { metrics[index].attributes[.monitorStream] = stream }
        }
        streams.remove(tracker)
    }

    package mutating func ready() { base.ready() }
    package mutating func end() { base.end() }
}
