internal import Instrument
internal import InstrumentHTTP
internal import NIOCore

/// The plan of a response, to the last byte and the end of the connection: a pure function of the request, the
/// resource at its path, and the fault.
struct ResponsePlan: Sendable {
    /// The state of the connection after the last byte.
    enum Ending: Hashable, Sendable { case keepAlive, close, reset, hang }

    /// The pacing of the bytes.
    enum Pace: Hashable, Sendable {
        case link
        case trickle(bytes: Int, every: Duration)
    }

    var status: Int
    /// The head with its empty line; nil without a response.
    var head: String?
    var body: Body
    var ending: Ending
    var pace = Pace.link
    /// The delay in addition to the link's latency.
    var delay = Duration.zero
    /// When the bytes of a resource in production exist; empty if all exist.
    var production: [Resource.Production] = []
    /// The value of `Content-Length`; nil without one.
    var promised: Int?

    /// The response that a rule or a malformed request causes instead.
    init(_ status: Int, reason: String, headers: [String] = [], keepsAlive: Bool, sendsBody: Bool = true) {
        let body = Body("\(status) \(reason)\n")
        self.init(
            status,
            type: ContentType.text,
            body: body,
            headers: headers,
            keepsAlive: keepsAlive,
            sendsBody: sendsBody
        )
    }

    init(
        _ status: Int,
        type: String?,
        body: Body,
        headers: [String] = [],
        length: Int? = nil,
        keepsAlive: Bool,
        sendsBody: Bool
    ) {
        self.status = status
        // These statuses never have a body (RFC 9110, sections 15.3.5 and 15.4.5).
        let hasBody = status != 204 && status != 304
        let body = hasBody ? body : .empty
        var lines = ["HTTP/1.1 \(status) \(Self.reason(status))"]
        if let type { lines.append("Content-Type: \(type)") }
        let hasEnd = !body.isEndless
        if hasEnd, hasBody { lines.append("Content-Length: \(length ?? body.count)") }
        if hasEnd, sendsBody { promised = length ?? body.count }
        lines += Self.always + headers
        lines.append(keepsAlive && hasEnd ? "Connection: keep-alive" : "Connection: close")
        head = lines.joined(separator: "\r\n") + "\r\n\r\n"
        self.body = sendsBody ? body : .empty
        ending = keepsAlive && hasEnd ? .keepAlive : .close
    }

    /// Allows players in browsers to send requests from any page, and forbids caching.
    private static let always = [
        "Access-Control-Allow-Origin: *",
        "Access-Control-Expose-Headers: Content-Length, Content-Range, Date",
        "Timing-Allow-Origin: *",
        "Cache-Control: no-store",
        "Server: test-origin",
    ]

    private static func reason(_ status: Int) -> String { HTTPStatusText.name(of: status) ?? "Status" }
}

extension ResponsePlan {
    /// Returns the plan for a request; `lookup` returns the resource at a path (without session), `prefix` is the
    /// session's.
    init(to request: RequestHead, path: String, prefix: String, fault: Fault?, lookup: (String) -> Resource?) {
        let sendsBody = request.method != "HEAD"
        func plain(_ status: Int, _ headers: [String] = []) -> ResponsePlan {
            let keeps = request.keepsAlive
            return ResponsePlan(
                status,
                reason: Self.reason(status),
                headers: headers,
                keepsAlive: keeps,
                sendsBody: sendsBody
            )
        }
        switch fault {
        case .resetBeforeHead, .hangBeforeHead:
            self = plain(200)
            (head, body, ending) = (nil, .empty, fault == .resetBeforeHead ? .reset : .hang)
        case .status(let status, let retryAfter):
            self = plain(status, retryAfter.map { ["Retry-After: \(Self.seconds($0))"] } ?? [])
        case .redirect(let target, let status):
            let local = target.hasPrefix("/") ? target : "/" + target
            self = plain(status, ["Location: \(HeaderText.encoded(path: prefix + local))"])
        case .redirectToItself: self = plain(302, ["Location: \(HeaderText.encoded(path: prefix + path))"])
        case .html:
            let body = Body("<!doctype html><title>Welcome</title><p>Please sign in to use this network.</p>\n")
            let keeps = request.keepsAlive
            self.init(200, type: ContentType.html, body: body, keepsAlive: keeps, sendsBody: sendsBody)
        default:
            guard var resource = lookup(fault?.replacement ?? path) else {
                self = plain(404)
                return
            }
            if case .contentType(let type) = fault, HeaderText.isSafe(type) { resource.contentType = type }
            if case .endless = fault { resource.body = Self.endless(resource.body) }
            self = Self.serving(resource, to: request, understated: fault?.understatement ?? 0)
            delay = resource.delay
            if status == 200 { production = resource.production }
            if let fault { suffer(fault) }
        }
    }

    private static func serving(_ resource: Resource, to request: RequestHead, understated: Int) -> ResponsePlan {
        let sendsBody = request.method != "HEAD"
        let whole = resource.body
        if !whole.isEndless, understated == 0, resource.ranges != .ignored {
            switch RequestedRange(request.range, length: whole.count) {
            case .part(let range):
                let header = "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(whole.count)"
                return ResponsePlan(
                    206,
                    type: resource.contentType,
                    body: resource.ranges == .wholeBody ? whole : whole.part(range),
                    headers: ["Accept-Ranges: bytes"] + (resource.ranges == .unnamed ? [] : [header])
                        + resource.headers,
                    keepsAlive: request.keepsAlive,
                    sendsBody: sendsBody
                )
            case .unsatisfiable:
                let header = "Content-Range: bytes */\(whole.count)"
                let keeps = request.keepsAlive
                return ResponsePlan(
                    416,
                    reason: reason(416),
                    headers: [header],
                    keepsAlive: keeps,
                    sendsBody: sendsBody
                )
            case .whole: break
            }
        }
        return ResponsePlan(
            200,
            type: resource.contentType,
            body: whole,
            headers: ["Accept-Ranges: bytes"] + resource.headers,
            length: understated > 0 ? max(0, whole.count - understated) : nil,
            keepsAlive: request.keepsAlive && understated == 0,
            sendsBody: sendsBody
        )
    }

    private mutating func suffer(_ fault: Fault) {
        switch fault {
        case .reset(let count): (body, ending) = (body.part(0..<max(0, count)), .reset)
        case .hang(let count): (body, ending) = (body.part(0..<max(0, count)), .hang)
        case .truncate(let count): (body, ending) = (body.part(0..<max(0, count)), .close)
        case .slowFirstByte(let time): delay += max(.zero, time)
        case .trickle(let bytes, let time): pace = .trickle(bytes: max(1, bytes), every: max(.nanoseconds(1), time))
        default: break
        }
    }

    /// Whole seconds, rounded up (RFC 9110, section 10.2.3).
    private static func seconds(_ time: Duration) -> Int { (min(max(0, time.milliseconds), .max - 999) + 999) / 1_000 }

    private static func endless(_ body: Body) -> Body {
        let start = body.bytes(at: 0, count: min(body.count, 256)).map { Array($0.readableBytesView) } ?? []
        let line = Array(start.prefix { $0 != UInt8(ascii: "\n") }) + [UInt8(ascii: "\n")]
        let comment = String(repeating: "# and so on, and on, and on\n", count: 512)
        return .endless(first: ByteBuffer(bytes: line), line: ByteBuffer(string: comment))
    }
}

extension ResponsePlan {
    /// The response to a browser's preflight request (Fetch standard, CORS-preflight request).
    static func preflight(keepsAlive: Bool) -> ResponsePlan {
        let headers = [
            "Access-Control-Allow-Methods: GET, HEAD, POST, OPTIONS", "Access-Control-Allow-Headers: *",
            "Access-Control-Max-Age: 600", "Allow: GET, HEAD, POST, OPTIONS",
        ]
        return ResponsePlan(204, type: nil, body: .empty, headers: headers, keepsAlive: keepsAlive, sendsBody: false)
    }
}

extension Fault {
    /// The path whose body is sent instead.
    fileprivate var replacement: String? {
        guard case .body(let path) = self else { return nil }
        return path.hasPrefix("/") ? path : "/" + path
    }

    fileprivate var understatement: Int { if case .understate(let count) = self { max(0, count) } else { 0 } }
}
