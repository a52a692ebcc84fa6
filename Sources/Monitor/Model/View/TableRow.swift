package import InstrumentJSON
internal import InstrumentTerminal

/// A stream as the terminal shows it, read from the monitor's state document.
package struct TableRow: Hashable, Sendable {
    package var name = ""
    package var state = ""
    package var isUp: Bool?
    package var labels: [String: String] = [:]
    package var startup: Int?
    package var rebuffers = 0
    package var rebuffering = 0
    package var playing = 0
    package var bitrate: Int?
    package var latency: Int?
    package var buffer: Int?
    package var age: Int?
    package var errors = 0
    package var broken: [String] = []
    package var errorCode: String?
    package var errorMessage: String?

    /// Reads a stream of the document; nil for a value of another form.
    package init?(_ json: JSONValue) {
        guard let name = json["name"]?.string, let state = json["state"]?.string else { return nil }
        (self.name, self.state) = (name, state)
        if case .bool(let value)? = json["up"] { isUp = value }
        if case .object(let members)? = json["labels"] { labels = members.compactMapValues(\.string) }
        (startup, bitrate, latency) = (json["startup"]?.int, json["bitrate"]?.int, json["latency"]?.int)
        (buffer, age, errors) = (json["buffer"]?.int, json["age"]?.int, json["errors"]?.int ?? 0)
        (rebuffers, rebuffering) = (json["rebuffers"]?.int ?? 0, json["rebuffering"]?.int ?? 0)
        playing = json["playing"]?.int ?? 0
        if case .array(let rules)? = json["broken"] { broken = rules.compactMap(\.string) }
        (errorCode, errorMessage) = (json["error"]?["code"]?.string, json["error"]?["message"]?.string)
    }

    var rebufferRatio: Double {
        let whole = Double(playing) + Double(rebuffering)
        return whole > 0 ? Double(rebuffering) / whole : 0
    }

    /// How urgent the stream is; larger is worse.
    var trouble: Int {
        (isUp == false ? 8 : 0) + (state == "stalled" ? 4 : 0) + (broken.isEmpty ? 0 : 2)
            + (rebufferRatio > 0.01 ? 1 : 0)
    }

    func contains(_ text: String) -> Bool {
        let text = text.lowercased()
        return ([name, state] + labels.values + broken).contains { $0.lowercased().contains(text) }
    }
}

/// Figures as a table shows them.
enum Figure {
    static func duration(_ milliseconds: Int?) -> TerminalText {
        guard let milliseconds else { return "-" }
        if milliseconds < 10_000 { return "\(milliseconds) ms" }
        let seconds = milliseconds / 1_000
        if seconds < 600 { return "\(seconds) s" }
        return seconds < 36_000 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
    }

    static func rate(_ bits: Int?) -> TerminalText {
        guard let bits else { return "-" }
        return bits >= 1_000_000 ? "\(bits / 1_000_000).\(bits % 1_000_000 / 100_000)M" : "\(bits / 1_000)k"
    }

    static func percent(_ share: Double) -> TerminalText {
        let hundredths = Int((min(max(share, 0), 1) * 10_000).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) %"
    }
}
