internal import Instrument

/// The paths of requests that change something.
enum ActionPath: Hashable, Sendable {
    /// `/api/incidents/ID/acknowledge`, `release` or `close`.
    case incident(id: String, verb: Verb)
    /// `/api/silences`.
    case silences
    /// `/api/silences/ID`.
    case silence(id: String)
    /// `/api/maintenance`.
    case maintenance
    /// `/api/maintenance/ID`.
    case plannedWork(id: String)
    /// `/api/try?name=STREAM`: the next session of the stream starts now.
    case attempt
    /// `/api/check?name=STREAM`: the stream is checked now.
    case check

    enum Verb: String, Hashable, Sendable, CaseIterable { case acknowledge, release, close }

    private static let longestIdentifier = 64

    init?(_ path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3, parts[0].isEmpty, parts[1] == "api" else { return nil }
        let id = parts.count > 3 ? parts[3] : ""
        if parts.count > 3, !Self.isIdentifier(id) { return nil }
        switch (parts[2], parts.count) {
        case ("incidents", 5):
            guard let verb = Verb(rawValue: parts[4]) else { return nil }
            self = .incident(id: id, verb: verb)
        case ("silences", 3): self = .silences
        case ("silences", 4): self = .silence(id: id)
        case ("maintenance", 3): self = .maintenance
        case ("maintenance", 4): self = .plannedWork(id: id)
        case ("try", 3): self = .attempt
        case ("check", 3): self = .check
        default: return nil
        }
    }

    private static func isIdentifier(_ text: String) -> Bool {
        (1...longestIdentifier).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == 0x2D }
    }

    /// The methods that a path has, in the order in which the header `Allow` names them.
    static func methods(of path: String) -> [String] {
        switch ActionPath(path) {
        case .incident, .attempt, .check: ["POST"]
        case .silences, .maintenance: ["GET", "HEAD", "POST"]
        case .silence, .plannedWork: ["DELETE"]
        case nil: ["GET", "HEAD"]
        }
    }
}
