internal import InstrumentHTTP

/// The head of a response as it comes in, line by line.
struct ResponseHead {
    private(set) var headers = HTTPHeaders()
    /// The codings that `Content-Encoding` names, which each piece of the body needs.
    private(set) var contentCodings: [String] = []
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
            (headers, contentCodings) = (HTTPHeaders(), [])
            return true
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return true }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        guard HTTPHeaders.isToken(name) else { return true }
        headers.append(name, Self.value(line[(colon + 1)...]))
        if headers.fields.last?.isNamed("Content-Encoding") == true { contentCodings = headers.contentCodings }
        return true
    }

    /// The text of a value, without the end of its line and other line breaks.
    private static func value(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let isBreak = { (byte: UInt8) in byte == 13 || byte == 10 }
        var line = bytes
        while let last = line.last, isBreak(last) { line.removeLast() }
        if line.contains(where: isBreak) { return String(decoding: line.filter { !isBreak($0) }, as: UTF8.self) }
        return String(decoding: line, as: UTF8.self)
    }
}
