#if !canImport(Darwin)
internal import CCurl
internal import CTransportShim
internal import Instrument
internal import InstrumentCompression
internal import InstrumentHTTP

/// A request in libcurl's hands, and what has come of the response so far. Touched by the transport's thread alone.
final class CurlTransfer {
    let exchange: Exchange
    let easy: UnsafeMutableRawPointer
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var head = ResponseHead()
    private var body: [UInt8] = []
    /// Of the body, wherever it goes.
    private var byteCount = 0
    private var isTooLarge = false
    private var isHeadTooLarge = false
    /// The requested byte range; nil for the whole resource.
    private let range: RequestedRange?
    /// Why the response is not the requested byte range.
    private var wrongRange: String?
    /// The decoder of a gzip body; nil where libcurl decodes, or nobody.
    private var gzip: GzipBody?
    /// Whether libcurl leaves the body as it is.
    private var usesOwnDecoder = false
    /// libcurl writes what went wrong here, in more detail than its number says.
    private let detail: UnsafeMutablePointer<CChar>
    /// libcurl's callback reads here which connections are allowed, and writes the result.
    private let openings: UnsafeMutablePointer<transport_openings>

    var url: HTTPURL { exchange.request.url }

    /// The limit of the body's bandwidth; nil for none.
    private var pace: Pace?
    private let pauses: CurlPauses
    /// The configuration of the transport; the default one before ``configure(_:at:)``.
    private var configuration = TransportConfiguration()

    init(_ exchange: Exchange, _ easy: UnsafeMutableRawPointer, _ pauses: CurlPauses) {
        self.pauses = pauses
        pace = exchange.request.maxBytesPerSecond.map { Pace(bytesPerSecond: $0) }
        self.exchange = exchange
        self.easy = easy
        range = RequestedRange(exchange.request.headers)
        detail = .allocate(capacity: Int(CURL_ERROR_SIZE))
        detail.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        openings = .allocate(capacity: 1)
        openings.initialize(to: transport_openings())
    }

    deinit {
        curl_slist_free_all(fields)
        detail.deallocate()
        openings.deallocate()
    }

    /// Tells libcurl everything; false if it does not understand something, in which case nothing must be sent.
    func configure(_ settings: CurlSettings, at now: MonotonicInstant) -> Bool {
        configuration = settings.configuration
        return configureMessage(at: now) && configureConnection(settings) && configureDecoding() && configureReceiving()
    }

    private func configureMessage(at now: MonotonicInstant) -> Bool {
        let request = exchange.request
        guard let fields = makeFields(request) else { return false }
        return set(CURLOPT_URL, request.url.requestText) && setBody(request)
            && transport_set_pointer(easy, CURLOPT_HTTPHEADER, fields) == CURLE_OK
            && set(CURLOPT_TIMEOUT_MS, Self.milliseconds(now.duration(to: exchange.deadline)))
            && set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(request.connectTimeout))
    }

    private func setBody(_ request: HTTPRequest) -> Bool {
        if request.method == .head { return set(CURLOPT_NOBODY, 1) }
        if request.method == .get, request.body.isEmpty { return set(CURLOPT_HTTPGET, 1) }
        let hasBody = !request.body.isEmpty || [.post, .put, .patch].contains(request.method)
        return (!hasBody || setBody(request.body)) && set(CURLOPT_CUSTOMREQUEST, request.method.description)
    }

    /// The size comes first: libcurl copies this number of bytes.
    private func setBody(_ body: [UInt8]) -> Bool {
        guard set(CURLOPT_POST, 1),
            transport_set_large(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count)) == CURLE_OK
        else { return false }
        if body.isEmpty { return set(CURLOPT_COPYPOSTFIELDS, "") }
        return body.withUnsafeBytes {
            transport_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) == CURLE_OK
        }
    }

    private func makeFields(_ request: HTTPRequest) -> UnsafeMutablePointer<curl_slist>? {
        // Disables libcurl's defaults: the wait for the server's consent, and a wrong content type.
        var lines = ["Expect:"]
        for absent in ["Content-Type", "Accept", "Accept-Encoding"] where request.headers[absent] == nil {
            lines.append(absent + ":")
        }
        // libcurl's way to write a field without a value.
        for field in request.headers.fields {
            lines.append(field.name + (field.value.isEmpty ? ";" : ": " + field.value))
        }
        for line in lines {
            guard let longer = curl_slist_append(fields, line) else { return nil }
            fields = longer
        }
        return fields
    }

    private func configureConnection(_ settings: CurlSettings) -> Bool {
        transport_never_wait_for_names(easy)
        let authorities = settings.authorities?.withUnsafeBytes { bytes in
            transport_set_authorities(easy, bytes.baseAddress, bytes.count)
        }
        // An empty text means no proxy, or no exception, independent of the environment.
        let usesProxy =
            settings.configuration.proxyAddress.map { set(CURLOPT_PROXY, $0) && set(CURLOPT_NOPROXY, "") }
            ?? (settings.configuration.proxy == .environment || set(CURLOPT_PROXY, ""))
        let prefersHTTP3 = settings.configuration.usesHTTP3 && exchange.request.url.isSecure
        return usesProxy && (authorities ?? CURLE_OK) == CURLE_OK
            && (!prefersHTTP3 || transport_prefer_http3(easy) == CURLE_OK)
            && transport_restrict_protocols(easy) == CURLE_OK
            && set(CURLOPT_NOSIGNAL, 1) && set(CURLOPT_FOLLOWLOCATION, 0)
            && set(CURLOPT_SSL_VERIFYPEER, 1) && set(CURLOPT_SSL_VERIFYHOST, 2)
            && set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
            && set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE)) && set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            && set(CURLOPT_FRESH_CONNECT, exchange.request.needsFreshConnection ? 1 : 0)
            && openings.apply(to: easy, allowsPrivateAddresses: settings.configuration.allowsPrivateAddresses)
    }

    /// An empty text has libcurl decode every coding that it knows, whatever `Accept-Encoding` says.
    private func configureDecoding() -> Bool {
        exchange.request.decoding == .none || set(CURLOPT_ACCEPT_ENCODING, "")
    }

    private func configureReceiving() -> Bool {
        setPieceSize()
        let context = Unmanaged.passUnretained(self).toOpaque()
        // The pointers stay valid: the loop keeps this object until it has taken the handle out.
        return transport_set_pointer(easy, CURLOPT_WRITEDATA, context) == CURLE_OK
            && transport_set_pointer(easy, CURLOPT_HEADERDATA, context) == CURLE_OK
            && transport_set_pointer(easy, CURLOPT_PRIVATE, context) == CURLE_OK
            && transport_set_pointer(easy, CURLOPT_ERRORBUFFER, detail) == CURLE_OK
            && transport_set_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, _, count, context in
                CurlTransfer.receive(bytes, count, context) { $0.addToBody($1) }
            } == CURLE_OK
            && transport_set_receiver(easy, CURLOPT_HEADERFUNCTION) { bytes, _, count, context in
                CurlTransfer.receive(bytes, count, context) { $0.addToHead($1) }
            } == CURLE_OK
    }

    /// Large bodies come in larger pieces than libcurl's 16 KiB, for fewer calls of the system and of `receive`. The
    /// pieces of a limited transfer are small, because each piece arrives at once. A libcurl that refuses the size
    /// serves the request nevertheless.
    private func setPieceSize() {
        if let pace {
            _ = set(CURLOPT_BUFFERSIZE, pace.pieceSize)
        } else if exchange.receiver != nil {
            _ = set(CURLOPT_BUFFERSIZE, 128 << 10)
        }
    }

    /// The outcome of offering received bytes.
    private enum Taking {
        case taken, aborted
        /// libcurl offers the bytes again once the transfer continues.
        case paused
    }

    /// Aborts or pauses the transfer as `take` says.
    private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?,
        _ count: Int,
        _ context: UnsafeMutableRawPointer?,
        _ take: (CurlTransfer, UnsafeRawBufferPointer) -> Taking
    ) -> Int {
        guard count > 0 else { return 0 }
        guard let context, let bytes else { return 0 }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        // Not 0 for nothing taken, which would be right for an empty piece.
        return switch take(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) {
        case .taken: count
        case .aborted: 0
        case .paused: Int(CURL_WRITEFUNC_PAUSE)
        }
    }

    private func addToBody(_ bytes: UnsafeRawBufferPointer) -> Taking {
        if !head.isComplete {
            head.isComplete = true
            // A libcurl that decodes nevertheless sends bytes that are no gzip.
            if isGzip, bytes.starts(with: Gzip.beginning.prefix(bytes.count)) { gzip = GzipBody() }
        }
        // The link carries the encoded bytes of a body that is decoded.
        let count = isDecoded ? encodedByteCount : byteCount + bytes.count
        let now = SystemClock().now
        if let due = pace?.due(count, at: now), due > now {
            pauses.due[exchange.number] = due
            return .paused
        }
        guard let gzip else { return take(bytes) ? .taken : .aborted }
        return gzip.unpack(bytes) { $0.withUnsafeBytes { self.take($0) } } ? .taken : .aborted
    }

    /// Whether the body is gzip alone, which this transport decodes itself: libcurl takes a body that was cut for a
    /// whole one.
    private var isGzip: Bool {
        guard exchange.request.decoding != .none, head.contentCodings.count == 1 else { return false }
        return ["gzip", "x-gzip"].contains(head.contentCodings[0])
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= exchange.request.maxResponseBytes - byteCount else {
            isTooLarge = true
            return false
        }
        let isFirst = byteCount == 0
        byteCount += bytes.count
        if isPartial {
            wrongRange = isFirst ? range?.defect(ofHead: head.headers) : nil
            wrongRange = wrongRange ?? range?.defect(ofBody: byteCount, head.headers, isComplete: false)
            if wrongRange != nil { return false }
        }
        if let receiver = exchange.receiver, 200..<300 ~= transport_get_long(easy, CURLINFO_RESPONSE_CODE) {
            // A cancelled task has its result already, and does not expect more.
            if exchange.hasEnded { return true }
            if isFirst, let expect = receiver.expect, let announced { expect(announced) }
            receiver.receive(bytes)
        } else {
            body.append(contentsOf: bytes)
        }
        return true
    }

    private var isDecoded: Bool { exchange.request.decoding != .none && !head.contentCodings.isEmpty }

    /// The bytes of the body so far, as the server sent them.
    private var encodedByteCount: Int { Int(transport_get_large(easy, CURLINFO_SIZE_DOWNLOAD_T)) }

    /// Whether the response is a part of the resource, which must be the requested part.
    private var isPartial: Bool { range != nil && transport_get_long(easy, CURLINFO_RESPONSE_CODE) == 206 }

    /// The size of the body that the server has announced; nil if it has not, if it is more than is accepted, or if it
    /// is that of an encoded body, which a browser does not tell either (XMLHttpRequest standard, section 3.7).
    private var announced: Int? {
        if let encoding = head.headers["Content-Encoding"], encoding.lowercased() != "identity" { return nil }
        let size = transport_get_large(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return size > 0 && size <= exchange.request.maxResponseBytes ? Int(size) : nil
    }

    private func addToHead(_ bytes: UnsafeRawBufferPointer) -> Taking {
        isHeadTooLarge = !head.add(bytes)
        if !head.isComplete, exchange.request.decoding != .none { leaveToOwnDecoder(isGzip) }
        return isHeadTooLarge ? .aborted : .taken
    }

    /// Redirects and interim responses have separate heads, so that the choice may change.
    private func leaveToOwnDecoder(_ isOwn: Bool) {
        guard isOwn != usesOwnDecoder else { return }
        usesOwnDecoder = set(CURLOPT_HTTP_CONTENT_DECODING, isOwn ? 0 : 1) ? isOwn : usesOwnDecoder
    }

    private func set(_ option: CURLoption, _ value: Int) -> Bool { transport_set_long(easy, option, value) == CURLE_OK }

    private func set(_ option: CURLoption, _ text: String) -> Bool {
        text.withCString { transport_set_pointer(easy, option, $0) == CURLE_OK }
    }

    /// At least one, because 0 would be no limit.
    private static func milliseconds(_ duration: Duration) -> Int {
        min(max(1, duration.milliseconds), Int(Int32.max))
    }
}

extension CurlTransfer {
    /// The outcome of the transfer, once libcurl has reported its end.
    func outcome(_ result: CURLcode) -> Exchange.Outcome {
        let status = transport_get_long(easy, CURLINFO_RESPONSE_CODE)
        let known = status > 0 ? status : nil
        if result == CURLE_OK, isPartial, wrongRange == nil {
            wrongRange = range?.defect(ofBody: byteCount, head.headers, isComplete: true)
        }
        if let wrongRange {
            return .failure(HTTPError(.wrongRange, wrongRange, url: url, status: known))
        }
        if result == CURLE_OK, !isWellDecoded { return undecoded(status) }
        if result == CURLE_OK, status > 0 { return .success(response(status)) }
        if result == CURLE_BAD_CONTENT_ENCODING || gzip?.isDamaged == true { return undecoded(status) }
        if isHeadTooLarge {
            let message = "the head of the response has more than \(ResponseHead.maxBytes) bytes; correct the server"
            // Without a status: no response has come, whatever its first line says.
            return .failure(HTTPError(.responseTooLarge, message, url: url))
        }
        if isTooLarge {
            let limit = exchange.request.maxResponseBytes
            let coding = exchange.request.decoding == .none ? [] : head.contentCodings
            let message =
                coding.isEmpty
                ? "the response has more than \(limit) bytes; allow more, or ask for less"
                : "the body has more than \(limit) bytes once it is decoded from \(coding.joined(separator: ", ")); "
                    + "allow more, or correct the server"
            return .failure(HTTPError(.responseTooLarge, message, url: url, status: known))
        }
        if result == CURLE_COULDNT_CONNECT, openings.pointee.has_refused, !openings.pointee.has_opened {
            let message =
                "only this machine or its network can reach it, which the configuration does not allow;"
                + " if that is right, allow private addresses"
            return .failure(HTTPError(.addressRefused, message, url: url, underlyingCode: Int(result.rawValue)))
        }
        if result == CURLE_COULDNT_CONNECT, openings.pointee.lacks_descriptors, !openings.pointee.has_opened {
            let message =
                "the process has too many files and connections open;"
                + " raise its limit (ulimit -n, LimitNOFILE=), or open fewer at once"
            return .failure(HTTPError(.system, message, url: url, underlyingCode: Int(result.rawValue)))
        }
        return .failure(HTTPError(result, String(cString: detail), url, status: known, configuration: configuration))
    }

    /// Whether a gzip body was one, from its beginning to its end. A plain body in its place has one size on the wire
    /// and here.
    private var isWellDecoded: Bool {
        guard let gzip else { return !usesOwnDecoder || byteCount == 0 || byteCount != encodedByteCount }
        return gzip.isWhole
    }

    /// The outcome of a body that cannot be decoded: the status of a failed request says more than its body.
    private func undecoded(_ status: Int) -> Exchange.Outcome {
        if status > 0, !(200..<300 ~= status) { return .success(response(status)) }
        if isPartial, let defect = range?.defect(ofHead: head.headers) {
            return .failure(HTTPError(.wrongRange, defect, url: url, status: status))
        }
        return .failure(
            .undecodable(
                head.headers,
                supported: CurlTransport.supportedCodings,
                url: url,
                status: status,
                underlyingCode: Int(CURLE_BAD_CONTENT_ENCODING.rawValue)
            )
        )
    }

    private func response(_ status: Int) -> HTTPResponse {
        var response = HTTPResponse(
            status: status,
            headers: head.headers,
            body: body,
            url: url,
            timings: timings,
            version: Self.version(transport_get_long(easy, CURLINFO_HTTP_VERSION)),
            remoteAddress: transport_get_text(easy, CURLINFO_PRIMARY_IP).map { String(cString: $0) }
        )
        if isDecoded { response.encodedByteCount = encodedByteCount }
        return response
    }

    private var timings: HTTPTimings {
        let (named, connected) = (time(CURLINFO_NAMELOOKUP_TIME_T), time(CURLINFO_CONNECT_TIME_T))
        let secured = time(CURLINFO_APPCONNECT_TIME_T)
        let isNew = transport_get_long(easy, CURLINFO_NUM_CONNECTS) > 0
        return HTTPTimings(
            nameLookup: isNew && !url.isAddress ? named : nil,
            connect: isNew ? max(.zero, connected - named) : nil,
            tls: isNew && secured > .zero ? max(.zero, secured - connected) : nil,
            firstByte: time(CURLINFO_STARTTRANSFER_TIME_T),
            total: time(CURLINFO_TOTAL_TIME_T)
        )
    }

    private func time(_ info: CURLINFO) -> Duration { .microseconds(transport_get_large(easy, info)) }

    private static func version(_ number: Int) -> String {
        switch number {
        case Int(CURL_HTTP_VERSION_1_0): "1.0"
        case Int(CURL_HTTP_VERSION_1_1): "1.1"
        case Int(CURL_HTTP_VERSION_2_0): "2"
        case 30: "3"
        default: ""
        }
    }
}
#endif
