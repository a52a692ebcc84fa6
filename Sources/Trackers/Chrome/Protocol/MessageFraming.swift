internal import Instrument
internal import InstrumentText

/// The form of messages on a connection.
struct MessageFraming: Sendable {
    /// What came from the browser, and what has to be sent back at once.
    enum Input: Hashable, Sendable {
        case message([UInt8])
        case tooLong
        case reply([UInt8])
        case ended(String)
    }

    private enum Form {
        /// JSON ended by NUL, over `--remote-debugging-pipe`.
        case pipe(LineSplitter)
        case webSocket(WebSocketReader, RandomSource)
    }

    private var form: Form

    static func pipe(maxLength: Int) -> MessageFraming {
        MessageFraming(form: .pipe(LineSplitter(maxLength: maxLength, separator: 0)))
    }

    static func webSocket(maxLength: Int, random: RandomSource) -> MessageFraming {
        MessageFraming(form: .webSocket(WebSocketReader(maxLength: maxLength), random))
    }

    /// The messages that a piece completes.
    mutating func append(_ piece: [UInt8]) -> [Input] {
        switch form {
        case .pipe(var splitter):
            // One owner of the bytes, so that no piece copies what waits.
            form = .pipe(LineSplitter(maxLength: 1))
            defer { form = .pipe(splitter) }
            return splitter.append(piece).map { line in
                switch line {
                case .whole(let bytes): .message(bytes)
                case .tooLong: .tooLong
                }
            }
        case .webSocket(var reader, let random):
            form = .pipe(LineSplitter(maxLength: 1))
            defer { form = .webSocket(reader, random) }
            do throws(WebSocketReader.Violation) {
                return try reader.append(piece).map { event in
                    switch event {
                    case .message(let bytes): .message(bytes)
                    case .tooLong: .tooLong
                    case .ping(let content): .reply(Self.frame(.pong, content, random))
                    case .closed: .ended("the browser closed the WebSocket")
                    }
                }
            } catch {
                return [.ended("the browser breaks the WebSocket protocol: \(error)")]
            }
        }
    }

    /// A message as it is sent.
    func framed(_ message: [UInt8]) -> [UInt8] {
        switch form {
        case .pipe: message + [0]
        case .webSocket(_, let random): Self.frame(.text, message, random)
        }
    }

    private static func frame(_ code: WebSocketWriter.Code, _ content: [UInt8], _ random: RandomSource) -> [UInt8] {
        WebSocketWriter.frame(code, content, mask: UInt32(truncatingIfNeeded: random.next()))
    }
}
