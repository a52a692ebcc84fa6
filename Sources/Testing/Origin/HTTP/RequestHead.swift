internal import Instrument

/// The head of a request (RFC 9112), as far as the origin needs it.
struct RequestHead: Hashable, Sendable {
    var method: String
    /// The target, as sent.
    var target: String
    /// The target's path, without percent-encoding.
    var path: String
    /// The target's query, as sent, without the question mark.
    var query: String
    /// The value of `Range`; nil without one.
    var range: String?
    /// The value of `Host`, if it is a host with or without a port.
    var host: String?
    /// The length of the body, which is discarded.
    var contentLength = 0
    /// Whether the connection may serve another request.
    var keepsAlive: Bool

    /// The error status for an invalid head.
    enum Refusal: Int, Error { case badRequest = 400, tooLong = 431, notImplemented = 501, version = 505 }

    /// The limit of a head, in bytes.
    static var maxLength: Int { 16_384 }

    /// Reads the head's lines, without the empty line at the end.
    init(parsing bytes: some Collection<UInt8>) throws(Refusal) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .badRequest }
        // A carriage return and a line feed are one Character.
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, !words[1].isEmpty else { throw .badRequest }
        guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else { throw .version }
        method = String(words[0])
        target = String(words[1])
        keepsAlive = words[2] == "HTTP/1.1"
        let local = try Self.local(words[1])
        let parts = local.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = HeaderText.decoded(path: parts[0]), path.hasPrefix("/") || path == "*" else {
            throw .badRequest
        }
        self.path = path
        query = parts.count > 1 ? String(parts[1]) : ""
        var (hosts, lengths) = (0, 0)
        for line in lines.dropFirst() where !line.isEmpty {
            switch try read(line) {
            case "host": hosts += 1
            case "content-length": lengths += 1
            default: break
            }
        }
        // RFC 9112, sections 3.2 and 6.3: servers that choose different ones of several would read different requests.
        guard hosts == 1 || (hosts == 0 && words[2] == "HTTP/1.0"), lengths <= 1 else { throw .badRequest }
    }

    /// The target without scheme and authority (RFC 9112, section 3.2.2).
    private static func local(_ target: Substring) throws(Refusal) -> Substring {
        guard target.lowercased().hasPrefix("http://") else { return target }
        let rest = target.dropFirst(7)
        return rest.firstIndex(of: "/").map { rest[$0...] } ?? "/"
    }

    /// Reads a field; returns its name in small letters.
    private mutating func read(_ line: Substring) throws(Refusal) -> String {
        // No space before the colon, no continuation of the line before, no end of a line that others read (RFC 9112,
        // sections 2.2 and 5).
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
            line[..<colon].utf8.allSatisfy({ $0.isLetter || $0.isDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }),
            line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
        else { throw .badRequest }
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var value = line[line.index(after: colon)...].drop(while: isSpace)
        while let last = value.last, isSpace(last) { value.removeLast() }
        let name = line[..<colon].lowercased()
        switch name {
        case "range": range = String(value)
        case "host":
            let isPlain = value.utf8.allSatisfy { $0.isLetter || $0.isDigit || ".-:[]".utf8.contains($0) }
            if isPlain, !value.isEmpty { host = String(value) }
        case "connection":
            if value.lowercased().contains("close") { keepsAlive = false }
            if value.lowercased().contains("keep-alive") { keepsAlive = true }
        case "content-length":
            guard value.utf8.allSatisfy(\.isDigit), let length = Int(value), length <= 1 << 40 else {
                throw .badRequest
            }
            contentLength = length
        case "transfer-encoding": throw .notImplemented
        default: break
        }
        return name
    }
}
