internal import Instrument

/// A request that the server passes to its owner.
package struct ServerRequest: Sendable {
    package let method: String
    /// The path, without percent-encoding.
    package let path: String
    /// The parameters of the query, decoded, in their order.
    package let query: [(name: String, value: String)]
    let headers: [(name: String, value: String)]
    /// The bytes after the head.
    package let body: [UInt8]
    /// The address of the client.
    let peer: String
    /// Who sent the request; nil for a path that needs no token.
    package internal(set) var client: ServerClient?

    package init(
        method: String = "GET",
        path: String,
        query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [],
        body: [UInt8] = [],
        peer: String = ""
    ) {
        (self.method, self.path, self.query, self.headers) = (method, path, query, headers)
        (self.body, self.peer) = (body, peer)
    }

    /// The first value of a header; names are not case-sensitive.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The first value of a parameter.
    package func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// Splits a target of a request line: a path, or a whole address (RFC 9112, section 3.2).
    static func parse(target: String) -> (path: String, query: [(name: String, value: String)])? {
        let local = authorityEnd(ofTarget: target).map { end -> Substring in
            target[end...].hasPrefix("/") ? target[end...] : "/" + target[end...]
        }
        let parts = (local ?? target[...]).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.hasPrefix("/"), let path = decoded(first, plusIsSpace: false) else {
            return nil
        }
        var query: [(name: String, value: String)] = []
        if parts.count > 1 {
            for pair in parts[1].split(separator: "&").prefix(64) {
                let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard let name = decoded(halves[0], plusIsSpace: true),
                    let value = halves.count > 1 ? decoded(halves[1], plusIsSpace: true) : ""
                else { return nil }
                query.append((name, value))
            }
        }
        return (path, query)
    }

    /// The host and port of a target that is a whole address; nil for a path.
    static func authority(ofTarget target: String) -> String? {
        authorityEnd(ofTarget: target).map { end in
            String(target[target.index(target.startIndex, offsetBy: scheme.count)..<end])
        }
    }

    private static let scheme = "http://"

    private static func authorityEnd(ofTarget target: String) -> String.Index? {
        guard target.prefix(scheme.count).lowercased() == scheme else { return nil }
        return target.dropFirst(scheme.count).firstIndex { $0 == "/" || $0 == "?" } ?? target.endIndex
    }

    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes = PercentCoding.decoded(String(text))
        if plusIsSpace, text.utf8.contains(UInt8(ascii: "+")) {
            bytes = PercentCoding.decoded(String(text.map { $0 == "+" ? " " : $0 }))
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// The answer to a request.
package struct ServerReply: Sendable {
    package enum Content: Sendable {
        case bytes([UInt8])
        /// A stream of server-sent events: called with a sink when the head was sent; returns what ends the
        /// subscription.
        case events(@Sendable (EventSink) -> @Sendable () -> Void)
    }

    package var status: Int
    package var headers: [(String, String)]
    package var content: Content

    package init(_ status: Int = 200, _ contentType: String, _ bytes: [UInt8], headers: [(String, String)] = []) {
        self.status = status
        self.headers = [("Content-Type", contentType)] + headers
        content = .bytes(bytes)
    }

    /// A short text.
    package static func text(_ status: Int, _ text: String) -> ServerReply {
        ServerReply(status, "text/plain; charset=utf-8", Array((text + "\n").utf8))
    }

    /// A stream of events.
    package static func events(_ subscribe: @escaping @Sendable (EventSink) -> @Sendable () -> Void) -> ServerReply {
        var reply = ServerReply(200, "text/event-stream; charset=utf-8", [])
        reply.content = .events(subscribe)
        return reply
    }
}

/// Sends events to one client.
package struct EventSink: Sendable {
    let sendBytes: @Sendable ([UInt8]) -> Void

    package init(_ sendBytes: @escaping @Sendable ([UInt8]) -> Void) { self.sendBytes = sendBytes }

    /// Sends an event. An event for a client that does not read is dropped, and a client that does not read for long is
    /// disconnected.
    package func send(_ event: String, _ data: [UInt8]) {
        // JSON has no line feeds, so that one line of data is enough.
        sendBytes(Array("event: \(event)\ndata: ".utf8) + data + Array("\n\n".utf8))
    }
}

/// The settings of the server.
package struct ServerConfiguration: Sendable {
    package var host = "127.0.0.1"
    /// 0 takes a free port.
    package var port = 0
    /// Who may use the server.
    package var access = AccessControl()
    /// The certificate and key of TLS; nil speaks plain HTTP.
    package var tls: TLSIdentity?
    /// Paths that need no token, because they show nothing of the streams.
    package var openPaths: Set<String> = ["/", "/healthz"]
    /// The connections at a time. When there are as many, one that waits for its client gives way to a new one.
    package var maxConnections = 256
    /// The bytes of all replies that clients have not read.
    package var maxPendingBytes = 128 << 20
    /// Waiting for the next request, and for a client that does not read, in seconds.
    package var timeoutSeconds: Int64 = 30
    /// Waiting for the rest of a request, and for the first one of a connection, in seconds.
    package var requestSeconds: Int64 = 10

    package init() {}

    /// Whether the host is a loopback address.
    package var isLoopback: Bool { Self.isLoopback(host) }

    package static func isLoopback(_ host: String) -> Bool {
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        let isIPv4 = octets.count == 4 && octets.allSatisfy { UInt8($0) != nil } && octets[0] == "127"
        return isIPv4 || host == "::1" || host == "[::1]" || host == "localhost"
    }
}

/// The server cannot start.
package struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}
