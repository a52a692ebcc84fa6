internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// The requests to a steering server (rfc8216bis section 7.1; ETSI TS 103 998).
struct ServerSteering: Sendable {
    private var steering: ContentSteering?
    /// The address of the next request.
    private var url: HTTPURL?
    /// The instant of the next request; nil for none.
    private(set) var askAt: MonotonicInstant?
    private var timeToLive: Duration = .seconds(300)
    private var hasAnswer = false

    /// Whether nothing else is fetched before the steering server's answer.
    var holdsStart: Bool { steering?.isAskedBeforeStart == true && !hasAnswer && askAt != nil }

    /// Takes the steering server of the first manifest. Returns the servers to begin with, in order.
    mutating func take(_ steering: ContentSteering?, now: MonotonicInstant) -> [ContentLocations.Location.ID] {
        guard self.steering == nil, let steering else { return [] }
        (self.steering, url) = (steering, steering.url)
        askAt = url == nil ? nil : now
        return steering.initialOrder
    }

    /// The address of the next request, with the server in use and the measured throughput.
    func address(
        _ format: Presentation.Format,
        using location: ContentLocations.Location.ID?,
        bitrate: Double?
    ) -> HTTPURL? {
        guard let url else { return nil }
        let prefix = format == .hls ? "_HLS" : "_DASH"
        let quote = format == .hls ? "" : "%22"
        var parameters: [String] = []
        if let location { parameters.append("\(prefix)_pathway=\(quote)\(PercentCoding.encoded(location))\(quote)") }
        if let bitrate, bitrate >= 1, bitrate < 1e15 { parameters.append("\(prefix)_throughput=\(Int(bitrate))") }
        return url.addingQuery(parameters) ?? url
    }

    /// Plans the next request after an answer.
    mutating func take(_ manifest: SteeringManifest, now: MonotonicInstant) {
        hasAnswer = true
        url = manifest.reloadURL ?? url
        timeToLive = .nanoseconds(manifest.timeToLive)
        // The text of a manifest may name no server.
        askAt = url == nil ? nil : now.advanced(by: timeToLive)
    }

    /// Plans the next request after a failure; a server that is gone (410) is not asked again.
    mutating func failed(_ failure: RetryPolicy.Failure, now: MonotonicInstant) {
        hasAnswer = true
        askAt = failure == .status(410) ? nil : now.advanced(by: timeToLive)
    }
}
