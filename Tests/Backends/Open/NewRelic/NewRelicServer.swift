import Instrument
import InstrumentJSON
import LoopbackServers

/// A stand-in for New Relic that enforces the published limits of the Event API and the Metric API, written apart from
/// the backend.
final class NewRelicServer: Sendable {
    struct State {
        var events: [[String: JSONValue]] = []
        var metrics: [[String: JSONValue]] = []
        var violations: [String] = []
    }

    static let key = "license-key-0123456789"
    private let state = Lock(State())
    private let server: TestServer

    var current: State { state.withLock { $0 } }
    var url: String { server.url("") }

    init() throws {
        let state = state
        server = try TestServer { request in
            let (status, violation) = Self.take(request, state)
            if let violation { state.withLock { $0.violations.append(violation) } }
            return [.respond(status, Array(#"{"success":true,"uuid":"1"}"#.utf8))]
        }
    }

    private static func take(_ request: TestServer.Received, _ state: Lock<State>) -> (String, String?) {
        guard request.header("Api-Key") == key else { return ("403 Forbidden", nil) }
        if request.body.count > 1_000_000 { return ("413 Payload Too Large", "body") }
        let body = request.header("Content-Encoding") == "gzip" ? unpacked(request.body) : request.body
        if body.count > 1_000_000 { return ("413 Payload Too Large", "body") }
        guard case .array(let elements)? = try? JSONValue(parsing: body) else { return ("400 Bad Request", "no array") }
        if request.target == "/v1/accounts/42/events" {
            let events = elements.compactMap { if case .object(let members) = $0 { members } else { nil } }
            let violations = events.compactMap(violation(ofEvent:))
            if events.count < elements.count || !violations.isEmpty {
                return ("400 Bad Request", violations.first ?? "no object")
            }
            state.withLock { $0.events += events }
            return ("200 OK", nil)
        }
        guard request.target == "/metric/v1" else { return ("404 Not Found", "address") }
        var metrics: [[String: JSONValue]] = []
        for element in elements {
            guard case .array(let points)? = element["metrics"] else { return ("400 Bad Request", "no metrics") }
            metrics += points.compactMap { if case .object(let members) = $0 { members } else { nil } }
        }
        if let violation = metrics.lazy.compactMap(violation(ofMetric:)).first { return ("400 Bad Request", violation) }
        state.withLock { $0.metrics += metrics }
        return ("202 Accepted", nil)
    }

    private static func violation(ofEvent event: [String: JSONValue]) -> String? {
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:"
        guard let type = event["eventType"]?.string, !type.isEmpty, type.utf8.count <= 255,
            type.allSatisfy({ letters.contains($0) })
        else { return "eventType" }
        guard let time = event["timestamp"]?.int, time >= 0 else { return "timestamp" }
        if event.count > 254 { return "\(event.count) attributes" }
        for (name, value) in event {
            if name.isEmpty || name.utf8.count > 255 { return "name of \(name.utf8.count) bytes" }
            switch value {
            case .string(let text) where text.utf8.count <= 4096: break
            case .int, .double: break
            default: return "value of \(name)"
            }
        }
        return nil
    }

    private static func violation(ofMetric metric: [String: JSONValue]) -> String? {
        guard let name = metric["name"]?.string, !name.isEmpty, name.utf8.count <= 255 else { return "name" }
        let hasInterval = (metric["interval.ms"]?.int ?? 0) > 0
        switch (metric["type"]?.string, metric["value"]) {
        case ("gauge", .int), ("gauge", .double): if metric["interval.ms"] != nil { return "interval" }
        case ("count", .int), ("count", .double): if !hasInterval { return "interval" }
        case ("summary", .object(let parts)):
            if !hasInterval || Set(parts.keys) != ["count", "sum", "min", "max"] { return "summary" }
        default: return "type"
        }
        guard case .object(let attributes)? = metric["attributes"], attributes.count <= 100 else { return "attributes" }
        for (name, value) in attributes {
            if name.isEmpty || name.utf8.count > 255 { return "name of an attribute" }
            switch value {
            case .string(let text) where text.utf8.count <= 4096: break
            case .int, .double, .bool: break
            default: return "value of \(name)"
            }
        }
        return nil
    }
}
