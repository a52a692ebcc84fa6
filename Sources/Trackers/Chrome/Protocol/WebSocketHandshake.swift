internal import Instrument
internal import InstrumentText

/// The opening of a WebSocket (RFC 6455, section 4), and the request before it that asks Chromium for its address.
enum WebSocketHandshake {
    /// Asks for the address of the browser's WebSocket.
    static func versionRequest(_ address: HostPort) -> [UInt8] {
        Array("GET /json/version HTTP/1.1\r\nHost: \(host(address))\r\nConnection: close\r\n\r\n".utf8)
    }

    /// A request without `Origin`: Chromium refuses pages, not programs.
    static func request(_ address: HostPort, path: String, key: String) -> [UInt8] {
        let fields = [
            "GET \(path) HTTP/1.1", "Host: \(host(address))", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
        ]
        return Array((fields.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// The value of `Sec-WebSocket-Accept` that answers a key (RFC 6455, section 4.2.2).
    static func acceptance(of key: String) -> String {
        Base64.encode(SHA1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }

    /// Whether a response opens the WebSocket; the reason why not.
    static func refusal(_ head: ResponseHead, key: String) -> String? {
        guard head.status == 101 else { return "the status \(head.status) in place of 101 Switching Protocols" }
        guard head.fields["sec-websocket-accept"] == acceptance(of: key) else {
            return "an answer to another WebSocket key"
        }
        return nil
    }

    private static func host(_ address: HostPort) -> String { "\(address)" }
}

/// The status and the fields of a response of HTTP/1.1.
struct ResponseHead: Hashable, Sendable {
    var status: Int
    /// By names in lower case; the last of several.
    var fields: [String: String] = [:]

    /// Reads what comes before the empty line; nil if it is not the head of a response.
    init?(_ bytes: some Sequence<UInt8>) {
        let lines = String(decoding: Array(bytes), as: UTF8.self).split(separator: "\r\n")
        guard let first = lines.first, first.hasPrefix("HTTP/1."),
            let status = first.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        self.status = status
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingSpaces
        }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        let begin = drop { $0 == " " || $0 == "\t" }
        return String(begin.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

/// SHA-1 (FIPS 180-4), which the handshake of a WebSocket needs; it protects nothing.
enum SHA1 {
    static func digest(of message: [UInt8]) -> [UInt8] {
        var hash: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        let length = UInt64(message.count) * 8
        padded += (0..<8).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * UInt64($0))) }
        for begin in stride(from: 0, to: padded.count, by: 64) { add(padded[begin..<(begin + 64)], to: &hash) }
        return hash.flatMap { word in (0..<4).reversed().map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) } }
    }

    private static func add(_ block: ArraySlice<UInt8>, to hash: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { place in
            block[place..<(place + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            words.append(rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
        }
        var (a, b, c, d, e) = (hash[0], hash[1], hash[2], hash[3], hash[4])
        for (index, word) in words.enumerated() {
            let (mix, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: (b & c | ~b & d, 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            (a, b, c, d, e) = (rotate(a, 5) &+ mix &+ e &+ constant &+ word, a, rotate(b, 30), c, d)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { hash[index] &+= word }
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}
