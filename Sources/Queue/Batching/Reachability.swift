/// Reports whether a network is available.
///
/// Without a network, the queue sends nothing to backends that need one, and drops nothing because of that. When a
/// network returns, the queue delivers at once.
public protocol Reachability: Sendable {
    /// Whether a network is available now. Called before each delivery, on a backend's thread; must return quickly.
    var isOnline: Bool { get }
    /// The values of ``isOnline`` from now on. Each call returns a separate stream.
    func changes() -> AsyncStream<Bool>
}

/// A reachability that always reports a network, so that the queue retries every failed delivery.
public struct AlwaysOnline: Reachability {
    /// Creates a reachability.
    public init() {}
    /// Always true.
    public var isOnline: Bool { true }
    /// A stream without values.
    public func changes() -> AsyncStream<Bool> { AsyncStream { $0.finish() } }
}

/// A reachability whose value the app or a test sets. Safe from any thread.
public final class ReachabilitySwitch: Reachability {
    private struct State {
        var isOnline: Bool
        var readers: [Int: AsyncStream<Bool>.Continuation] = [:]
        var nextNumber = 0
    }

    private let state: Lock<State>

    /// Creates a switch.
    public init(isOnline: Bool = true) { state = Lock(State(isOnline: isOnline)) }

    deinit { for reader in state.withLock({ $0.readers.values }) { reader.finish() } }

    /// The value that was set last.
    public var isOnline: Bool { state.withLock { $0.isOnline } }

    /// Sets whether a network is available.
    public func set(isOnline: Bool) {
        // Under the lock, so that no reader receives two changes in the wrong order.
        state.withLock { state in
            if state.isOnline == isOnline { return }
            state.isOnline = isOnline
            for reader in state.readers.values { reader.yield(isOnline) }
        }
    }

    /// The values from now on. A slow reader receives only the latest value.
    public func changes() -> AsyncStream<Bool> {
        let (stream, reader) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.nextNumber += 1
            state.readers[state.nextNumber] = reader
            return state.nextNumber
        }
        reader.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: number) }
        }
        return stream
    }
}
