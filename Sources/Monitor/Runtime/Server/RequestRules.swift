internal import Instrument
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
        guard head.method == .GET || head.method == .HEAD else {
            var reply = ServerReply.text(405, "use GET or HEAD")
            reply.headers.append(("Allow", "GET, HEAD"))
            return reply
        }
        // A name of another site that resolves to this machine (DNS rebinding). The host of a whole address counts more
        // than the header (RFC 9112, section 3.2.2).
        let host = ServerRequest.authority(ofTarget: head.uri) ?? hosts.first
        if configuration.token == nil, let host, !isLocal(host) {
            return .text(421, "the header Host must name this machine's loopback address (found another host)")
        }
        return nil
    }

    /// The refusal of a request without the token; nil if the request needs none, or has it.
    func refusal(of request: ServerRequest) -> ServerReply? {
        guard let token = configuration.token, !configuration.openPaths.contains(request.path),
            !Self.isAuthorized(request, token)
        else { return nil }
        var reply = ServerReply.text(401, "the request must have the header 'Authorization: Bearer TOKEN'")
        reply.headers.append(("WWW-Authenticate", "Bearer"))
        return reply
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

    /// In a time that does not depend on how much of the token is right.
    static func isAuthorized(_ request: ServerRequest, _ token: [UInt8]) -> Bool {
        guard let value = request.header("Authorization"), value.lowercased().hasPrefix("bearer ") else { return false }
        let given = SHA256.digest(of: value.dropFirst(7).utf8)
        return zip(given, SHA256.digest(of: token)).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
