internal import Instrument
internal import InstrumentWatch
internal import NIOHTTP1

/// What a request must keep before the server answers it, beside the syntax, which the parser checks.
struct RequestRules: Sendable {
    let configuration: ServerConfiguration

    /// The refusal of a request; nil if the request keeps the rules.
    func refusal(of head: HTTPRequestHead) -> ServerReply? {
        // RFC 9112, section 3.2.
        let hosts = head.headers["Host"]
        guard hosts.count == 1 || (hosts.isEmpty && head.version == .http1_0) else {
            return .text(400, "a request must have one header Host (found \(hosts.count))")
        }
        if let host = hosts.first, !Self.isHost(host) {
            return .text(400, "the header Host must be a host with or without a port (found something else)")
        }
        let methods = ActionPath.methods(of: ServerRequest.parse(target: head.uri)?.path ?? "")
        guard methods.contains(head.method.rawValue) else {
            var reply = ServerReply.text(405, "use \(methods.joined(separator: " or "))")
            reply.headers.append(("Allow", methods.joined(separator: ", ")))
            return reply
        }
        // A name of another site that resolves to this machine (DNS rebinding). The host of a whole address counts more
        // than the header (RFC 9112, section 3.2.2).
        let host = ServerRequest.authority(ofTarget: head.uri) ?? hosts.first
        let access = configuration.access
        if !access.isRequired || access.hasProxy, let host, !isLocal(host), !(access.hasProxy && isPublic(host)) {
            return .text(421, "the header Host must name this machine's loopback address (found another host)")
        }
        return head.method == .GET || head.method == .HEAD ? nil : refusal(ofAction: head, host: host)
    }

    /// The refusal of a request that changes something, and that a page of another site may have sent.
    private func refusal(ofAction head: HTTPRequestHead, host: String?) -> ServerReply? {
        let origins = head.headers["Origin"]
        guard origins.count <= 1, origins.allSatisfy({ isOurs($0, host) }),
            !head.headers["Sec-Fetch-Site"].contains(where: { $0 == "cross-site" || $0 == "same-site" })
        else {
            return .text(
                403,
                "the request comes from a page of another site; use the monitor's page, or no header Origin"
            )
        }
        if head.method == .DELETE { return nil }
        let types = head.headers["Content-Type"]
        let type = types.first?.split(separator: ";").first.map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        guard types.count == 1, type == "application/json" else {
            return .text(415, "the request must have one header 'Content-Type: application/json'")
        }
        return nil
    }

    /// Whether an origin is that of the monitor's page: the host that the request names, or the public one.
    private func isOurs(_ origin: String, _ host: String?) -> Bool {
        for scheme in ["http://", "https://"] where origin.lowercased().hasPrefix(scheme) {
            let authority = origin.dropFirst(scheme.count).lowercased()
            return authority == host?.lowercased() || isPublic(authority)
        }
        return false
    }

    private func isPublic(_ authority: String) -> Bool {
        configuration.access.publicAuthority?.lowercased() == authority.lowercased()
    }

    /// The client of a request, or the refusal.
    func client(of request: ServerRequest) -> (client: ServerClient?, refusal: ServerReply?) {
        if configuration.openPaths.contains(request.path) { return (nil, nil) }
        guard let client = configuration.access.client(of: request) else {
            var reply = ServerReply.text(401, "the request must have the header 'Authorization: Bearer TOKEN'")
            reply.headers.append(("WWW-Authenticate", "Bearer"))
            return (nil, reply)
        }
        let isRead = request.method == "GET" || request.method == "HEAD"
        guard isRead || client.role == .act else {
            return (nil, .text(403, "this token may only read; an action needs one with the role `act`"))
        }
        return (client, nil)
    }

    private func isLocal(_ header: String) -> Bool {
        var host = header
        if let end = host.lastIndex(of: ":"), !host[end...].contains("]"), host.first != ":" {
            host = String(host[..<end])
        }
        return ServerConfiguration.isLoopback(host.lowercased()) || host == configuration.host
    }

    /// Whether a text is a host with or without a port (RFC 3986, section 3.2.2); it may be empty.
    static func isHost(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var end = bytes.count
        if bytes.first == UInt8(ascii: "[") {
            guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            end = close + 1
            guard bytes[1..<close].allSatisfy({ $0.isLetter || $0.isDigit || "-._~!$&'()*+,;=:%".utf8.contains($0) })
            else { return false }
        } else {
            end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? end
            guard bytes[..<end].allSatisfy({ $0.isLetter || $0.isDigit || "-._~!$&'()*+,;=%".utf8.contains($0) })
            else { return false }
        }
        return end == bytes.count || (bytes[end] == UInt8(ascii: ":") && bytes[(end + 1)...].allSatisfy(\.isDigit))
    }
}
