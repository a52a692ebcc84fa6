internal import Instrument
internal import NIOCore

/// The open connections of a server, their limits, and the decision which of them gives way to another.
///
/// A connection that waits for its client gives way when the server is full: one that has sent no request or half a
/// request, then one that does not read its reply. Connections that the server works for do not give way; they are
/// fewer than the limit, so that a new client always finds a place.
final class ServerConnections: Sendable {
    /// What a connection waits for.
    enum Phase: Hashable, Sendable {
        /// The client: it has sent no request, or a part of one.
        case waiting
        /// The client: it has not read the whole reply.
        case sending
        /// The server: it makes a reply, or sends events.
        case held
    }

    private struct Connection {
        let channel: any Channel
        var phase = Phase.waiting
        /// The time of the last change or progress.
        var since = NIODeadline.now()
        var pendingBytes = 0
    }

    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var heldCount = 0
        var pendingBytes = 0
    }

    /// A client that has read nothing for this long may lose its connection to another client's reply.
    private static let patience = TimeAmount.seconds(2)

    private let state = Lock(State())
    private let limit: Int
    private let maxPendingBytes: Int
    /// The places that requests which take long leave free.
    private var reserve: Int { max(1, limit / 8) }

    init(limit: Int, maxPendingBytes: Int) { (self.limit, self.maxPendingBytes) = (max(2, limit), maxPendingBytes) }

    var count: Int { state.withLock { $0.connections.count } }

    /// Adds a connection, for which another closes if there are too many; false if none gives way.
    func add(_ channel: any Channel) -> Bool {
        let identifier = ObjectIdentifier(channel)
        let (isAdded, victim) = state.withLock { state -> (Bool, (any Channel)?) in
            var victim: (any Channel)?
            if state.connections.count >= limit {
                let oldest =
                    Self.oldest(.waiting, in: state.connections) ?? Self.oldest(.sending, in: state.connections)
                guard let oldest else { return (false, nil) }
                victim = Self.remove(oldest, from: &state)
            }
            state.connections[identifier] = Connection(channel: channel)
            return (true, victim)
        }
        victim?.close(promise: nil)
        if isAdded {
            channel.closeFuture.whenComplete { _ in
                self.state.withLock { _ = Self.remove(identifier, from: &$0) }
            }
        }
        return isAdded
    }

    /// Records that a connection waits for its client.
    func wait(_ phase: Phase, _ channel: any Channel) {
        change(channel) { connection, state in
            if connection.phase == .held, phase != .held { state.heldCount -= 1 }
            (connection.phase, connection.since) = (phase, .now())
        }
    }

    /// Records that the server works for a connection; false if it works for too many already, and must refuse.
    ///
    /// - Parameter isShort: whether the work ends at once, so that the number does not matter.
    func hold(_ channel: any Channel, isShort: Bool) -> Bool {
        change(channel) { connection, state in
            if connection.phase == .held { return true }
            guard isShort || state.heldCount < limit - reserve else { return false }
            state.heldCount += 1
            (connection.phase, connection.since) = (.held, .now())
            return true
        } ?? false
    }

    /// Makes room for bytes that a client has to read. Clients that read nothing give way; false without room.
    func reserve(_ bytes: Int, for channel: any Channel) -> Bool {
        let identifier = ObjectIdentifier(channel)
        let (isReserved, victims) = state.withLock { state -> (Bool, [any Channel]) in
            var victims: [any Channel] = []
            let latest = NIODeadline.now() - Self.patience
            while state.pendingBytes > 0, state.pendingBytes + bytes > maxPendingBytes {
                let stalled = state.connections.filter {
                    $0.key != identifier && $0.value.pendingBytes > 0 && $0.value.since < latest
                }
                guard let oldest = stalled.min(by: { $0.value.since < $1.value.since })?.key else {
                    return (false, victims)
                }
                if let victim = Self.remove(oldest, from: &state) { victims.append(victim) }
            }
            guard state.connections[identifier] != nil else { return (false, victims) }
            state.connections[identifier]?.pendingBytes += bytes
            state.pendingBytes += bytes
            return (true, victims)
        }
        for victim in victims { victim.close(promise: nil) }
        return isReserved
    }

    /// Records that bytes have left for a client, which reads.
    func release(_ bytes: Int, of channel: any Channel) {
        change(channel) { connection, state in
            let released = min(bytes, connection.pendingBytes)
            connection.pendingBytes -= released
            state.pendingBytes -= released
            connection.since = .now()
        }
    }

    func closeAll() async {
        for channel in state.withLock({ $0.connections.values.map(\.channel) }) {
            try? await channel.close().get()
        }
    }

    /// Changes a connection; nil if it is closed.
    @discardableResult
    private func change<Result: Sendable>(
        _ channel: any Channel,
        _ body: (inout Connection, inout State) -> Result
    ) -> Result? {
        let identifier = ObjectIdentifier(channel)
        return state.withLock { state in
            guard var connection = state.connections[identifier] else { return nil }
            defer { state.connections[identifier] = connection }
            return body(&connection, &state)
        }
    }

    private static func oldest(
        _ phase: Phase,
        in connections: [ObjectIdentifier: Connection]
    ) -> ObjectIdentifier? {
        connections.filter { $0.value.phase == phase }.min { $0.value.since < $1.value.since }?.key
    }

    private static func remove(_ identifier: ObjectIdentifier, from state: inout State) -> (any Channel)? {
        guard let connection = state.connections.removeValue(forKey: identifier) else { return nil }
        if connection.phase == .held { state.heldCount -= 1 }
        state.pendingBytes -= connection.pendingBytes
        return connection.channel
    }
}
