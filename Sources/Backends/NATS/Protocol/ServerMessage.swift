internal import Instrument
internal import InstrumentText

/// What a server sends.
enum ServerMessage: Hashable {
    /// About the server, as JSON.
    case info([UInt8])
    /// A message of a subscription. `reply` is the subject of answers to the message, `status` the code of a message
    /// that stands for an error, such as 503 for no responders.
    case message(subject: String, reply: String? = nil, status: Int?, payload: [UInt8])
    case ping
    case pong
    case ok
    /// `-ERR`, without quotes.
    case error(String)
}

/// Reads a server's messages from bytes that come in pieces of any size. What a server may send is bounded.
struct ServerMessageParser {
    /// The longest line; `INFO` lists the servers of a cluster.
    private static let maxLineLength = 256 << 10
    /// The longest message. Confirmations have a few hundred bytes; a reader of samples sets the server's limit.
    var maxMessageLength = 1 << 20

    /// A message whose line was read, and whose content is not complete.
    private struct Incomplete {
        let subject: String
        let reply: String?
        let headerCount: Int
        let count: Int
    }

    private var bytes: [UInt8] = []
    private var start = 0
    /// Bytes before this index have no line feed.
    private var searched = 0
    private var incomplete: Incomplete?

    /// Adds bytes behind those that were not read yet.
    mutating func feed(_ piece: [UInt8]) {
        if start > 0, start == bytes.count || start > 1 << 16 {
            bytes.removeFirst(start)
            searched = max(0, searched - start)
            start = 0
        }
        bytes += piece
    }

    /// The next whole message; nil if more bytes are needed.
    ///
    /// - Throws: ``ProtocolError`` for bytes that are no message.
    mutating func next() throws(ProtocolError) -> ServerMessage? {
        if let incomplete { return try content(of: incomplete) }
        guard let bytes = try line() else { return nil }
        // Almost every line.
        if bytes.starts(with: "MSG ".utf8) { return try message(bytes.dropFirst(4), hasHeaders: false) }
        let line = Substring(String(decoding: bytes, as: UTF8.self))
        let (name, rest) = line.split(at: " ")
        switch name.uppercased() {
        case "INFO": return .info(Array((rest ?? "").utf8))
        case "PING": return .ping
        case "PONG": return .pong
        case "+OK": return .ok
        case "-ERR":
            let words = (rest ?? "").trimmingSpaces
            return .error(String(words.hasPrefix("'") && words.hasSuffix("'") ? words.dropFirst().dropLast() : words))
        case "MSG": return try message(Array((rest ?? "").utf8)[...], hasHeaders: false)
        case "HMSG": return try message(Array((rest ?? "").utf8)[...], hasHeaders: true)
        default: throw ProtocolError("the server sent an unknown message")
        }
    }

    private mutating func line() throws(ProtocolError) -> ArraySlice<UInt8>? {
        searched = max(searched, start)
        guard let end = bytes[searched...].firstIndex(of: 0x0A) else {
            searched = bytes.count
            if bytes.count - start > Self.maxLineLength {
                throw ProtocolError("the server sent a line that is too long")
            }
            return nil
        }
        if end - start > Self.maxLineLength { throw ProtocolError("the server sent a line that is too long") }
        var line = bytes[start..<end]
        if line.last == 0x0D { line = line.dropLast() }
        start = end + 1
        searched = start
        return line
    }

    /// `SUBJECT SID [REPLY] [HEADERS] TOTAL`.
    private mutating func message(_ rest: ArraySlice<UInt8>, hasHeaders: Bool) throws(ProtocolError) -> ServerMessage? {
        let words = rest.split(separator: UInt8(ascii: " "))
        let numbers = words.suffix(hasHeaders ? 2 : 1).map { Int(String(decoding: $0, as: UTF8.self)) ?? -1 }
        guard words.count >= (hasHeaders ? 4 : 3), let subject = words.first, let count = numbers.last,
            let headerCount = hasHeaders ? numbers.first : 0, 0...maxMessageLength ~= count,
            0...count ~= headerCount
        else { throw ProtocolError("the server sent a message with an invalid length") }
        let counts = hasHeaders ? 2 : 1
        let reply = words.count > 2 + counts ? String(decoding: words[2], as: UTF8.self) : nil
        return try content(
            of: Incomplete(
                subject: String(decoding: subject, as: UTF8.self),
                reply: reply,
                headerCount: headerCount,
                count: count
            )
        )
    }

    private mutating func content(of message: Incomplete) throws(ProtocolError) -> ServerMessage? {
        guard bytes.count - start >= message.count + 2 else {
            incomplete = message
            return nil
        }
        incomplete = nil
        let end = start + message.count
        guard bytes[end] == 0x0D, bytes[end + 1] == 0x0A else {
            throw ProtocolError("the server sent a message that is longer than its length")
        }
        let headers = bytes[start..<start + message.headerCount]
        let payload = Array(bytes[start + message.headerCount..<end])
        start = end + 2
        return .message(
            subject: message.subject,
            reply: message.reply,
            status: Self.status(headers),
            payload: payload
        )
    }

    /// The code in `NATS/1.0 503`; nil without one.
    private static func status(_ headers: ArraySlice<UInt8>) -> Int? {
        let line = headers.prefix { $0 != 0x0D && $0 != 0x0A }
        let words = line.split(separator: 0x20)
        return words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) : nil
    }
}

/// Bytes of a server that are not the protocol.
struct ProtocolError: Error, Hashable {
    let description: String
    init(_ description: String) { self.description = description }
}
