internal import Dispatch
package import Instrument
internal import InstrumentSockets
internal import InstrumentTLS

/// Where a reader of a subject begins.
package enum NATSStart: Hashable, Sendable {
    /// With what is published from now on.
    case latest
    /// With what the stream has stored since a time.
    case since(WallTime)
    /// Behind a number of the stream.
    case behind(UInt64)
}

/// Messages of a subject.
package struct NATSMessages: Sendable {
    /// The payloads, in their order.
    package var values: [[UInt8]] = []
    /// Whether there was nothing newer.
    package var isAtEnd = false
}

/// Reads a subject: through a consumer of the JetStream stream that stores it, else from the server's live messages.
///
/// A failure ends the connection; the next call opens another one, and continues behind the messages that were
/// returned. Live messages of a subject that no stream stores are lost while no connection stands.
package final class NATSReader: Sendable {
    /// Messages that are returned at once.
    static let mostMessages = 2_000
    /// A server that answers nothing for this long is left.
    static let patience = Duration.seconds(10)

    /// Unchecked: every access is in a block of the reader's serial dispatch queue.
    private final class Confined: @unchecked Sendable {
        var reading: NATSReading?
        var pool: ServerPool
        var start: NATSStart
        init(_ endpoint: NATSEndpoint, _ start: NATSStart) {
            (pool, self.start) = (ServerPool(endpoint.addresses), start)
        }
    }

    private let endpoint: NATSEndpoint
    private let randomness: RandomSource
    private let queue = DispatchQueue(label: "instrument.nats.reader")
    private let confined: Confined
    private let known = Lock<UInt64?>(nil)

    /// - Throws: ``NATSError`` with the code `invalidCertificate` if a file of TLS cannot be read.
    package init(
        _ endpoint: NATSEndpoint,
        from start: NATSStart,
        randomness: RandomSource = RandomSource()
    ) throws(NATSError) {
        if let tls = endpoint.tls {
            do throws(SocketError) { _ = try TLSContext.client(tls) } catch {
                throw NATSError(.invalidCertificate, error.description)
            }
        }
        (self.endpoint, self.randomness) = (endpoint, randomness)
        confined = Confined(endpoint, start)
        if case .behind(let sequence) = start { known.withLock { $0 = sequence } }
    }

    /// The number of the stream's latest message that was returned; nil before one, and without a stream.
    package var sequence: UInt64? { known.withLock { $0 } }

    /// Waits for messages, some seconds at most.
    /// - Throws: ``NATSError`` if no server answers, or refuses.
    package func next() async throws(NATSError) -> NATSMessages {
        let isCancelled = Lock(false)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    let result = Result { () throws(SessionFailure) in try read { isCancelled.withLock { $0 } } }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        return try result.mapError { NATSError(.unreadable, $0.reason) }.get()
    }

    /// Closes the connection.
    package func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [confined] in
                confined.reading = nil
                continuation.resume()
            }
        }
    }

    // MARK: On the dispatch queue

    private func read(_ isCancelled: @escaping () -> Bool) throws(SessionFailure) -> NATSMessages {
        let reading = try reading(isCancelled)
        do throws(SessionFailure) {
            let messages = try reading.next(isCancelled)
            if let sequence = reading.sequence {
                known.withLock { $0 = sequence }
                confined.start = .behind(sequence)
            }
            return messages
        } catch {
            confined.pool.left(reading.session.server)
            confined.reading = nil
            throw error
        }
    }

    private func reading(_ isCancelled: @escaping () -> Bool) throws(SessionFailure) -> NATSReading {
        if let reading = confined.reading, !reading.session.info.isLeaving || confined.pool.candidates.count == 1 {
            return reading
        }
        var failure = SessionFailure(.temporary, "no server is configured")
        for server in confined.pool.candidates {
            do throws(SessionFailure) {
                let name = confined.pool.certificateName(of: server)
                let patience = Patience(Self.patience, isCancelled)
                let session = try NATSSession(server, name: name, endpoint, randomness, patience)
                let reading = try NATSReading(session, endpoint.subject, from: confined.start, patience)
                confined.pool.connected(to: server, reporting: session.info.servers)
                // From now on, a failure loses nothing.
                if let sequence = reading.sequence { confined.start = .behind(sequence) }
                confined.reading = reading
                return reading
            } catch {
                // What an operator has to change explains more than a server that is not there.
                if failure.kind == .temporary { failure = error }
            }
            if isCancelled() { break }
        }
        throw failure
    }
}

extension NATSError.Code {
    /// A subject cannot be read now.
    static let unreadable = NATSError.Code("unreadable")
}
