/// Says whether there is a network.
///
/// While there is none, the queue sends nothing to backends that need one, and drops nothing for it; once there is one again it
/// delivers at once.
public protocol Reachability: Sendable {
    /// Whether there is a network now. Called before each delivery, on a backend's thread; it has to be quick.
    var isOnline: Bool { get }
    /// What ``isOnline`` becomes, from now on; each call gives a stream of its own.
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

/// Is told whether there is a network, for example by the app's own monitor or by a test. Safe from any thread.
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
        // Under the lock, so that nobody is told of two changes in the wrong order.
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
