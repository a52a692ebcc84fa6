package import Instrument
package import InstrumentJSON

/// The evidence of faults: what checks found, and the requests that failed, within separate bounds.
package struct KeptEvidence: Sendable {
    /// A fault may be found a moment before its alert's condition holds, and after the incident closed.
    private static let margin: Int64 = 60_000

    private var findings = EvidenceBook()
    private var requests = EvidenceBook(limits: .ofRequests)
    /// Effects that keep requests, and that the owner has not taken yet.
    private var waiting: [MonitorEffect] = []

    /// The entry of a piece of evidence; nil for an unknown identifier.
    package subscript(_ id: String) -> EvidenceEntry? { findings[id] ?? requests[id] }

    /// Takes what an earlier process kept.
    /// - Returns: the identifiers of pieces for which there is no room.
    package mutating func restore(_ saved: [EvidenceEntry]) -> [String] {
        findings.restore(saved.filter { $0.kind != .request }) + requests.restore(saved.filter { $0.kind == .request })
    }

    /// Returns the effects that keep the requests of causes that have begun since the last call.
    package mutating func takeRequests() -> [MonitorEffect] {
        defer { waiting = [] }
        return waiting
    }

    /// Keeps the requests of a cause that begins.
    mutating func keep(_ cause: CauseEvidence, of stream: String, at now: Timestamp) {
        let piece = cause.piece
        guard let (entry, gone) = requests.add(piece, of: stream, rule: "request", at: now.wallTime) else { return }
        waiting.append(.keep(entry, piece.bytes))
        waiting += gone.map { .forget($0) }
    }

    /// Keeps the evidence of faults that begin, and of those that have none.
    /// - Parameter broken: the rules that an observation breaks, and whether each was broken before.
    mutating func keep(
        _ pieces: [String: [EvidencePiece]],
        of stream: String,
        broken: [(rule: String, wasBroken: Bool)],
        at now: Timestamp
    ) -> [MonitorEffect] {
        var effects: [MonitorEffect] = []
        for (rule, wasBroken) in broken {
            guard let list = pieces[rule],
                !wasBroken || !findings.entries(of: stream).contains(where: { $0.rule == rule })
            else { continue }
            for piece in list {
                guard let (entry, gone) = findings.add(piece, of: stream, rule: rule, at: now.wallTime) else {
                    continue
                }
                effects.append(.keep(entry, piece.bytes))
                effects += gone.map { .forget($0) }
            }
        }
        return effects
    }

    /// The requests before the latest cause of a stream; nil if none are kept.
    func latestRequests(of stream: String) -> EvidenceEntry? { requests.entries(of: stream).last }

    /// The pieces of the latest fault of a rule.
    func latest(of stream: String, rule: String) -> [EvidenceEntry] { findings.latest(of: stream, rule: rule) }

    /// The evidence of a stream of an incident: requests that failed, and the findings of checks meanwhile.
    func documents(_ wish: IncidentEvidence) -> [JSONValue] {
        let (begin, end) = (wish.begin.milliseconds - Self.margin, wish.end.milliseconds.saturatingAdd(Self.margin))
        let isMeanwhile = { (entry: EvidenceEntry) in (begin...max(begin, end)).contains(entry.time.milliseconds) }
        let known = requests.entries(of: wish.stream)
        var failed = known.filter(isMeanwhile)
        // With a long buffer, the request failed long before the picture stood.
        if failed.isEmpty, wish.isActive, let latest = known.last { failed = [latest] }
        return (failed + findings.entries(of: wish.stream).filter(isMeanwhile)).map(\.document)
    }
}

/// The requests of a stream as an HTTP Archive.
package enum RequestArchive: Hashable, Sendable {
    /// A piece of evidence.
    case kept(id: String)
    /// The latest requests.
    case latest(JSONValue)
}

/// Whose evidence belongs to an incident, and of which time.
package struct IncidentEvidence: Hashable, Sendable {
    /// Pieces of an incident in a list of incidents, and where it is alone.
    static let (fewPieces, manyPieces) = (6, 60)

    package var stream: String
    /// Whether the stream fails still.
    package var isActive: Bool
    package var begin: WallTime
    package var end: WallTime
}
