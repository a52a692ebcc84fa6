internal import Instrument
internal import InstrumentCMCD
internal import InstrumentManifests
internal import InstrumentTransport

/// Fetches through the transport that the whole process shares.
struct TransportFetcher: ResourceFetcher {
    private static let maxRedirects = 10

    private let transport: any HTTPTransport
    /// The same transport, if it needs no task for a request.
    private let starting: (any StartingTransport)?
    private let clock: any SchedulingClock
    private let commonHeaders: HTTPHeaders
    /// What the user and earlier responses add.
    private let client: ClientHeaders
    /// The address of the first request, which is the user's.
    private let home = Lock<HTTPURL?>(nil)

    init(
        transport: any HTTPTransport,
        clock: any SchedulingClock,
        userAgent: String = InstrumentVersion.userAgent(),
        client: ClientHeaders = ClientHeaders()
    ) {
        (self.transport, self.clock, self.client) = (transport, clock, client)
        var headers = HTTPHeaders()
        // A text that is no value of a header leaves the transport's.
        try? headers.set("User-Agent", userAgent)
        headers.append("Accept", "*/*")
        commonHeaders = headers
        starting = transport as? any StartingTransport
    }

    func fetch(
        _ request: ResourceRequest,
        into buffer: FetchBuffer,
        progress: @escaping @Sendable () -> Void,
        ended: @escaping @Sendable (Result<ResourceResponse, ResourceFailure>) -> Void
    ) -> FetchCancellation {
        let (transport, clock) = (transport, clock)
        let receive: @Sendable (UnsafeRawBufferPointer) -> Void = { bytes in
            buffer.append(bytes, at: clock.now)
            progress()
        }
        if let starting, let message = try? self.message(request) {
            let cancel = starting.start(message, expecting: { buffer.expect($0) }, receiving: receive) { outcome in
                // The transport's thread has other requests to serve.
                Task { ended(Self.result(of: outcome, to: request, buffer, clock)) }
            }
            return FetchCancellation(cancel)
        }
        let task = Task {
            var outcome: Result<HTTPResponse, HTTPError>
            do throws(HTTPError) {
                let message = try self.message(request)
                outcome = .success(
                    try await transport.send(message, expecting: { buffer.expect($0) }, receiving: receive)
                )
            } catch {
                outcome = .failure(error)
            }
            if !Task.isCancelled { ended(Self.result(of: outcome, to: request, buffer, clock)) }
        }
        return FetchCancellation { task.cancel() }
    }

    func offload(_ work: @escaping @Sendable () -> Void) { Task { work() } }

    private func message(_ request: ResourceRequest) throws(HTTPError) -> HTTPRequest {
        var headers = commonHeaders
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
            redirects: .follow(atMost: Self.maxRedirects)
        )
        message.headersOfOrigin += CMCDHeader.allCases.map(\.rawValue)
        message.needsFreshConnection = request.isFirst
        message.decoding = request.decoding
        let home = home.withLock { home in
            let first = home ?? request.url
            home = first
            return first
        }
        client.apply(to: &message, home: home)
        message.maxBytesPerSecond = request.maxBitrate.map { max(1, $0 / 8) }
        return message
    }

    private static func result(
        of outcome: Result<HTTPResponse, HTTPError>,
        to request: ResourceRequest,
        _ buffer: FetchBuffer,
        _ clock: any SchedulingClock
    ) -> Result<ResourceResponse, ResourceFailure> {
        let response: HTTPResponse
        switch outcome {
        case .success(let success): response = success
        case .failure(let error): return .failure(ResourceFailure(error))
        }
        guard response.isSuccess else { return .failure(ResourceFailure(response)) }
        // The engine may still read the buffer until it has handled the end.
        let (body, arrivals) = buffer.snapshot()
        let date = request.kind == .clock ? response.headers["Date"] : nil
        return .success(
            ResourceResponse(
                url: response.url,
                status: response.status,
                contentType: response.headers["Content-Type"],
                body: body,
                arrivals: arrivals,
                timings: response.timings,
                redirectCount: response.redirectCount,
                version: response.version,
                encodedByteCount: response.encodedByteCount,
                serverAddress: response.remoteAddress,
                date: date.flatMap { HTTPDate.parse($0, now: clock.wallTime) },
                freshness: request.kind == .initialization ? response.headers.freshness(at: clock.wallTime) : .zero
            )
        )
    }
}

extension ResourceFailure {
    /// Creates the failure of an answer with an error status.
    init(_ response: HTTPResponse) {
        let advice = StatusAdvice.remedy(for: response.status)
        self.init(
            failure: .status(response.status),
            timings: response.timings,
            message: "the server answered with status \(response.status), expected 2xx; \(advice)"
        )
    }

    init(_ error: HTTPError) {
        let finals: Set<HTTPError.Code> = [
            .tls, .redirectRefused, .addressRefused, .invalidURL, .invalidHeader, .responseTooLarge, .configuration,
            .contentCoding, .unknownCoding, .wrongRange,
        ]
        let wrongContents: Set<HTTPError.Code> = [.contentCoding, .unknownCoding, .wrongRange]
        self.init(
            failure: error.code == .timedOut ? .timeout : .connection,
            error: error,
            isWrongContent: wrongContents.contains(error.code),
            message: error.message,
            isFinal: finals.contains(error.code)
        )
    }
}
