package import Instrument
internal import InstrumentJSON

extension MonitorModel {
    /// Pieces of an incident in a list of incidents, and where it is alone.
    static let (fewPieces, manyPieces) = (6, 60)
    /// A fault may be found a moment before its alert's condition holds, and after the incident closed.
    private static let margin: Int64 = 60_000

    /// Takes what an earlier process kept.
    /// - Returns: the identifiers of pieces for which there is no room.
    package mutating func restoreEvidence(_ saved: [EvidenceEntry]) -> [String] { evidence.restore(saved) }

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

    /// What was kept of a stream of an incident: the request that failed, if the stream fails still, and what checks
    /// found meanwhile.
    func documents(_ wish: IncidentEvidence) -> [JSONValue] {
        var documents: [JSONValue] = []
        if wish.isActive, let request = stream(named: wish.stream)?.causeEvidence {
            documents.append(request.json(of: wish.stream))
        }
        let (begin, end) = (wish.begin.milliseconds - Self.margin, wish.end.milliseconds.saturatingAdd(Self.margin))
        let found = evidence.entries(of: wish.stream).filter {
            (begin...max(begin, end)).contains($0.time.milliseconds)
        }
        return documents + found.map(\.document)
    }
}

/// Whose evidence belongs to an incident, and of which time.
package struct IncidentEvidence: Hashable, Sendable {
    package var stream: String
    /// Whether the stream fails still.
    package var isActive: Bool
    package var begin: WallTime
    package var end: WallTime
}
