package import Instrument
package import InstrumentJSON
internal import InstrumentText

/// Something that became different in a stream or in the monitor: what a person looks at first when a stream breaks.
package struct StreamChange: Hashable, Sendable {
    /// What became different.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Another address answers for a host.
        case server
        /// Playlists or segments come from another host.
        case host
        /// The player plays another encoding.
        case rendition
        /// The playlist or manifest declares something else.
        case playlist
        /// The programme has another title.
        case title
        /// The monitor uses a new configuration.
        case configuration
        /// The monitor began.
        case monitor
    }

    /// The longest text, in characters.
    static let longestText = 300
    /// How long before a fault a change may explain it.
    package static let reach = Duration.seconds(900)
    /// How long behind the begin of a fault a change may be noticed that was there before.
    private static let delay = Duration.seconds(5)

    package var time: WallTime
    package var kind: Kind
    /// In words, such as `segments come from cdn-b.example, before from cdn-a.example`; may hold foreign text.
    package var text: String

    init(_ kind: Kind, _ text: String, at time: WallTime) {
        (self.time, self.kind) = (time, kind)
        self.text = String(text.prefix(Self.longestText))
    }

    /// Whether the change may explain a fault that began at a time.
    func mayExplain(faultSince begin: WallTime) -> Bool {
        let age = begin.milliseconds.saturatingSubtract(time.milliseconds)
        return age <= Int64(Self.reach.milliseconds) && age >= -Int64(Self.delay.milliseconds)
    }

    /// Reads ``json``; nil for a value of another form.
    package init?(_ json: JSONValue) {
        guard let time = json["time"]?.string.flatMap({ WallTime(rfc3339: $0) }),
            let kind = json["kind"]?.string.flatMap({ Kind(rawValue: $0) }), let text = json["text"]?.string
        else { return nil }
        self.init(kind, text, at: time)
    }

    /// The change in documents, messages and the state file.
    package var json: JSONValue {
        ["time": .string(time.rfc3339), "kind": .string(kind.rawValue), "text": .string(text)]
    }
}

/// A change before an incident, and how many of its streams had it.
package struct IncidentChange: Hashable, Sendable {
    package var change: StreamChange
    package var streams: Int

    var json: JSONValue {
        guard case .object(var members) = change.json else { return change.json }
        // The monitor's own changes are those of all streams.
        if ![.monitor, .configuration].contains(change.kind) { members["streams"] = .int(streams) }
        return .object(members)
    }

    init(_ change: StreamChange, streams: Int = 1) { (self.change, self.streams) = (change, streams) }

    init?(_ json: JSONValue) {
        guard let change = StreamChange(json) else { return nil }
        self.init(change, streams: max(1, json["streams"]?.int ?? 1))
    }
}

extension Incident {
    /// Changes that an incident keeps.
    static let mostChanges = 12

    /// Adds changes that its streams had before it; those with equal words are one.
    mutating func add(_ new: [IncidentChange]) {
        for entry in new {
            let new = entry.change
            let known = changes.firstIndex { $0.change.kind == new.kind && $0.change.text == new.text }
            if let known {
                changes[known].streams += entry.streams
                changes[known].change.time = min(changes[known].change.time, entry.change.time)
            } else if changes.count < Self.mostChanges {
                changes.append(entry)
            }
        }
        // What changed last is the first to look at.
        changes.sort { ($0.change.time, $1.change.text) > ($1.change.time, $0.change.text) }
    }
}
