internal import Instrument
internal import InstrumentBackends
internal import InstrumentSockets
internal import InstrumentTLS
internal import InstrumentText

/// A connection that a server has accepted. Used by one thread at a time.
final class NATSSession {
    /// While more bytes than this wait for the system, no further message is encoded.
    private static let maxWaitingCount = 256 << 10

    let server: HostPort
    private(set) var info: ServerInfo
    let stream: ByteStream
    let secrets: [String]
    /// The subject of confirmations, without the number of the message.
    let inbox: String
    var parser = ServerMessageParser()
    var nextNumber = 0

    // MARK: Opening

    /// Connects and logs in.
    ///
    /// - Parameters:
    ///   - server: the server.
    ///   - name: the name that the server's certificate must have.
    ///   - endpoint: TLS and the login.
    ///   - patience: the time limit.
    init(
        _ server: HostPort,
        name: String,
        _ endpoint: NATSEndpoint,
        _ randomness: RandomSource,
        _ patience: Patience
    ) throws(SessionFailure) {
        self.server = server
        secrets = endpoint.login?.secrets ?? []
        inbox = "_INBOX." + randomness.identifier().filter { $0 != "-" }
        let socket: TCPSocket
        switch TCPSocket.connect(to: server, patience) {
        case .success(let connected): socket = connected
        case .failure(let error): throw SessionFailure(error)
        }
        stream = ByteStream(socket)
        info = try Self.info(stream, &parser, server, patience)
        guard info.hasHeaders else {
            throw SessionFailure(.unauthorized, "\(server): the server supports no headers; use NATS 2.2 or later")
        }
        let isEncrypted = try startTLS(name, endpoint.tls, patience)
        try logIn(endpoint.login, isEncrypted: isEncrypted, patience)
    }

    private static func info(
        _ stream: ByteStream,
        _ parser: inout ServerMessageParser,
        _ server: HostPort,
        _ patience: Patience
    ) throws(SessionFailure) -> ServerInfo {
        while true {
            do throws(ProtocolError) {
                if let message = try parser.next() {
                    guard case .info(let json) = message, let info = ServerInfo(json) else {
                        throw ProtocolError("the server does not introduce itself as a NATS server; check the address")
                    }
                    return info
                }
            } catch {
                throw SessionFailure(error, of: server)
            }
            do throws(SocketError) {
                guard stream.waitUntilReady(patience) else {
                    throw SocketError("\(server): the server does not introduce itself in time; check the address")
                }
                parser.feed(try stream.exchange())
            } catch {
                throw SessionFailure(error)
            }
        }
    }

    /// Starts TLS if the app or the server wants it; whether the connection is encrypted.
    private func startTLS(_ name: String, _ tls: TLSFiles?, _ patience: Patience) throws(SessionFailure) -> Bool {
        if tls == nil, !info.requiresTLS { return false }
        guard info.offersTLS else {
            throw SessionFailure(.unauthorized, "\(server): the server offers no TLS; enable TLS on the server")
        }
        do throws(SocketError) {
            try stream.startTLS(TLSEngine(TLSContext.client(tls ?? TLSFiles()), host: name), patience)
        } catch {
            let kind: SessionFailure.Kind = error.description.contains("certificate") ? .unauthorized : .temporary
            throw SessionFailure(kind, "\(server): \(error.description)")
        }
        return true
    }

    private func logIn(_ login: NATSLogin?, isEncrypted: Bool, _ patience: Patience) throws(SessionFailure) {
        guard let connect = ClientCommands.connect(login, info, isEncrypted: isEncrypted) else {
            throw SessionFailure(.unauthorized, "\(server): the nonce cannot be signed with the key")
        }
        try send(connect + ClientCommands.subscribe(inbox) + ClientCommands.ping)
        var isAnswered = false
        while !isAnswered {
            try exchange(patience, "the server does not answer the login in time") { message in
                if message == .pong { isAnswered = true }
            }
        }
    }

    // MARK: Using

    /// Reads what has come and answers pings, without waiting.
    ///
    /// - Throws: `SessionFailure` if the connection has ended.
    func serve() throws(SessionFailure) { try readAndWrite { _ in } }

    /// Publishes messages in their order and passes each answer to `receive`, with the message's index.
    ///
    /// - Parameters:
    ///   - messages: the messages.
    ///   - maxUnconfirmed: the most messages under way.
    ///   - patience: the time limit.
    ///   - receive: returns false if no further message must be sent.
    func publish(
        _ messages: [OutgoingMessage],
        maxUnconfirmed: Int,
        _ patience: Patience,
        _ receive: (Int, PublishAnswer) -> Bool
    ) throws(SessionFailure) {
        let first = nextNumber
        let replySubject = Array(inbox.utf8)
        var isAnswered = [Bool](repeating: false, count: messages.count)
        var (sentCount, answeredCount, mayContinue) = (0, 0, true)
        while answeredCount < sentCount || mayContinue && sentCount < messages.count {
            var bytes: [UInt8] = []
            while mayContinue, sentCount < messages.count, sentCount - answeredCount < maxUnconfirmed,
                stream.waitingCount + bytes.count < Self.maxWaitingCount
            {
                ClientCommands.append(messages[sentCount], replyTo: replySubject, nextNumber, to: &bytes)
                sentCount += 1
                nextNumber += 1
            }
            if !bytes.isEmpty { try send(bytes) }
            try exchange(patience, "the server does not confirm messages in time") { message in
                guard case .message(let subject, _, let status, let payload) = message,
                    let number = number(ofReply: subject), number >= first, number < nextNumber,
                    !isAnswered[number - first]
                else { return }
                isAnswered[number - first] = true
                answeredCount += 1
                let answer = PublishAnswer(status: status, payload: payload, secrets: secrets)
                if !receive(number - first, answer) { mayContinue = false }
            }
        }
    }

    private func number(ofReply subject: String) -> Int? {
        guard subject.hasPrefix(inbox), let dot = subject.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        return Int(subject[subject.utf8.index(after: dot)...])
    }

    // MARK: Bytes

    func send(_ bytes: [UInt8]) throws(SessionFailure) {
        do throws(SocketError) { try stream.send(bytes) } catch { throw SessionFailure(error) }
    }

    /// Waits for the connection once, then reads and writes.
    func exchange(
        _ patience: Patience,
        _ late: String,
        _ receive: (ServerMessage) -> Void
    ) throws(SessionFailure) {
        guard stream.waitUntilReady(patience) else { throw SessionFailure(SocketError("\(server): \(late)")) }
        try readAndWrite(receive)
    }

    func readAndWrite(_ receive: (ServerMessage) -> Void) throws(SessionFailure) {
        do throws(SocketError) { parser.feed(try stream.exchange()) } catch {
            // A server says why before it closes the connection, and that may have come before.
            try handleMessages(receive)
            throw SessionFailure(error)
        }
        try handleMessages(receive)
    }

    private func handleMessages(_ receive: (ServerMessage) -> Void) throws(SessionFailure) {
        while let message = try nextMessage() {
            switch message {
            case .ping: try send(ClientCommands.pong)
            case .info(let json): if let info = ServerInfo(json) { self.info = info }
            case .error(let words): throw SessionFailure(serverError: words, of: server, hiding: secrets)
            case .message, .pong: receive(message)
            case .ok: break
            }
        }
    }

    private func nextMessage() throws(SessionFailure) -> ServerMessage? {
        do throws(ProtocolError) { return try parser.next() } catch { throw SessionFailure(error, of: server) }
    }
}
