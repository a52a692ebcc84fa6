package import Instrument
package import InstrumentJSON
internal import InstrumentText

/// Why viewers of a stream have trouble: the first fault, of which stalls and errors are the consequences.
///
/// A cause is stated only if the monitor has observed it. Trouble whose reason is unknown has the kind
/// ``Kind/stalled``, or no cause.
package struct StreamCause: Hashable, Sendable {
    /// The kind of a cause.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A server answers with an error status.
        case http
        /// No connection, a connection that breaks, a name that is unknown, a request that takes too long.
        case network
        /// The picture stands, and the monitor knows no request that failed.
        case stalled
        /// The live playlist does not change.
        case stale
        /// A check found a fault of the pictures, of the sound, or of a rule.
        case check
        /// The media or the playlist cannot be read or decoded.
        case media
        /// A planned pause.
        case schedule
    }

    /// What was requested.
    package enum Resource: String, Hashable, Sendable, CaseIterable {
        case manifest, playlist, segment, initialization, key, licence
    }

    package var kind: Kind
    /// The cause in a few words, without numbers that differ from stream to stream: causes of several streams with
    /// the same title and host are one fault.
    package var title: String
    /// The HTTP status.
    package var status: Int?
    /// The host that was asked; nil if no request is known to have failed.
    package var host: String?
    /// What was requested.
    package var resource: Resource?
    /// The name of the check or rule; nil for other causes.
    package var rule: String?
    /// The address that failed, without user, password, query and fragment.
    package var address: String?
    /// One sentence with what followed.
    package var text: String
    /// When the first fault was observed.
    package var since: WallTime

    package init(_ kind: Kind, _ title: String, text: String = "", since: WallTime) {
        (self.kind, self.title, self.text, self.since) = (kind, title, text, since)
    }
}

extension StreamCause {
    /// The cause for the page.
    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "kind": .string(kind.rawValue), "title": .string(title), "text": .string(text),
            "since": .string(since.rfc3339),
        ]
        members["status"] = status.map { .int($0) }
        members["host"] = host.map { .string($0) }
        members["resource"] = resource.map { .string($0.rawValue) }
        members["rule"] = rule.map { .string($0) }
        members["address"] = address.map { .string($0) }
        return .object(members)
    }

    /// Reads ``json``; nil for a value of another form.
    init?(_ json: JSONValue) {
        guard let kind = json["kind"]?.string.flatMap(Kind.init(rawValue:)), let title = json["title"]?.string,
            let since = json["since"]?.string.flatMap({ WallTime(rfc3339: $0) })
        else { return nil }
        self.init(kind, title, text: json["text"]?.string ?? "", since: since)
        (status, host, rule) = (json["status"]?.int, json["host"]?.string, json["rule"]?.string)
        resource = json["resource"]?.string.flatMap(Resource.init(rawValue:))
        address = json["address"]?.string
    }
}
