/// Reads the frames that a WebSocket server sends (RFC 6455, section 5), and puts the pieces of messages together.
struct WebSocketReader: Sendable {
    enum Event: Hashable, Sendable {
        /// A text or binary message.
        case message([UInt8])
        /// A message that was longer than allowed, and was skipped.
        case tooLong
        case ping([UInt8])
        case closed
    }

    /// The peer broke the protocol.
    struct Violation: Error, Hashable, CustomStringConvertible { let description: String }

    private let maxLength: Int
    private var pending: [UInt8] = []
    private var message: [UInt8] = []
    private var isInMessage = false
    private var isSkipping = false
    /// The bytes of a frame that is being skipped.
    private var skipCount = 0
    private var skippedFrameIsLast = false

    /// Creates a reader of messages of at most `maxLength` bytes.
    init(maxLength: Int) { self.maxLength = max(1, maxLength) }

    /// The events that a piece completes.
    mutating func append(_ piece: [UInt8]) throws(Violation) -> [Event] {
        pending += piece
        var (events, place) = ([Event](), 0)
        while try step(&place, &events) {}
        pending.removeFirst(place)
        return events
    }

    /// Takes one frame, or a part of a skipped one; false if more bytes are needed.
    private mutating func step(_ place: inout Int, _ events: inout [Event]) throws(Violation) -> Bool {
        if skipCount > 0 {
            let count = min(skipCount, pending.count - place)
            (place, skipCount) = (place + count, skipCount - count)
            if skipCount > 0 { return false }
            if skippedFrameIsLast { endSkipped(&events) }
            return true
        }
        let rest = pending[place...]
        guard rest.count >= 2 else { return false }
        let (first, second) = (rest[place], rest[place + 1])
        guard first & 0x70 == 0 else { throw Violation(description: "a frame has reserved bits") }
        guard second & 0x80 == 0 else { throw Violation(description: "the server masks a frame") }
        guard let (length, headerLength) = try Self.length(second, rest.dropFirst(2)) else { return false }
        let (isLast, code) = (first & 0x80 != 0, first & 0x0F)
        if code >= 8 {
            guard isLast, length <= 125 else {
                throw Violation(description: "a control frame is in pieces or too long")
            }
        } else {
            guard (code == 0) == isInMessage, code <= 2 else {
                throw Violation(description: "a frame continues no message, or breaks one")
            }
            if isSkipping || length > maxLength - message.count {
                (message, isSkipping, isInMessage, skippedFrameIsLast) = ([], true, true, isLast)
                (place, skipCount) = (place + headerLength, length)
                if length == 0, isLast { endSkipped(&events) }
                return true
            }
        }
        guard rest.count - headerLength >= length else { return false }
        let content = rest.dropFirst(headerLength).prefix(length)
        place += headerLength + length
        switch code {
        case 8: events.append(.closed)
        case 9: events.append(.ping(Array(content)))
        case 10: break
        case 0, 1, 2:
            message += content
            isInMessage = !isLast
            if isLast {
                events.append(.message(message))
                message = []
            }
        default: throw Violation(description: "a frame has the unknown code \(code)")
        }
        return true
    }

    private mutating func endSkipped(_ events: inout [Event]) {
        (isSkipping, isInMessage, skippedFrameIsLast) = (false, false, false)
        events.append(.tooLong)
    }

    /// The length of a frame's content and of its header; nil if more bytes are needed.
    private static func length(
        _ second: UInt8,
        _ rest: ArraySlice<UInt8>
    ) throws(Violation) -> (content: Int, header: Int)? {
        let short = Int(second & 0x7F)
        if short < 126 { return (short, 2) }
        let count = short == 126 ? 2 : 8
        guard rest.count >= count else { return nil }
        let number = rest.prefix(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard number <= UInt64(Int32.max) else { throw Violation(description: "a frame of more than 2 GiB") }
        return (Int(number), 2 + count)
    }
}

/// Writes the frames of a WebSocket client, whose content is masked (RFC 6455, section 5.3).
enum WebSocketWriter {
    enum Code: UInt8 { case text = 1, close = 8, pong = 10 }

    static func frame(_ code: Code, _ content: [UInt8], mask: UInt32) -> [UInt8] {
        var frame: [UInt8] = [0x80 | code.rawValue]
        frame.reserveCapacity(content.count + 14)
        switch content.count {
        case ..<126: frame.append(0x80 | UInt8(content.count))
        case ...0xFFFF:
            frame.append(0x80 | 126)
            frame += bytes(of: UInt64(content.count), 2)
        default:
            frame.append(0x80 | 127)
            frame += bytes(of: UInt64(content.count), 8)
        }
        let key = bytes(of: UInt64(mask), 4)
        frame += key
        for (index, byte) in content.enumerated() { frame.append(byte ^ key[index & 3]) }
        return frame
    }

    private static func bytes(of number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
}
