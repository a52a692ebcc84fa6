internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules

/// Fetches playlists, segments and keys within limits of time, size and redirects.
///
/// The transport decodes content codings, and fails a byte range that is not the requested one
/// (`HTTPError.Code.wrongRange`).
struct ResourceClient: Sendable {
    private static let maxRedirects = 10

    let transport: any HTTPTransport
    /// The address of the stream.
    let home: HTTPURL
    /// The headers of the user, and the cookies of the check.
    let client: ClientHeaders
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
        let result = await fetch(url, nil, configuration.maxManifestBytes, decoding: .all)
        let fetched = clock.timestamp
        return result.map { response in
            FetchedText(
                url: response.url,
                bytes: response.body,
                fetched: fetched,
                contentType: response.headers["Content-Type"],
                serverTime: response.headers["Date"].flatMap { HTTPDate.parse($0, now: fetched.wallTime) }
            )
        }
    }

    /// - Parameter isText: whether the resource is text, which is asked for with content codings.
    func bytes(_ url: HTTPURL, _ range: ByteRange? = nil, isText: Bool = false) async -> Result<[UInt8], Failure> {
        let decoding: ContentDecoding = isText ? .all : .unasked
        return await fetch(url, range, configuration.maxSegmentBytes, decoding: decoding).map { response in
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
        method: HTTPMethod = .get,
        decoding: ContentDecoding = .unasked
    ) async -> Result<HTTPResponse, Failure> {
        do throws(HTTPError) {
            var headers = try HTTPHeaders(["Accept": "*/*"])
            if let range { try headers.set("Range", range.headerValue) }
            var request = HTTPRequest(
                method,
                url,
                headers: headers,
                timeout: configuration.timeout,
                connectTimeout: min(configuration.timeout, .seconds(10)),
                maxResponseBytes: maxBytes,
                redirects: .follow(atMost: Self.maxRedirects)
            )
            request.decoding = decoding
            client.apply(to: &request, home: home)
            let response = try await transport.send(request)
            return response.isSuccess ? .success(response) : .failure(.status(response.status))
        } catch {
            return .failure(.connection("\(error.code): \(error.message)"))
        }
    }
}
