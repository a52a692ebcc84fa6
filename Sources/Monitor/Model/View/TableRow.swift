internal import Instrument
internal import InstrumentHTTP
package import InstrumentJSON
internal import InstrumentTerminal
internal import InstrumentText

/// A stream as the terminal shows it, read from the monitor's state document.
package struct TableRow: Hashable, Sendable {
    package var name = ""
    /// `down`, `stalled`, `impaired`, `starting`, `playing`, `waiting`, `unknown`, `stopped`, or a word of a later
    /// monitor.
    package var state = ""
    package var isUp: Bool?
    /// The place whose monitor plays the stream, and the stream's name there; nil for a stream of this monitor.
    package var place: String?
    package var origin: String?
    package var labels: [String: String] = [:]
    /// The host of the address; empty if it is unknown.
    package var host = ""
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
    /// Why the stream is in trouble, in short; nil without a known cause.
    package var cause: String?
    /// The cause in a sentence.
    package var causeText: String?
    /// Since when the stream is in its state, in milliseconds since 1970.
    var stateSince: Int64?
    /// When the next session starts, in milliseconds since 1970.
    var nextTry: Int64?

    /// The words of a stream's state for those of a session.
    private static let words = [
        "rebuffering": "stalled", "pausedBuffering": "stalled", "joining": "starting", "new": "starting",
    ]

    /// Reads a stream of the document; nil for a value of another form.
    package init?(_ json: JSONValue) {
        guard let name = json["name"]?.string, let state = json["state"]?.string else { return nil }
        (self.name, self.state) = (name, Self.words[state] ?? state)
        if case .bool(let value)? = json["up"] { isUp = value }
        if let address = json["address"]?.string, let url = try? HTTPURL(address) { host = url.host }
        (place, origin) = (json["place"]?.string, json["origin"]?.string)
        if case .object(let members)? = json["labels"] { labels = members.compactMapValues(\.string) }
        (startup, bitrate, latency) = (json["startup"]?.int, json["bitrate"]?.int, json["latency"]?.int)
        (buffer, age, errors) = (json["buffer"]?.int, json["age"]?.int, json["errors"]?.int ?? 0)
        (rebuffers, rebuffering) = (json["rebuffers"]?.int ?? 0, json["rebuffering"]?.int ?? 0)
        playing = json["playing"]?.int ?? 0
        if case .array(let rules)? = json["broken"] { broken = rules.compactMap(\.string) }
        (errorCode, errorMessage) = (json["error"]?["code"]?.string, json["error"]?["message"]?.string)
        stateSince = Self.time(json["stateSince"])
        nextTry = Self.time(json["nextTry"])
        guard let title = json["cause"]?["title"]?.string else { return }
        let status = json["cause"]?["status"]?.int.map { "\($0) \(json["cause"]?["resource"]?.string ?? "")" }
        let host = json["cause"]?["host"]?.string.map { " from " + $0 } ?? ""
        cause = (status ?? title) + host
        causeText = [title, json["cause"]?["text"]?.string ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
    }

    static func time(_ json: JSONValue?) -> Int64? {
        json?.string.flatMap { WallTime(rfc3339: $0) }?.milliseconds
    }

    var rebufferRatio: Double {
        let whole = Double(playing) + Double(rebuffering)
        return whole > 0 ? Double(rebuffering) / whole : 0
    }

    /// How urgent the stream is; larger is worse.
    var trouble: Int {
        (isUp == false || state == "down" ? 8 : 0) + (state == "stalled" ? 4 : 0)
            + (broken.isEmpty && state != "impaired" ? 0 : 2) + (rebufferRatio > 0.01 || state == "unknown" ? 1 : 0)
    }

    /// The state in words, with its duration, or until when the stream waits.
    func stateText(at now: Int64?) -> TerminalText {
        if state == "waiting", let wait = remaining(at: now) { return "next in " + Figure.duration(wait) }
        guard state != "playing", let now, let stateSince, now >= stateSince else { return "\(state)" }
        return "\(state) " + Figure.duration(Int(clamping: (now - stateSince) / 1_000 * 1_000))
    }

    /// What keeps the stream from playing, in short; empty if nothing does.
    func reason(at now: Int64?) -> TerminalText {
        var parts: [TerminalText] = []
        if let cause {
            parts.append("\(cause)")
        } else {
            parts += broken.map { "\($0)" }
            if isUp == false, let errorCode { parts.append("\(errorCode)") }
        }
        if state != "waiting", let wait = remaining(at: now) { parts.append("next try in " + Figure.duration(wait)) }
        return parts.joined(separator: ", ")
    }

    /// Milliseconds until the next session, in whole seconds.
    private func remaining(at now: Int64?) -> Int? {
        guard let now, let nextTry, nextTry > now else { return nil }
        return Int(clamping: (nextTry - now + 999) / 1_000 * 1_000)
    }

    func contains(_ text: String) -> Bool {
        let text = text.lowercased()
        let texts =
            [name, state] + labels.map { "\($0.key)=\($0.value)" } + broken
            + [cause, causeText, isUp == false ? errorCode : nil].compactMap(\.self)
        return texts.contains { $0.lowercased().contains(text) }
    }
}
