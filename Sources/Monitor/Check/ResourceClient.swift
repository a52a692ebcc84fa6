internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules
internal import InstrumentText

/// Fetches playlists, segments and keys within limits of time, size and redirects.
///
/// The transport decodes content codings, and fails a byte range that is not the requested one
/// (`HTTPError.Code.wrongRange`).
struct ResourceClient: Sendable {
    private static let maxRedirects = 10
    /// The statuses with which servers refuse byte ranges that they do not support.
    fileprivate static let refusals: Set<Int> = [400, 403, 405, 501]

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
        /// The response has other bytes than the requested range.
        case otherRange(String)
        /// The body is not in a content coding that can be read.
        case coding(String)
        /// The response has no bytes.
        case empty

        var reason: String {
            switch self {
            case .status(let status): "status \(status)"
            case .connection(let reason), .otherRange(let reason), .coding(let reason): reason
            case .empty: "\(ManifestContent.empty)"
            }
        }
    }

    /// The bytes of a resource, or of a range of it.
    struct Body {
        var bytes: [UInt8]
        /// Whether the server sent the whole resource instead of the range.
        var isRangeIgnored = false
        /// Whether the server sent a range and did not say which.
        var lacksContentRange = false
        /// What shows that the file ends before the range does; nil where the range is there.
        var shortage: String?
    }

    func manifest(_ url: HTTPURL) async -> Result<FetchedText, Failure> {
        let result = await fetch(url, nil, configuration.maxManifestBytes, decoding: .all)
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

    /// - Parameter isText: whether the resource is text, which is asked for with content codings.
    func bytes(_ url: HTTPURL, _ range: ByteRange? = nil, isText: Bool = false) async -> Result<[UInt8], Failure> {
        await body(url, range, isText: isText).map(\.bytes)
    }

    /// - Parameter isText: whether the resource is text, which is asked for with content codings.
    func body(_ url: HTTPURL, _ range: ByteRange? = nil, isText: Bool = false) async -> Result<Body, Failure> {
        let decoding: ContentDecoding = isText ? .all : .unasked
        let answer = await fetch(url, range, configuration.maxSegmentBytes, decoding: decoding)
        if let range, case .failure(.status(let status)) = answer,
            let found = await refusal(of: range, url, status)
        {
            return .failure(.otherRange(found))
        }
        return answer.flatMap { response in
            // A server may ignore the range and send the whole.
            guard let range, response.status == 200 else {
                if let range, let found = Self.defect(of: response, range) { return .failure(.otherRange(found)) }
                if range == nil, let part = response.unaskedPart { return .failure(.otherRange(part)) }
                let count = response.body.count
                let shortage = range.flatMap { $0.shortage(count: count, size: response.statedSize) }
                let lacksRange = response.status == 206 && response.headers["Content-Range"] == nil
                return .success(Body(bytes: response.body, lacksContentRange: lacksRange, shortage: shortage))
            }
            let whole = response.body
            let (start, length) = (Int(clamping: range.offset), range.length.map { Int(clamping: $0) })
            guard start < whole.count else {
                let found = "status 200 with \(whole.count) bytes for \(range.headerValue)"
                return .failure(.otherRange(found))
            }
            let rest = whole[start...]
            let part = Array(length.map { rest.prefix($0) } ?? rest)
            let shortage = range.shortage(count: part.count, size: whole.count)
            return .success(Body(bytes: part, isRangeIgnored: part.count < whole.count, shortage: shortage))
        }
    }

    /// What shows that a status is about a byte range, and not about the file; nil for a file that cannot be fetched.
    private func refusal(of range: ByteRange, _ url: HTTPURL, _ status: Int) async -> String? {
        if status == 416 { return "status 416 for \(range.headerValue)" }
        guard Self.refusals.contains(status) else { return nil }
        let found = "status \(status) for \(range.headerValue), and the whole file without a range"
        switch await fetch(url, nil, configuration.maxSegmentBytes) {
        case .success(let response): return response.body.isEmpty ? nil : found
        // A file above the limit is there, too.
        case .failure(.connection(let reason)):
            return reason.hasPrefix("\(HTTPError.Code.responseTooLarge)") ? found : nil
        case .failure: return nil
        }
    }

    /// How a response of status 206 differs from the requested range; nil if it does not, or does not say.
    ///
    /// Fewer bytes are right where the file ends before the range.
    private static func defect(of response: HTTPResponse, _ range: ByteRange) -> String? {
        guard response.status == 206 else { return nil }
        let count = Int64(response.body.count)
        let stated = response.headers["Content-Range"].map { "Content-Range \($0.excerpt())" } ?? "no Content-Range"
        let found = "\(stated) and \(count) bytes for \(range.headerValue)"
        if let length = range.length, count > length { return found }
        guard let header = response.headers["Content-Range"] else { return nil }
        let numbers = header.split { !$0.isASCII || !$0.isNumber }.prefix(3).map { Int64($0) }
        guard numbers.count >= 2, let first = numbers[0], let last = numbers[1], first <= last else { return found }
        // A range ends inside its file (RFC 9110 section 14.4).
        if numbers.count > 2, let size = numbers[2], size <= last { return found }
        let isShort = range.length.map { last.saturatingSubtract(first).saturatingAdd(1) < $0 } ?? false
        // The range may reach beyond the file, whose size is the third number.
        let isAtEnd = numbers.count > 2 && numbers[2] == last.saturatingAdd(1)
        let isRight = first == range.offset && last.saturatingSubtract(first).saturatingAdd(1) == count
        return isRight && (!isShort || isAtEnd) ? nil : found
    }

    /// Asks for one byte, to learn whether a segment is there: of a range for the last one, which a file that was cut
    /// does not have.
    func availability(_ url: HTTPURL, _ range: ByteRange?) async -> Result<Void, Failure> {
        let last = range.flatMap { range in range.length.map { range.offset.saturatingAdd(max(0, $0 - 1)) } }
        let byte = ByteRange(offset: last ?? range?.offset ?? 0, length: 1)
        let answer = await fetch(url, byte, configuration.maxSegmentBytes)
        switch answer {
        case .success(let response): return response.body.isEmpty ? .failure(.empty) : .success(())
        case .failure(.status(let status)) where range != nil:
            guard let found = await refusal(of: byte, url, status) else { return .failure(.status(status)) }
            return .failure(.otherRange(found))
        case .failure(let failure):
            // The manifest asks for no byte range, so that the server need not have ranges.
            guard range == nil, failure.mayBeOfRange else { return .failure(failure) }
            return await body(url, isText: true).flatMap { $0.bytes.isEmpty ? .failure(.empty) : .success(()) }
        }
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
            if error.code == .wrongRange {
                // What follows is advice.
                return .failure(.otherRange(String(error.message.prefix { $0 != ";" })))
            }
            if [.contentCoding, .unknownCoding].contains(error.code) {
                return .failure(.coding(String(error.message.prefix { $0 != ";" && $0 != "(" }.trimmingWhitespace)))
            }
            return .failure(.connection("\(error.code): \(error.message)"))
        }
    }
}

extension ResourceClient.Failure {
    /// Whether the same request without a byte range may bring the file.
    fileprivate var mayBeOfRange: Bool {
        switch self {
        case .otherRange, .coding, .status(416): true
        case .status(let status): ResourceClient.refusals.contains(status)
        case .connection, .empty: false
        }
    }
}

extension HTTPResponse {
    /// The part of the file that came although no range was requested; nil for another response.
    fileprivate var unaskedPart: String? {
        guard status == 206, let range = ContentRange(headers), let total = range.total, range.length != total else {
            return nil
        }
        return "status 206 with \(range), although no byte range was requested"
    }

    /// The size of the file of which the response has a range, by `Content-Range`; nil where the server does not say.
    fileprivate var statedSize: Int? {
        status == 206 ? ContentRange(headers)?.total.map { Int(clamping: $0) } : nil
    }
}

extension ByteRange {
    /// What shows that a file of a size ends before the range does, of which `count` bytes came; nil without it.
    fileprivate func shortage(count: Int, size: Int?) -> String? {
        guard let length, Int64(count) < length else { return nil }
        let file = size.map { " of a file of \($0) bytes" } ?? ""
        return "\(count) bytes\(file) for \(headerValue), which has \(length)"
    }
}
