internal import Instrument
internal import InstrumentHTTP
package import InstrumentJSON
internal import InstrumentText

/// The evidence of a stream at the beginning of a cause: the request that failed, and those before it; at most 40.
package struct CauseEvidence: Hashable, Sendable {
    /// The latest requests, the oldest first; their addresses have no query.
    package var requests: [LoggedRequest]
    /// The request that failed.
    package var failed: LoggedRequest

    /// Keeps what belongs to a cause; nil for a cause that no request explains.
    init?(_ cause: StreamCause, _ log: Recent<LoggedRequest>) {
        let requests = Array(log.latest)
        let failed = requests.last { entry in
            entry.request.isFailure && entry.request.kind == cause.resource?.rawValue
                && entry.request.address == cause.address
        }
        guard cause.resource != nil, let failed else { return nil }
        (self.requests, self.failed) = (requests, failed)
    }

    /// The request as a command for a shell: without credentials, headers and query, which the monitor does not keep.
    package var command: String? {
        failed.request.address.map { address in
            "curl -sv -o /dev/null '" + address.replacing("'", with: "%27") + "'"
        }
    }

    /// The piece of evidence: the requests as an HTTP Archive, with the command as its text. A command that would be
    /// cut is left out.
    var piece: EvidencePiece {
        let text = command.flatMap { $0.utf8.count <= EvidenceEntry.longestText ? $0 : nil } ?? ""
        return EvidencePiece(.request, ending: "har", text: text, bytes: LoggedRequest.archive(requests).bytes)
    }
}

extension LoggedRequest {
    /// An HTTP Archive (HAR 1.2) of requests. Addresses have no query, and no headers and bodies are kept.
    package static func archive(_ requests: [LoggedRequest]) -> JSONValue {
        let creator: JSONValue = ["name": "player-monitor", "version": .string(InstrumentVersion.current)]
        return [
            "log": ["version": "1.2", "creator": creator, "entries": .array(requests.map(\.archiveEntry))]
        ]
    }

    private var archiveEntry: JSONValue {
        let begin = request.begin?.wallTime ?? time
        let (total, wait) = (request.total.milliseconds, request.wait?.milliseconds ?? request.total.milliseconds)
        let none: JSONValue = .array([])
        let sent: JSONValue = [
            "method": "GET", "url": .string(request.address ?? ""), "httpVersion": "", "cookies": none,
            "headers": none, "queryString": none, "headersSize": -1, "bodySize": 0,
        ]
        let answer: JSONValue = [
            "status": .int(request.status ?? 0),
            "statusText": .string(request.status.map { HTTPStatusText.line(for: $0) } ?? ""), "httpVersion": "",
            "cookies": none, "headers": none, "redirectURL": "", "headersSize": -1,
            "bodySize": .int(request.byteCount), "content": ["size": .int(request.byteCount), "mimeType": ""],
        ]
        var entry: [String: JSONValue] = [
            "startedDateTime": .string(begin.rfc3339), "time": .int(total), "request": sent, "response": answer,
            "cache": .object([:]),
            "timings": ["send": 0, "wait": .int(min(wait, total)), "receive": .int(max(0, total - wait))],
            "comment": .string(request.kind),
        ]
        entry["_error"] = request.failure.map { .string($0.rawValue) }
        return .object(entry)
    }
}
