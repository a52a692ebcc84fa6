internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules

/// Fetches playlists, segments and keys within limits of time, size and redirects.
struct ResourceClient: Sendable {
    private static let maxRedirects = 10

    let transport: any HTTPTransport
    let clock: any SchedulingClock
    let configuration: StreamCheckConfiguration

    /// The reason for which a resource was not fetched; holds no secrets.
    enum Failure: Error {
        case status(Int)
        case connection(String)

        var reason: String {
            switch self {
            case .status(let status): "status \(status)"
            case .connection(let reason): reason
            }
        }
    }

    func manifest(_ url: HTTPURL) async -> Result<FetchedText, Failure> {
        let result = await fetch(url, nil, configuration.maxManifestBytes)
        let fetched = clock.timestamp
        return result.map { response in
            var text = FetchedText(
                url: response.url,
                bytes: response.body,
                fetched: fetched,
                contentType: response.headers["Content-Type"],
                serverTime: response.headers["Date"].flatMap { HTTPDate.parse($0, now: fetched.wallTime) }
            )
            text.requestedURL = url
            return text
        }
    }

    func bytes(_ url: HTTPURL, _ range: ByteRange? = nil) async -> Result<[UInt8], Failure> {
        await fetch(url, range, configuration.maxSegmentBytes).map { response in
            // A server may ignore the range and send the whole.
            guard let range, response.status == 200 else { return response.body }
            let rest = response.body.dropFirst(Int(clamping: range.offset))
            return Array(range.length.map { rest.prefix(Int(clamping: $0)) } ?? rest)
        }
    }

    /// Asks for one byte, to learn whether a segment is there.
    func availability(_ url: HTTPURL, _ range: ByteRange?) async -> Result<Void, Failure> {
        let first = ByteRange(offset: range?.offset ?? 0, length: 1)
        return await fetch(url, first, configuration.maxSegmentBytes).map { _ in }
    }

    func fetch(
        _ url: HTTPURL,
        _ range: ByteRange?,
        _ maxBytes: Int,
        method: HTTPMethod = .get
    ) async -> Result<HTTPResponse, Failure> {
        do throws(HTTPError) {
            var headers = try HTTPHeaders(["Accept": "*/*"])
            if let range { try headers.set("Range", range.headerValue) }
            let request = HTTPRequest(
                method,
                url,
                headers: headers,
                timeout: configuration.timeout,
                connectTimeout: min(configuration.timeout, .seconds(10)),
                maxResponseBytes: maxBytes,
                redirects: .follow(atMost: Self.maxRedirects)
            )
            let response = try await transport.send(request)
            return response.isSuccess ? .success(response) : .failure(.status(response.status))
        } catch {
            return .failure(.connection("\(error.code): \(error.message)"))
        }
    }
}
