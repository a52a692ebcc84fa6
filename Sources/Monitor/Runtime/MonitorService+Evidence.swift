internal import Instrument
internal import InstrumentMonitor
internal import InstrumentText

/// Evidence over HTTP.
///
/// Playlists and segments are foreign: a browser gets them as text and as a file to save, never as a page, with a
/// policy that runs and loads nothing. The monitor has encoded pictures and requests.
extension MonitorService {
    private static let evidencePrefix = "/api/evidence/"

    /// Answers a request for a piece of evidence; nil for another path.
    func evidence(_ request: ServerRequest) async -> ServerReply? {
        guard request.path.hasPrefix(Self.evidencePrefix) else { return nil }
        let id = String(request.path.dropFirst(Self.evidencePrefix.count))
        guard EvidenceEntry.isIdentifier(id), let (entry, bytes) = await monitor.evidence(id) else {
            return .text(404, "no evidence has this identifier; that of old faults gives way to that of new ones")
        }
        let (type, disposition) =
            switch entry.kind {
            case .picture: ("image/jpeg", "inline")
            case .playlist: ("text/plain; charset=utf-8", "inline")
            case .segment: ("application/octet-stream", "attachment")
            case .request: ("application/json", "attachment")
            }
        return ServerReply(
            200,
            type,
            bytes,
            headers: [
                ("Content-Disposition", "\(disposition); filename=\"\(entry.fileName)\""),
                ("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'"),
                ("X-Frame-Options", "DENY"),
            ]
        )
    }
}

extension EvidenceEntry {
    /// The name of a file for the piece: letters, digits and `-` alone, whatever the stream is called.
    var fileName: String {
        let time = time.rfc3339.prefix(19).filter { $0.isNumber || $0 == "T" }
        let parts = [stream, rule, String(time)].map { part in
            String(
                part.prefix(60).unicodeScalars.map {
                    $0.isASCII && $0.properties.isAlphabetic || $0.properties.numericType != nil && $0.isASCII
                        ? Character($0) : "-"
                }
            )
        }
        return parts.joined(separator: "-") + "." + ending
    }
}
