internal import InstrumentHTTP

/// The head of a response as it comes in, line by line.
struct ResponseHead {
    private(set) var headers = HTTPHeaders()
    /// Ignores trailers, which come after the beginning of the body.
    var isComplete = false
    private var byteCount = 0
    static let maxBytes = 256 << 10

    /// Takes a line; false once there are too many bytes.
    mutating func add(_ line: UnsafeRawBufferPointer) -> Bool {
        guard !isComplete else { return true }
        byteCount += line.count
        guard byteCount <= Self.maxBytes else { return false }
        // Each response has its own head: interim responses (1xx) come first.
        if line.starts(with: "HTTP/".utf8) {
            headers = HTTPHeaders()
            return true
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return true }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        let value = line[(colon + 1)...].filter { $0 != 13 && $0 != 10 }
        if HTTPHeaders.isToken(name) { headers.append(name, String(decoding: value, as: UTF8.self)) }
        return true
    }
}
