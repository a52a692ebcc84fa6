internal import Instrument
internal import InstrumentSockets
internal import InstrumentTLS

/// A TCP connection, with TLS once it was started. Used by one thread at a time.
final class ByteStream {
    private static let readSize = 64 << 10

    private let socket: TCPSocket
    private var tls: TLSEngine?
    /// Bytes that the system has not taken yet.
    private var outgoing: [UInt8] = []
    private var sent = 0

    init(_ socket: TCPSocket) { self.socket = socket }

    deinit { socket.close() }

    /// The number of bytes that wait for the system.
    var waitingCount: Int { outgoing.count - sent }

    /// Queues bytes.
    func send(_ bytes: [UInt8]) throws(SocketError) {
        guard let tls else { return append(bytes) }
        try tls.encrypt(bytes)
        append(tls.takeOutgoing())
    }

    private func append(_ bytes: [UInt8]) {
        if sent == outgoing.count {
            outgoing = bytes
        } else {
            outgoing.removeFirst(sent)
            outgoing += bytes
        }
        sent = 0
    }

    /// Starts TLS, and waits until both sides have.
    ///
    /// - Parameter bytes: what came behind the last plain message.
    func startTLS(_ engine: TLSEngine, _ patience: Patience) throws(SocketError) {
        while true {
            let isComplete = try engine.continueHandshake()
            append(engine.takeOutgoing())
            try write()
            if isComplete { break }
            guard socket.waitUntilReady(toWrite: waitingCount > 0, patience) else {
                throw SocketError("the server does not complete the TLS handshake in time; check that it offers TLS")
            }
            try write()
            engine.receive(try socket.readSome(Self.readSize).get())
        }
        tls = engine
    }

    /// Writes and reads what is possible without waiting; returns what came.
    func exchange() throws(SocketError) -> [UInt8] {
        try write()
        let bytes = try socket.readSome(Self.readSize).get()
        guard let tls else { return bytes }
        tls.receive(bytes)
        let plain = try tls.decrypt()
        // Answers of TLS itself, such as new keys.
        append(tls.takeOutgoing())
        return plain
    }

    /// Waits until the connection can be read, or written if bytes wait; false if the time is up or the task was
    /// cancelled.
    func waitUntilReady(_ patience: Patience) -> Bool {
        socket.waitUntilReady(toWrite: waitingCount > 0, patience)
    }

    private func write() throws(SocketError) {
        while waitingCount > 0 {
            let count = try socket.writeSome(outgoing[sent...]).get()
            if count == 0 { return }
            sent += count
        }
        outgoing.removeAll(keepingCapacity: outgoing.count < Self.readSize)
        sent = 0
    }
}
