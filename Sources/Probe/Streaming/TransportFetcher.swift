internal import Instrument
internal import InstrumentCMCD
internal import InstrumentManifests
internal import InstrumentTransport

/// Fetches through the transport that the whole process shares.
struct TransportFetcher: ResourceFetcher {
    private static let maxRedirects = 10

    let transport: any HTTPTransport
    let clock: any SchedulingClock

    func fetch(
        _ request: ResourceRequest,
        into buffer: FetchBuffer,
        progress: @escaping @Sendable () -> Void,
        ended: @escaping @Sendable (Result<ResourceResponse, ResourceFailure>) -> Void
    ) -> FetchCancellation {
        let (transport, clock) = (transport, clock)
        let task = Task {
            do throws(HTTPError) {
                let response = try await transport.send(
                    Self.message(request),
                    expecting: { buffer.expect($0) },
                    receiving: { bytes in
                        buffer.append(bytes, at: clock.now)
                        progress()
                    }
                )
                if !Task.isCancelled { ended(Self.result(of: response, buffer, clock)) }
            } catch {
                if !Task.isCancelled { ended(.failure(ResourceFailure(error))) }
            }
        }
        return FetchCancellation { task.cancel() }
    }

    func offload(_ work: @escaping @Sendable () -> Void) { Task { work() } }

    private static func message(_ request: ResourceRequest) throws(HTTPError) -> HTTPRequest {
        var headers: HTTPHeaders = try HTTPHeaders(["User-Agent": "Instrument-Probe", "Accept": "*/*"])
        if !request.body.isEmpty { try headers.set("Content-Type", "application/octet-stream") }
        if let range = request.range {
            try headers.set("Range", range.headerValue)
        }
        var url = request.url
        switch request.report?.mode {
        case .header:
            for (header, value) in request.report?.report.headerFields ?? [] { try headers.set(header.rawValue, value) }
        case .query:
            if let report = request.report?.report {
                url = try url.replacingParameter("CMCD", with: report.queryParameter)
            }
        case nil: break
        }
        var message = HTTPRequest(
            request.method,
            url,
            headers: headers,
            body: request.body,
            timeout: request.timeout,
            connectTimeout: min(request.timeout, .seconds(15)),
            maxResponseBytes: request.maxBytes,
            redirects: .follow(atMost: maxRedirects)
        )
        message.headersOfOrigin = CMCDHeader.allCases.map(\.rawValue)
        message.needsFreshConnection = request.isFirst
        message.maxBytesPerSecond = request.maxBitrate.map { max(1, $0 / 8) }
        return message
    }

    private static func result(
        of response: HTTPResponse,
        _ buffer: FetchBuffer,
        _ clock: any SchedulingClock
    ) -> Result<ResourceResponse, ResourceFailure> {
        guard response.isSuccess else { return .failure(ResourceFailure(response)) }
        // A copy, because the engine may still read the buffer until it has handled the end.
        let (bytes, arrivals) = buffer.snapshot()
        return .success(
            ResourceResponse(
                url: response.url,
                status: response.status,
                contentType: response.headers["Content-Type"],
                bytes: bytes,
                arrivals: arrivals,
                timings: response.timings,
                redirectCount: response.redirectCount,
                version: response.version,
                date: response.headers["Date"].flatMap { HTTPDate.parse($0, now: clock.wallTime) }
            )
        )
    }
}

extension ResourceFailure {
    /// Creates the failure of an answer with an error status.
    init(_ response: HTTPResponse) {
        let advice =
            response.status == 404
            ? "check the address" : response.status >= 500 ? "try again later" : "check the access rights"
        self.init(
            failure: .status(response.status),
            timings: response.timings,
            message: "the server answered with status \(response.status), expected 2xx; \(advice)"
        )
    }

    init(_ error: HTTPError) {
        let finals: Set<HTTPError.Code> = [
            .tls, .redirectRefused, .addressRefused, .invalidURL, .invalidHeader, .responseTooLarge, .configuration,
        ]
        self.init(
            failure: error.code == .timedOut ? .timeout : .connection,
            error: error,
            message: error.message,
            isFinal: finals.contains(error.code)
        )
    }
}
