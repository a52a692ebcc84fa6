internal import Instrument
internal import InstrumentHTTP
internal import InstrumentMonitor
internal import InstrumentText
internal import InstrumentWatch

/// What every message tells people, in plain text without markup, control characters and line breaks. A format adds the
/// markup and the limits of its service.
struct MessageContent: Hashable, Sendable {
    struct Fact: Hashable, Sendable {
        var name: String
        var value: String
    }

    struct Link: Hashable, Sendable {
        var text: String
        /// Without white space, quotes, brackets and bars, whatever the markup.
        var url: String
    }

    /// The number of streams that a message names one by one.
    static let mostStreams = 20

    /// The number of changes before the incident that a message names.
    static let mostChanges = 3

    /// What happened, and the cause: `CRITICAL: 503 Service Unavailable from cdn.example`.
    var headline: String
    var facts: [Fact]
    /// A line for each stream: its name, its address, and the labels that not all streams share.
    var streams: [String]
    /// The number of further streams.
    var omitted: Int
    /// The addresses of the incident on the monitor's page, and of the instructions.
    var (incident, runbook): (String?, String?)

    init(_ message: AlertMessage) {
        let title = MessageText.plain(message.title, atMost: 500)
        headline = Self.opening(of: message) + ": " + (title.isEmpty ? MessageText.plain(message.alert) : title)
        let shared = message.sharedLabels
        let items = message.items.prefix(Self.mostStreams)
        streams = items.map { Self.line($0, without: shared) }
        omitted = max(0, message.streamCount - items.count)
        facts = Self.facts(of: message, shared)
        incident = message.link.flatMap { Self.safe($0) }
        runbook = message.runbook.flatMap { Self.safe($0) }
    }

    /// What a person may open.
    var links: [Link] {
        [("Incident", incident), ("Runbook", runbook)].compactMap { text, url in
            url.map { Link(text: text, url: $0) }
        }
    }

    /// The streams with a line about those that are not named.
    var streamLines: [String] { streams + (omitted > 0 ? ["and \(omitted) more"] : []) }

    /// The lines of streams as `escape` makes them, as many as fit `limit` units of UTF-16 with their line breaks. The
    /// last one counts the streams that are left out.
    func streamLines(within limit: Int, _ escape: (String) -> String) -> [String] {
        // Room for the last line.
        var (lines, room) = ([String](), limit - 32)
        for stream in streams {
            let line = escape(stream)
            room -= line.utf16.count + 1
            guard room >= 0 else { break }
            lines.append(line)
        }
        let left = omitted + streams.count - lines.count
        return lines + (left > 0 ? ["and \(left) more"] : [])
    }

    var factLines: [String] { facts.map { "\($0.name): \($0.value)" } }

    /// The message as lines of plain text.
    var text: String {
        var lines = [headline, ""]
        lines += factLines
        lines.append("")
        lines += streamLines
        lines.append("")
        for link in links { lines.append("\(link.text): \(link.url)") }
        return lines.joined(separator: "\n")
    }

    private static func opening(of message: AlertMessage) -> String {
        switch message.kind {
        case .opens: message.severity.rawValue.uppercased()
        case .acknowledges: "ACKNOWLEDGED"
        case .changes: "CHANGED (\(message.severity.rawValue))"
        case .reminds: "STILL OPEN (\(message.severity.rawValue))"
        case .closes: "RESOLVED"
        }
    }

    private static let cause = "Cause"

    private static func facts(of message: AlertMessage, _ shared: [String: String]) -> [Fact] {
        let condition = message.condition.isEmpty ? "" : " (\(message.condition))"
        let changed = message.isFiring ? message.changes.prefix(mostChanges) : []
        let latest = message.items.first?.events.last?.text ?? ""
        // What takes the place of a stream, such as a receiver, has no address.
        let hasStreams = message.items.isEmpty || message.items.contains { !$0.address.isEmpty }
        let all: [(String, String)] = [
            ("Severity", message.severity.rawValue),
            ("Alert", message.alert + condition),
            ("Host", message.host),
            // The sentence names the error, too.
            message.text.isEmpty ? ("Error", message.reason) : (cause, message.text),
            ("Since", MessageText.words(message.since)),
            (message.isFiring ? "Lasts for" : "Lasted for", MessageText.words(message.duration)),
            ("Streams", hasStreams ? String(message.streamCount) : ""),
            ("Changed before", changed.map { "\($0.text) (\(MessageText.words($0.time)))" }.joined(separator: "; ")),
            ("Labels", text(of: shared)),
            ("By", message.by ?? ""),
            ("Note", message.note ?? ""),
            ("Latest event", latest),
        ]
        return all.compactMap { name, value in
            let value = MessageText.plain(value, atMost: name == cause ? 600 : 300)
            return value.isEmpty ? nil : Fact(name: name, value: value)
        }
    }

    private static func line(_ item: AlertMessage.Item, without shared: [String: String]) -> String {
        let labels = text(of: item.labels.filter { shared[$0.key] == nil })
        return [
            MessageText.plain(item.stream, atMost: 120), MessageText.plain(item.address, atMost: 240),
            labels.isEmpty ? "" : "(\(MessageText.plain(labels, atMost: 200)))",
        ].filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private static func text(of labels: [String: String]) -> String {
        labels.sorted { $0.key < $1.key }.prefix(20).map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
    }

    /// The address with everything encoded that a markup may take for its own; nil if it is no http or https address.
    private static func safe(_ address: String) -> String? {
        guard let url = try? HTTPURL(address), url.secretText.utf8.count <= 2_000 else { return nil }
        return PercentCoding.encoded(url.secretText, keeping: ":/?#[]@!$&()*+,;=%")
    }
}
