internal import Instrument
internal import InstrumentBackends
internal import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentSockets
internal import InstrumentText

/// The reading of one subject over one connection. Used by one thread at a time.
final class NATSReading {
    /// How a pull is answered, and how long the server keeps it open, in seconds.
    private static let pullSeconds = 1
    /// Messages that follow each other within this time are returned together.
    private static let pause = Duration.milliseconds(50)

    let session: NATSSession
    /// The number of the stream's latest message; nil without a stream.
    private(set) var sequence: UInt64?
    /// The consumer of the stream; nil for live messages.
    private let consumer: (stream: String, name: String)?
    private var consumerSequence: UInt64 = 0
    /// Messages that the latest pull may still bring: a pull that has brought all of them ends without a word.
    private var openCount = 0
    private var unansweredPings = 0

    /// Makes a consumer that ends by itself some minutes after the last pull, or subscribes.
    init(
        _ session: NATSSession,
        _ subject: String,
        from start: NATSStart,
        _ patience: Patience
    ) throws(SessionFailure) {
        self.session = session
        // The largest message that the server takes, with its line.
        session.parser.maxMessageLength = min(128 << 20, max(1 << 20, session.info.maxPayload + 65_536))
        guard let stream = try Self.stream(of: subject, session, patience) else {
            consumer = nil
            try session.send(Array("SUB \(subject) 2\r\n".utf8))
            return
        }
        let (last, name, begin) = try Self.makeConsumer(stream, subject, start, session, patience)
        (consumer, sequence) = ((stream, name), begin ?? last)
    }

    /// The stream that stores a subject; nil if no stream does, or the server has no JetStream.
    private static func stream(
        of subject: String,
        _ session: NATSSession,
        _ patience: Patience
    ) throws(SessionFailure) -> String? {
        let query: JSONValue = ["subject": .string(subject)]
        let answer = try session.request("$JS.API.STREAM.NAMES", query, patience)
        return answer?["streams"]?.elements?.lazy.compactMap(\.string).first { name in
            // The name becomes a part of subjects.
            NATSEndpoint.isSubject(name) && !name.contains(".")
        }
    }

    private static func makeConsumer(
        _ stream: String,
        _ subject: String,
        _ start: NATSStart,
        _ session: NATSSession,
        _ patience: Patience
    ) throws(SessionFailure) -> (last: UInt64?, name: String, begin: UInt64?) {
        let info = try session.request("$JS.API.STREAM.INFO.\(stream)", [:], patience)
        let last = (info?["state"]?["last_seq"]?.int).flatMap { UInt64(exactly: $0) } ?? 0
        var config: [String: JSONValue] = [
            "ack_policy": "none", "replay_policy": "instant", "filter_subject": .string(subject),
            "inactive_threshold": .int(300_000_000_000), "mem_storage": true, "num_replicas": 1,
        ]
        var begin: UInt64?
        switch start {
        case .latest:
            // The number, and not "new": a failure before the first message must not move the beginning.
            config["deliver_policy"] = "by_start_sequence"
            config["opt_start_seq"] = .int(Int(clamping: last + 1))
        case .since(let time):
            config["deliver_policy"] = "by_start_time"
            config["opt_start_time"] = .string(time.rfc3339)
        // A stream that was made again counts from the beginning.
        case .behind(let known) where known > last:
            config["deliver_policy"] = "all"
            begin = 0
        case .behind(let known):
            config["deliver_policy"] = "by_start_sequence"
            config["opt_start_seq"] = .int(Int(clamping: known + 1))
            begin = known
        }
        let request: JSONValue = ["stream_name": .string(stream), "config": .object(config)]
        let answer = try session.request("$JS.API.CONSUMER.CREATE.\(stream)", request, patience)
        guard let name = answer?["name"]?.string, NATSEndpoint.isSubject(name) else {
            let words = answer?["error"]?["description"]?.string ?? "no answer"
            throw SessionFailure(
                .unauthorized,
                "\(session.server): the stream \(stream) gives no consumer: "
                    + (ServerWords.words(words, hiding: session.secrets) ?? "no reason")
            )
        }
        if case .since = start { return (nil, name, nil) }
        return (last, name, begin)
    }

    // MARK: Reading

    /// Waits for messages.
    func next(_ isCancelled: @escaping () -> Bool) throws(SessionFailure) -> ReadMessages {
        var messages = ReadMessages()
        if consumer != nil, openCount == 0 { try pull() }
        var (waited, pending): (Duration, UInt64?) = (.seconds(2), nil)
        var problem: String?
        while messages.values.count < NATSReader.mostMessages, !isCancelled() {
            let isThere = try session.receive(Patience(waited, isCancelled)) { message in
                guard case .message(let subject, let reply, let status, let payload) = message else {
                    if message == .pong { unansweredPings = 0 }
                    return
                }
                unansweredPings = 0
                if consumer == nil { return messages.values.append(payload) }
                if let place = reply.flatMap({ StreamPlace($0) }) {
                    guard problem == nil, place.consumer == consumerSequence + 1 else {
                        return problem = problem ?? "messages were lost on the way"
                    }
                    (consumerSequence, sequence, pending) = (place.consumer, place.stream, place.pending)
                    messages.values.append(payload)
                    openCount = max(0, openCount - 1)
                } else if subject.hasPrefix(session.inbox) {
                    openCount = 0
                    // 404 and 408: there is no message. Others end the consumer.
                    if let status, ![404, 408].contains(status) { problem = "the consumer ended (status \(status))" }
                }
            }
            if let problem { throw SessionFailure(.temporary, "\(session.server): \(problem); reading again") }
            if !isThere {
                if messages.values.isEmpty { try probe() }
                break
            }
            if consumer != nil, openCount == 0 || pending == 0 { break }
            if !messages.values.isEmpty { waited = Self.pause }
        }
        messages.isAtEnd = pending == 0 || messages.values.isEmpty
        return messages
    }

    private func pull() throws(SessionFailure) {
        guard let consumer else { return }
        let request: JSONValue = [
            "batch": .int(NATSReader.mostMessages), "expires": .int(Self.pullSeconds * 1_000_000_000),
        ]
        let subject = "$JS.API.CONSUMER.MSG.NEXT.\(consumer.stream).\(consumer.name)"
        try session.publish(request, to: subject)
        openCount = NATSReader.mostMessages
    }

    /// Asks a server that says nothing whether it is there.
    private func probe() throws(SessionFailure) {
        if unansweredPings >= 4 {
            throw SessionFailure(.temporary, "\(session.server): the server does not answer; reading from another one")
        }
        unansweredPings += 1
        try session.send(ClientCommands.ping)
    }
}

/// Where a message is, as its subject for acknowledgements says.
///
/// `$JS.ACK.STREAM.CONSUMER.DELIVERED.STREAM_SEQUENCE.CONSUMER_SEQUENCE.TIME.PENDING`; newer servers put a domain and
/// an account in front of the stream, and a token at the end.
struct StreamPlace: Hashable {
    let stream: UInt64
    let consumer: UInt64
    let pending: UInt64

    init(stream: UInt64, consumer: UInt64, pending: UInt64) {
        (self.stream, self.consumer, self.pending) = (stream, consumer, pending)
    }

    init?(_ subject: String) {
        let words = subject.split(separator: ".", omittingEmptySubsequences: false)
        guard words.count >= 9, words[0] == "$JS", words[1] == "ACK" else { return nil }
        let first = words.count >= 11 ? 7 : 5
        guard words.indices.contains(first + 3), let stream = UInt64(words[first]),
            let consumer = UInt64(words[first + 1]),
            let pending = UInt64(words[first + 3])
        else { return nil }
        (self.stream, self.consumer, self.pending) = (stream, consumer, pending)
    }
}

extension NATSSession {
    /// Publishes JSON with a new reply subject.
    @discardableResult
    func publish(_ body: JSONValue, to subject: String) throws(SessionFailure) -> String {
        let (payload, reply) = (body.bytes, "\(inbox).\(nextNumber)")
        nextNumber += 1
        try send(Array("PUB \(subject) \(reply) \(payload.count)\r\n".utf8) + payload + Array("\r\n".utf8))
        return reply
    }

    /// Sends a request of JetStream; nil if nobody answers, because the server has no JetStream.
    func request(_ subject: String, _ body: JSONValue, _ patience: Patience) throws(SessionFailure) -> JSONValue? {
        let reply = try publish(body, to: subject)
        var answer: (status: Int?, payload: [UInt8])?
        while answer == nil {
            try exchange(patience, "the server does not answer a request of JetStream in time") { message in
                if case .message(reply, _, let status, let payload) = message { answer = (status, payload) }
            }
        }
        guard let answer, answer.status != 503 else { return nil }
        do { return try JSONValue(parsing: answer.payload) } catch {
            throw SessionFailure(.temporary, "\(server): the answer of JetStream is no JSON")
        }
    }

    /// Waits for messages; false if none came in time.
    func receive(_ patience: Patience, _ receive: (ServerMessage) -> Void) throws(SessionFailure) -> Bool {
        guard stream.waitUntilReady(patience) else { return false }
        try readAndWrite(receive)
        return true
    }
}
