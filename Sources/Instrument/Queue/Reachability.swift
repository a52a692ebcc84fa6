/// Says whether there is a network.
///
/// Without a network, the queue sends nothing to backends that need one, and drops nothing because of that; when a network returns it
/// delivers at once.
public protocol Reachability: Sendable {
    /// Whether there is a network now. Called before each delivery, on a backend's thread; it has to be quick.
    var isOnline: Bool { get }
    /// What ``isOnline`` becomes, from now on; each call returns a separate stream.
    func changes() -> AsyncStream<Bool>
}

/// Takes it that there always is a network: a delivery that fails is tried again in any case.
public struct AlwaysOnline: Reachability {
    /// Creates it.
    public init() {}
    /// True.
    public var isOnline: Bool { true }
    /// Nothing changes.
    public func changes() -> AsyncStream<Bool> { AsyncStream { $0.finish() } }
}

/// A reachability that the app's monitor, or a test, sets. Safe from any thread.
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

    /// What was said last.
    public var isOnline: Bool { state.withLock { $0.isOnline } }

    /// Says whether there is a network.
    public func set(isOnline: Bool) {
        // Under the lock, so that no reader receives two changes in the wrong order.
        state.withLock { state in
            if state.isOnline == isOnline { return }
            state.isOnline = isOnline
            for reader in state.readers.values { reader.yield(isOnline) }
        }
    }

    /// What is said from now on; only the latest is kept for a reader that falls behind.
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
