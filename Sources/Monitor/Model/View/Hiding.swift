internal import InstrumentJSON
package import InstrumentTerminal

/// A silence, or planned work, as the terminal shows it: what hides streams from messages.
package struct Hiding: Hashable, Sendable {
    package let id: String
    package let kind: Silence.Kind
    /// `silence cdn="alpha" until 10:00 UTC by Ana: move`.
    package let text: TerminalText
    private let matchers: [LabelMatcher]
    private let begins: Int64?

    /// Reads an entry of the document; nil for a value of another form.
    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, case .array(let list)? = json["matchers"] else { return nil }
        let matchers = list.compactMap { LabelMatcher($0) }
        guard matchers.count == list.count else { return nil }
        (self.id, self.matchers, begins) = (id, matchers, TableRow.time(json["begins"]))
        kind = json["kind"]?.string.flatMap { Silence.Kind(rawValue: $0) } ?? .silence
        let what = matchers.isEmpty ? "all streams" : matchers.map(\.description).joined(separator: " ")
        let until = json["ends"]?.string.map { " until " + $0.prefix(16).replacing("T", with: " ") + " UTC" } ?? ""
        let by = json["by"]?.string.map { " by " + $0 } ?? ""
        let reason = (json["reason"] ?? json["name"])?.string ?? ""
        let name = kind == .silence ? "silence" : "planned work"
        text = "\(name) \(what + until + by + (reason.isEmpty ? "" : ": " + reason))"
    }

    /// Whether it hides streams already; unknown times count as now.
    func hasBegun(at now: Int64?) -> Bool {
        guard let begins, let now else { return true }
        return begins <= now
    }

    /// Whether it hides a stream.
    func hides(_ row: TableRow, alerts: Set<String>) -> Bool {
        matchers.match(stream: row.name, origin: row.origin, host: row.host, labels: row.labels, alerts: alerts)
    }
}
