internal import Instrument
internal import InstrumentJSON

/// The requests of a page for manifests and segments, as the `Network` domain reports them.
struct PageRequests: Sendable {
    enum Kind: String, Hashable, Sendable { case manifest, segment }

    /// A request that has not ended.
    private struct Open {
        var kind: Kind?
        var address: String
        /// Seconds on the browser's clock.
        var begin: Double
        var firstByte: Double?
        var status: Int?
    }

    /// More requests at once are not followed.
    private static let maxCount = 512

    private var open: [String: Open] = [:]

    /// Takes an event. Returns the request that has ended with it, if it was one for media.
    mutating func take(_ event: DevToolsEvent) -> FinishedRequest? {
        guard let identifier = event.parameters["requestId"]?.text(100) else { return nil }
        switch event.method {
        case "Network.requestWillBeSent": begin(identifier, event.parameters)
        case "Network.responseReceived": respond(identifier, event.parameters)
        case "Network.loadingFinished":
            guard let request = open.removeValue(forKey: identifier) else { return nil }
            let bytes = event.parameters["encodedDataLength"]?.finite ?? 0
            return finish(request, event.parameters, bytes: bytes, failure: nil)
        case "Network.loadingFailed":
            guard let request = open.removeValue(forKey: identifier) else { return nil }
            // A player that changes its mind has no failure.
            if event.parameters["canceled"]?.truth == true { return nil }
            let failure = event.parameters["errorText"]?.text(100) ?? "net::ERR_FAILED"
            return finish(request, event.parameters, bytes: 0, failure: failure)
        default: break
        }
        return nil
    }

    private mutating func begin(_ identifier: String, _ parameters: JSONValue) {
        guard open.count < Self.maxCount, let begin = parameters["timestamp"]?.seconds,
            let address = parameters["request"]?["url"]?.text()
        else { return }
        open[identifier] = Open(kind: Self.kind(ofAddress: address), address: address, begin: begin)
    }

    private mutating func respond(_ identifier: String, _ parameters: JSONValue) {
        guard var request = open[identifier] else { return }
        request.firstByte = parameters["timestamp"]?.seconds
        let response = parameters["response"]
        request.kind = Self.kind(ofType: response?["mimeType"]?.text(100) ?? "") ?? request.kind
        request.status = response?["status"]?.int
        open[identifier] = request
    }

    private func finish(
        _ request: Open,
        _ parameters: JSONValue,
        bytes: Double,
        failure: String?
    ) -> FinishedRequest? {
        guard let kind = request.kind, let end = parameters["timestamp"]?.seconds, end >= request.begin else {
            return nil
        }
        return FinishedRequest(
            kind: kind,
            address: request.address,
            time: .seconds(end - request.begin),
            timeToFirstByte: request.firstByte.map { .seconds(max(0, $0 - request.begin)) },
            bytes: Int(min(max(0, bytes), 1e15)),
            status: request.status,
            failure: failure
        )
    }

    /// The media types of manifests (RFC 8216, section 10; ISO/IEC 23009-1, annex C) and of segments.
    private static func kind(ofType type: String) -> Kind? {
        switch type.lowercased() {
        case "application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl",
            "application/dash+xml":
            .manifest
        case let type where type.hasPrefix("video/") || type.hasPrefix("audio/"): .segment
        default: nil
        }
    }

    private static func kind(ofAddress address: String) -> Kind? {
        let path = address.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let dot = path.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        switch String(decoding: path[path.index(after: dot)...].prefix(8), as: UTF8.self).lowercased() {
        case "m3u8", "mpd": return .manifest
        case "ts", "m4s", "mp4", "m4v", "m4a", "cmfv", "cmfa", "aac", "webm": return .segment
        default: return nil
        }
    }
}

/// A request for media that has ended.
struct FinishedRequest: Hashable, Sendable {
    var kind: PageRequests.Kind
    var address: String
    var time: Duration
    var timeToFirstByte: Duration?
    var bytes: Int
    var status: Int?
    /// The name that Chromium has for the failure; nil for an answer.
    var failure: String?

    var isFailed: Bool { failure != nil || (status ?? 0) >= 400 }

    /// Why the request failed: the status of HTTP, or the name of Chromium's failure; nil if it did not.
    var cause: String? { isFailed ? failure ?? status.map { "HTTP \($0)" } : nil }

    var attributes: Attributes {
        var attributes = Attributes()
        attributes[.requestKind] = kind.rawValue
        attributes[.requestTime] = time
        attributes[.timeToFirstByte] = timeToFirstByte
        attributes[.requestBytes] = bytes
        if isFailed { attributes[.requestFailed] = true }
        return attributes
    }
}

/// The number of the requests of a playback.
struct RequestCounts: Hashable, Sendable {
    private(set) var count = 0
    private(set) var failedCount = 0

    mutating func take(_ request: FinishedRequest) {
        count += 1
        if request.isFailed { failedCount += 1 }
    }
}
