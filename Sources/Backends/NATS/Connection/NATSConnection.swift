internal import Dispatch
internal import Instrument
internal import InstrumentSockets

/// One connection to a cluster, opened when needed and kept.
///
/// Its system calls run on a separate dispatch queue, because looking up a name and waiting for confirmations block.
final class NATSConnection: Sendable {
    /// A connection without deliveries is read this often, to answer the server's pings. Servers ask every two minutes.
    private static let idleInterval = DispatchTimeInterval.seconds(15)

    /// Unchecked: every access is in a block of the connection's serial dispatch queue.
    private final class Confined: @unchecked Sendable {
        var session: NATSSession?
        var pool: ServerPool
        var isIdleServiceScheduled = false

        init(_ endpoint: NATSEndpoint) { pool = ServerPool(endpoint.addresses) }
    }

    private let endpoint: NATSEndpoint
    private let timeout: Duration
    private let maxUnconfirmed: Int
    private let randomness: RandomSource
    private let queue = DispatchQueue(label: "instrument.nats")
    private let confined: Confined

    init(_ endpoint: NATSEndpoint, _ configuration: NATSConfiguration, _ randomness: RandomSource) {
        self.endpoint = endpoint
        timeout = configuration.timeout
        maxUnconfirmed = configuration.maxUnconfirmed
        self.randomness = randomness
        confined = Confined(endpoint)
    }

    /// Publishes messages and returns once each is confirmed or refused: the outcome, and the samples whose messages
    /// are stored.
    func deliver(_ messages: [OutgoingMessage]) async -> (outcome: DeliveryOutcome, stored: [SampleID]) {
        let isCancelled = Lock(false)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    let result = deliver(messages) { isCancelled.withLock { $0 } }
                    continuation.resume(returning: result)
                    serveWhileIdle()
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    /// Closes the connection once no delivery is under way.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [confined] in
                confined.session = nil
                continuation.resume()
            }
        }
    }

    // MARK: On the dispatch queue

    private func deliver(
        _ messages: [OutgoingMessage],
        _ isCancelled: @escaping () -> Bool
    ) -> (outcome: DeliveryOutcome, stored: [SampleID]) {
        if isCancelled() { return (.retry(after: nil, reason: SocketError.cancelled.description), []) }
        var stored: [SampleID] = []
        do throws(SessionFailure) {
            let session = try session(isCancelled)
            var results = PublishResults(messages, limit: session.info.maxPayload)
            defer { stored = results.stored }
            let waiting = results.waiting
            do throws(SessionFailure) {
                try session.publish(waiting, maxUnconfirmed: maxUnconfirmed, Patience(timeout, isCancelled)) {
                    results.record($1, of: waiting[$0].id)
                }
            } catch {
                leave(session)
                throw error
            }
            return (results.outcome, results.stored)
        } catch {
            return (error.outcome, stored)
        }
    }

    private func leave(_ session: NATSSession) {
        confined.pool.left(session.server)
        confined.session = nil
    }

    /// The session that stands, or a new one with the first server that accepts.
    private func session(_ isCancelled: @escaping () -> Bool) throws(SessionFailure) -> NATSSession {
        if let session = confined.session {
            do throws(SessionFailure) {
                try session.serve()
                // A server that is about to end keeps its connections for a while; without another server it is used
                // until then.
                if !session.info.isLeaving || confined.pool.candidates.count == 1 { return session }
                leave(session)
            } catch {
                leave(session)
            }
        }
        var failure = SessionFailure(.temporary, "no server is configured")
        for server in confined.pool.candidates {
            do throws(SessionFailure) {
                let name = confined.pool.certificateName(of: server)
                let session = try NATSSession(server, name: name, endpoint, randomness, Patience(timeout, isCancelled))
                confined.pool.connected(to: server, reporting: session.info.servers)
                confined.session = session
                return session
            } catch {
                // What an operator has to change explains more than a server that is not there.
                if failure.kind == .temporary { failure = error }
            }
            if isCancelled() { break }
        }
        throw failure
    }

    private func serveWhileIdle() {
        if confined.isIdleServiceScheduled || confined.session == nil { return }
        confined.isIdleServiceScheduled = true
        queue.asyncAfter(deadline: .now() + Self.idleInterval) { [weak self] in
            guard let self else { return }
            confined.isIdleServiceScheduled = false
            do throws(SessionFailure) { try confined.session?.serve() } catch { confined.session = nil }
            serveWhileIdle()
        }
    }
}
