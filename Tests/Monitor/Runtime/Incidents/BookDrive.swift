import Foundation
import Instrument
import InstrumentHTTP
import InstrumentWatch
import Testing

@testable import InstrumentMonitor

/// Drives the incidents alone under a virtual time: alerts that fire and are resolved go in, messages come out.
struct BookDrive {
    var book: IncidentBook
    var now: Timestamp
    var messages: [AlertMessage] = []
    /// What the sessions hear; without a host that plays, nothing is awaited.
    var contact = HostContact()
    private let streams: [String: WatchedStream]
    private let alerts: [String: AlertConfiguration]

    init(
        _ streams: [WatchedStream],
        alerts: [AlertConfiguration] = [],
        at begin: WallTime = WallTime(milliseconds: 1_767_225_600_000),
        _ change: (inout IncidentSettings) -> Void = { _ in }
    ) throws {
        let alerts = try alerts + ["down", "stalls", "stale"].map { try alert($0, "up == 0") }
        var watched = configuration(streams, alerts)
        change(&watched.incidents)
        book = IncidentBook(watched, groupWait: .seconds(10))
        book.configure(watched, hosts: ["": Set(streams.map(\.url.host))])
        now = Timestamp(instant: MonotonicInstant(nanoseconds: 5_000_000_000), wallTime: begin)
        self.streams = Dictionary(streams.map { ($0.name, $0) }) { first, _ in first }
        self.alerts = Dictionary(alerts.map { ($0.name, $0) }) { first, _ in first }
    }

    mutating func fail(_ stream: String, _ cause: StreamCause, alert: String = "down") {
        guard let stream = streams[stream], let alert = alerts[alert] else { return }
        book.fires(IncidentSignal(alert, stream, cause: cause, reason: "x", since: now), at: now)
    }

    mutating func explain(_ stream: String, _ cause: StreamCause) {
        guard let stream = streams[stream] else { return }
        book.explains(cause, of: stream, at: now)
    }

    mutating func recover(_ stream: String, _ alert: String = "down") {
        book.resolves(alert, of: stream, at: now)
    }

    mutating func act(_ action: IncidentAction, by person: String = "Ana") throws -> String {
        let id = try book.perform(action, by: person, at: now)
        messages += book.advance(to: now, contact)
        return id
    }

    /// Lets time pass as the monitor does: an evaluation every five seconds, and every deadline.
    mutating func run(for duration: Duration) {
        let end = now.instant.advanced(by: duration)
        var turns = 0
        while now.instant < end {
            let evaluation = now.instant.advanced(by: .seconds(5))
            let next = min(evaluation, max(now.instant, book.nextDeadline ?? evaluation), end)
            // A deadline of now is performed at once.
            let step = next == now.instant ? Duration.zero : now.instant.duration(to: next)
            turns = step == .zero ? turns + 1 : 0
            guard turns < 10 else {
                Issue.record("the incidents are never done with a deadline")
                return
            }
            now = now.advanced(by: step)
            messages += book.advance(to: now, contact)
        }
    }

    /// `opens 3`: the kinds of the messages and the numbers of their streams.
    var summary: [String] { messages.map { "\($0.kind.rawValue) \($0.streamCount)" } }

    var states: [String] { book.order.compactMap { book.incidents[$0]?.state.name } }
}

extension StreamCause {
    static func http(_ status: Int, _ host: String? = nil) -> StreamCause {
        var cause = StreamCause(.http, "The playlist answers \(status)", since: WallTime(milliseconds: 0))
        (cause.status, cause.host) = (status, host)
        return cause
    }

    static let network = StreamCause(.network, "No connection", since: WallTime(milliseconds: 0))
    static let stalled = StreamCause(.stalled, "The picture is frozen", since: WallTime(milliseconds: 0))
    static let black = StreamCause(.check, "black", since: WallTime(milliseconds: 0))
}

func wallTime(_ text: String) -> WallTime {
    WallTime(milliseconds: Int64((ISO8601DateFormatter().date(from: text)?.timeIntervalSince1970 ?? 0) * 1_000))
}
