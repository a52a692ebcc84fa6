package import Instrument
package import InstrumentJSON

extension MonitorModel {
    /// Pieces of an incident in a list of incidents, and where it is alone.
    static let (fewPieces, manyPieces) = (6, 60)
    /// A fault may be found a moment before its alert's condition holds, and after the incident closed.
    private static let margin: Int64 = 60_000

    /// Takes what an earlier process kept.
    /// - Returns: the identifiers of pieces for which there is no room.
    package mutating func restoreEvidence(_ saved: [EvidenceEntry]) -> [String] {
        evidence.restore(saved.filter { $0.kind != .request })
            + requestEvidence.restore(saved.filter { $0.kind == .request })
    }

    /// The entry of a piece of evidence; nil for an unknown identifier.
    package func evidenceEntry(_ id: String) -> EvidenceEntry? { evidence[id] ?? requestEvidence[id] }

    /// The requests of a stream as an HTTP Archive (HAR 1.2): those before its latest cause began, which are a piece of
    /// evidence, else its latest ones; nil for an unknown name.
    package func archive(of name: String) -> RequestArchive? {
        guard let state = stream(named: name) else { return nil }
        if let entry = requestEvidence.entries(of: name).last { return .kept(id: entry.id) }
        return .latest(LoggedRequest.archive(Array(state.requests.latest)))
    }

    /// Returns the effects that keep the requests of causes that have begun since the last call.
    package mutating func takeRequestEvidence() -> [MonitorEffect] {
        defer { newRequestEvidence = [] }
        return newRequestEvidence
    }

    /// Keeps the requests of a cause that begins.
    mutating func keep(_ cause: CauseEvidence, of stream: String, at now: Timestamp) {
        let piece = cause.piece
        guard let (entry, gone) = requestEvidence.add(piece, of: stream, rule: "request", at: now.wallTime) else {
            return
        }
        newRequestEvidence.append(.keep(entry, piece.bytes))
        newRequestEvidence += gone.map { .forget($0) }
    }

    /// Keeps the evidence of faults that begin, and of those that have none.
    /// - Parameter broken: the rules that an observation breaks, and whether each was broken before.
    mutating func keepEvidence(
        _ pieces: [String: [EvidencePiece]],
        of stream: String,
        broken: [(rule: String, wasBroken: Bool)],
        at now: Timestamp
    ) -> [MonitorEffect] {
        var effects: [MonitorEffect] = []
        for (rule, wasBroken) in broken {
            guard let list = pieces[rule],
                !wasBroken || !evidence.entries(of: stream).contains(where: { $0.rule == rule })
            else { continue }
            for piece in list {
                guard let (entry, gone) = evidence.add(piece, of: stream, rule: rule, at: now.wallTime) else {
                    continue
                }
                effects.append(.keep(entry, piece.bytes))
                effects += gone.map { .forget($0) }
            }
        }
        return effects
    }

    /// The evidence of a stream of an incident: requests that failed, and the findings of checks meanwhile.
    func documents(_ wish: IncidentEvidence) -> [JSONValue] {
        let (begin, end) = (wish.begin.milliseconds - Self.margin, wish.end.milliseconds.saturatingAdd(Self.margin))
        let isMeanwhile = { (entry: EvidenceEntry) in (begin...max(begin, end)).contains(entry.time.milliseconds) }
        let known = requestEvidence.entries(of: wish.stream)
        var requests = known.filter(isMeanwhile)
        // With a long buffer, the request failed long before the picture stood.
        if requests.isEmpty, wish.isActive, let latest = known.last { requests = [latest] }
        return (requests + evidence.entries(of: wish.stream).filter(isMeanwhile)).map(\.document)
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
    package var stream: String
    /// Whether the stream fails still.
    package var isActive: Bool
    package var begin: WallTime
    package var end: WallTime
}
