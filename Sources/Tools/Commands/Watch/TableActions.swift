internal import Foundation
internal import Instrument
internal import InstrumentJSON
internal import InstrumentMonitor
internal import InstrumentMonitorRuntime

/// What the keys of the table ask for: of a monitor in this process, and over HTTP.
extension StreamTable.Action {
    /// The person at the terminal, for the log of who did what.
    static func person(orElse name: String) -> String { ProcessInfo.processInfo.environment["USER"] ?? name }

    /// The request that performs the action; without a body, it is `DELETE`.
    func request(by person: String) -> (path: String, body: JSONValue?) {
        let hour: [String: JSONValue] = ["for": "1h", "by": .string(person)]
        let matchers = { (stream: String) -> [String: JSONValue] in
            ["matchers": [["label": "stream", "value": .string(stream)]]]
        }
        let object = { (members: [String: JSONValue]) -> JSONValue in .object(hour.merging(members) { $1 }) }
        switch self {
        case .acknowledge(let incident, let note):
            return (
                "/api/incidents/\(PercentCoding.encoded(incident))/acknowledge", object(["note": .string(note)])
            )
        case .release(let incident):
            return ("/api/incidents/\(PercentCoding.encoded(incident))/release", ["by": .string(person)])
        case .close(let incident):
            return ("/api/incidents/\(PercentCoding.encoded(incident))/close", ["by": .string(person)])
        case .tryNow(let stream): return ("/api/try?name=" + PercentCoding.encoded(stream), [:])
        case .checkNow(let stream): return ("/api/check?name=" + PercentCoding.encoded(stream), [:])
        case .silence(let stream, let reason):
            return ("/api/silences", object(matchers(stream).merging(["reason": .string(reason)]) { $1 }))
        case .maintain(let stream, let name):
            return ("/api/maintenance", object(matchers(stream).merging(["name": .string(name)]) { $1 }))
        case .end(let hiding):
            let list = hiding.kind == .silence ? "silences" : "maintenance"
            return ("/api/\(list)/\(PercentCoding.encoded(hiding.id))", nil)
        }
    }
}

extension Monitor {
    /// Performs an action of the table; returns what went wrong, or nil.
    func perform(_ action: StreamTable.Action, by person: String) async -> String? {
        let result: Result<String, IncidentActionError>
        switch action {
        case .tryNow(let stream): return await tryNow(stream, by: person).refusal
        case .checkNow(let stream): return await checkNow(stream, by: person).refusal
        case .acknowledge(let incident, let note):
            result = await act(.acknowledge(id: incident, until: .seconds(3_600), note: note), by: person)
        case .release(let incident): result = await act(.release(id: incident), by: person)
        case .close(let incident): result = await act(.close(id: incident), by: person)
        case .silence(let stream, let reason):
            guard let matcher = LabelMatcher(label: "stream", value: stream) else { return TryOutcome.unknown.refusal }
            result = await act(.silence([matcher], for: .seconds(3_600), reason: reason), by: person)
        case .maintain(let stream, let name):
            guard let matcher = LabelMatcher(label: "stream", value: stream) else { return TryOutcome.unknown.refusal }
            result = await act(.maintain([matcher], after: .zero, for: .seconds(3_600), name: name), by: person)
        case .end(let hiding):
            let end = hiding.kind == .silence ? IncidentAction.unsilence(id: hiding.id) : .endMaintenance(id: hiding.id)
            result = await act(end, by: person)
        }
        switch result {
        case .success: return nil
        case .failure(let error): return error.description
        }
    }
}
