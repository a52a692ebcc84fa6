package import Instrument
package import InstrumentBackends
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

/// Reads a subject: through a consumer of the JetStream stream that stores it, else from the server's live messages.
///
/// A failure ends the connection; the next call opens another one, and continues behind the messages that were
/// returned. Live messages of a subject that no stream stores are lost while no connection stands.
package final class NATSReader: Sendable {
    /// Messages that are returned at once.
    static let mostMessages = 2_000
    /// A server that answers nothing for this long is left.
    static let patience = Duration.seconds(10)

    private struct Position {
        var reading: NATSReading?
        var pool: ServerPool
        var start: NATSStart
    }

    private let endpoint: NATSEndpoint
    private let randomness: RandomSource
    private let reads: SerialReading<Position>
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
        let position = Position(pool: ServerPool(endpoint.addresses), start: start)
        reads = SerialReading(label: "instrument.nats.reader", position)
        if case .behind(let sequence) = start { known.withLock { $0 = sequence } }
    }

    /// The number of the stream's latest message that was returned; nil before one, and without a stream.
    package var sequence: UInt64? { known.withLock { $0 } }

    /// Waits for messages, some seconds at most.
    /// - Throws: ``NATSError`` if no server answers, or refuses.
    package func next() async throws(NATSError) -> ReadMessages {
        do throws(SessionFailure) {
            return try await reads.read { [self] position, isCancelled throws(SessionFailure) in
                try read(from: &position, isCancelled)
            }
        } catch {
            throw NATSError(.unreadable, error.reason)
        }
    }

    /// Closes the connection.
    package func close() async { await reads.change { $0.reading = nil } }

    // MARK: On the dispatch queue

    private func read(
        from position: inout Position,
        _ isCancelled: @escaping () -> Bool
    ) throws(SessionFailure) -> ReadMessages {
        let reading = try reading(at: &position, isCancelled)
        do throws(SessionFailure) {
            let messages = try reading.next(isCancelled)
            if let sequence = reading.sequence {
                known.withLock { $0 = sequence }
                position.start = .behind(sequence)
            }
            return messages
        } catch {
            position.pool.left(reading.session.server)
            position.reading = nil
            throw error
        }
    }

    private func reading(
        at position: inout Position,
        _ isCancelled: @escaping () -> Bool
    ) throws(SessionFailure) -> NATSReading {
        if let reading = position.reading, !reading.session.info.isLeaving || position.pool.candidates.count == 1 {
            return reading
        }
        var failure = SessionFailure(.temporary, "no server is configured")
        for server in position.pool.candidates {
            do throws(SessionFailure) {
                let name = position.pool.certificateName(of: server)
                let patience = Patience(Self.patience, isCancelled)
                let session = try NATSSession(server, name: name, endpoint, randomness, patience)
                let reading = try NATSReading(session, endpoint.subject, from: position.start, patience)
                position.pool.connected(to: server, reporting: session.info.servers)
                // From now on, a failure loses nothing.
                if let sequence = reading.sequence { position.start = .behind(sequence) }
                position.reading = reading
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
