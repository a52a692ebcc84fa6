internal import Instrument
internal import InstrumentJSON
internal import InstrumentSockets
internal import InstrumentText

/// The way to the WebSocket of a browser that listens at a port.
struct DevToolsPort: Sendable {
    /// A WebSocket that is open, and the bytes that came with its opening.
    struct Connected {
        var descriptor: Int32
        var rest: [UInt8]
    }

    private static let maxHeadLength = 16 << 10
    private static let maxBodyLength = 64 << 10

    private let address: HostPort
    private let timeout: Duration
    private let random: RandomSource

    init(_ address: HostPort, timeout: Duration, random: RandomSource) {
        (self.address, self.timeout, self.random) = (address, timeout, random)
    }

    /// Connects. Waits, at most as long as the timeout.
    func connect(isCancelled: @escaping () -> Bool) -> Result<Connected, SocketError> {
        let patience = Patience(timeout, isCancelled)
        do throws(SocketError) {
            return .success(try open(try path(patience), patience))
        } catch {
            return .failure(error)
        }
    }

    /// The path of the browser's WebSocket.
    private func path(_ patience: Patience) throws(SocketError) -> String {
        let socket = try TCPSocket.connect(to: address, patience).get()
        defer { socket.close() }
        try socket.write(WebSocketHandshake.versionRequest(address), patience).get()
        let (head, rest) = try readHead(socket, patience)
        guard head.status == 200 else { throw noBrowser("it answers the status \(head.status)") }
        var body = rest
        let length = head.fields["content-length"].flatMap { Int($0) } ?? Self.maxBodyLength
        while body.count < min(length, Self.maxBodyLength) {
            guard socket.waitUntilReady(toWrite: false, patience) else { throw noBrowser("it does not answer in time") }
            // The end of the connection is the end of a body without a length.
            guard case .success(let piece) = socket.readSome(Self.maxBodyLength) else { break }
            body += piece
        }
        guard let value = try? JSONValue(parsing: body), let text = value["webSocketDebuggerUrl"]?.string,
            let (scheme, place) = SourceText.split(text), scheme == "ws", let slash = place.firstIndex(of: "/")
        else { throw noBrowser("it names no address of a WebSocket") }
        return place[slash...].filter { $0.isASCII && $0 > " " }
    }

    private func open(_ path: String, _ patience: Patience) throws(SocketError) -> Connected {
        let socket = try TCPSocket.connect(to: address, patience).get()
        do throws(SocketError) {
            let key = Base64.encode((0..<2).flatMap { _ in random.next().bytes })
            try socket.write(WebSocketHandshake.request(address, path: path, key: key), patience).get()
            let (head, rest) = try readHead(socket, patience)
            if let refusal = WebSocketHandshake.refusal(head, key: key) {
                throw noBrowser("it answers with \(refusal)")
            }
            return Connected(descriptor: socket.takeBlockingDescriptor(), rest: rest)
        } catch {
            socket.close()
            throw error
        }
    }

    /// Reads a response up to its empty line; what follows is the rest.
    private func readHead(
        _ socket: TCPSocket,
        _ patience: Patience
    ) throws(SocketError) -> (ResponseHead, rest: [UInt8]) {
        let end = Array("\r\n\r\n".utf8)
        var bytes: [UInt8] = []
        while bytes.count < Self.maxHeadLength {
            guard socket.waitUntilReady(toWrite: false, patience) else { throw noBrowser("it does not answer in time") }
            bytes += try socket.readSome(4_096).get()
            guard let range = bytes.firstRange(of: end) else { continue }
            guard let head = ResponseHead(bytes[..<range.lowerBound]) else { break }
            return (head, Array(bytes[range.upperBound...]))
        }
        throw noBrowser("its answer is not one of HTTP")
    }

    private func noBrowser(_ words: String) -> SocketError {
        SocketError(
            "\(address): no Chromium listens there, because \(words); start it with --remote-debugging-port=\(address.port) "
                + "and a separate --user-data-dir"
        )
    }
}

extension UInt64 {
    fileprivate var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (8 * UInt64($0))) } }
}
