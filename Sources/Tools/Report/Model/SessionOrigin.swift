internal import Instrument
internal import InstrumentQuality

/// Where a session comes from: what a report filters and groups by.
package struct SessionOrigin: Hashable, Sendable {
    /// The name of the monitored stream; nil without a monitor. Text from outside, like all parts.
    package var stream: String?
    /// The location of the monitor or of the command line.
    package var location: String?
    /// The profile of the headless player.
    package var profile: String?
    /// The host of the source, with its port if it has one.
    package var host: String?
    /// The labels by name; those at the session's end, if a reload of the configuration changed them.
    package var labels: [String: String] = [:]

    /// The longest part that is kept.
    private static let longest = 1000

    /// Creates an origin that knows nothing.
    package init() {}

    /// Notes what an event says.
    mutating func note(_ event: Event) {
        if let name = event[.monitorStream] { stream = String(name.prefix(Self.longest)) }
        if let name = event[.monitorLocation] { location = String(name.prefix(Self.longest)) }
        if let name = event[.playerProfile] { profile = String(name.prefix(Self.longest)) }
        if let source = event[.source], let found = Self.host(of: source) { host = found }
        let found = event.attributes.monitorLabels
        if found.isEmpty { return }
        labels = [:]
        for label in found.prefix(Self.mostLabels) {
            labels[String(label.name.prefix(Self.longest))] = String(label.value.prefix(Self.longest))
        }
    }

    /// The most labels that are kept of a recording, which may hold anything.
    private static let mostLabels = 100

    /// `cdn=alpha, isp=x`, sorted by name.
    package var labelText: String {
        labels.sortedByBytes(of: \.key).map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
    }

    /// The host of an address, in lower case, without the user; nil for a path.
    static func host(of source: String) -> String? {
        guard let start = source.firstRange(of: "://")?.upperBound else { return nil }
        let authority = source[start...].prefix { !"/?#".contains($0) }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        return host.isEmpty ? nil : String(host.prefix(longest)).lowercased()
    }
}

/// A property of a session by which a report filters and groups.
package enum SessionDimension: Hashable, Sendable {
    case stream, location, profile, host, title, outcome, cause
    /// A label of the stream.
    case label(String)

    /// The names of all but labels, in the order of the help.
    package static let names = ["stream", "location", "profile", "host", "title", "outcome", "cause"]

    /// Reads a name: one of ``names``, or that of a label, with `label.` in front if a name above is meant to be one.
    package init?(_ name: String) {
        switch name {
        case "stream": self = .stream
        case "location": self = .location
        case "profile": self = .profile
        case "host": self = .host
        case "title": self = .title
        case "outcome": self = .outcome
        case "cause": self = .cause
        default:
            let label = name.hasPrefix("label.") ? String(name.dropFirst("label.".count)) : name
            if label.isEmpty { return nil }
            self = .label(label)
        }
    }

    /// The name as a person writes it.
    package var name: String {
        switch self {
        case .stream: "stream"
        case .location: "location"
        case .profile: "profile"
        case .host: "host"
        case .title: "title"
        case .outcome: "outcome"
        case .cause: "cause"
        case .label(let label): Self.names.contains(label) ? "label." + label : label
        }
    }

    /// The value of a session; empty without one.
    func value(of session: ReportSession) -> String {
        switch self {
        case .stream: session.origin.stream ?? ""
        case .location: session.origin.location ?? ""
        case .profile: session.origin.profile ?? ""
        case .host: session.origin.host ?? ""
        case .title: session.title
        case .outcome: session.outcome.rawValue
        case .cause: session.failure.map { $0.code ?? $0.general.description } ?? ""
        case .label(let label): session.origin.labels[label] ?? ""
        }
    }
}

/// The sessions that a report shows: those that meet all conditions.
package struct SessionQuery: Hashable, Sendable {
    /// One condition, such as `cdn=alpha`.
    package struct Condition: Hashable, Sendable {
        package var dimension: SessionDimension
        package var value: String
        /// False for `!=`.
        package var isEqual: Bool

        /// Reads `NAME=VALUE` or `NAME!=VALUE`; nil for another text. An empty value means a session without one.
        package init?(_ text: String) {
            guard let sign = text.firstIndex(of: "=") else { return nil }
            var name = text[..<sign]
            isEqual = name.last != "!"
            if !isEqual { name.removeLast() }
            guard let dimension = SessionDimension(String(name)) else { return nil }
            self.dimension = dimension
            value = String(text[text.index(after: sign)...])
        }
    }

    /// The conditions: of those with one name and `=`, one must hold, and all others must hold.
    package var conditions: [Condition]

    /// Creates a query; without conditions it selects every session.
    package init(_ conditions: [Condition] = []) { self.conditions = conditions }

    /// Whether a session is selected.
    func selects(_ session: ReportSession) -> Bool {
        var wanted: [SessionDimension: Bool] = [:]
        for condition in conditions {
            let isMet = condition.dimension.value(of: session) == condition.value
            if condition.isEqual {
                wanted[condition.dimension] = isMet || wanted[condition.dimension] ?? false
            } else if isMet {
                return false
            }
        }
        return wanted.values.allSatisfy(\.self)
    }
}
