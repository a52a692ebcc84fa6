/// Passes diagnostics to the handler and to streams, and counts rejections.
final class DiagnosticFeed: Sendable {
    private struct State {
        var continuations: [Int: AsyncStream<Diagnostic>.Continuation] = [:]
        var nextNumber = 0
        var rejectedCounts: [Action: [Rejection: Int]] = [:]
    }

    /// The number of diagnostics that a stream buffers before it drops the oldest.
    private static var capacity: Int { 1024 }

    private let handler: @Sendable (Diagnostic) -> Void
    private let state = Lock(State())

    init(_ handler: @escaping @Sendable (Diagnostic) -> Void) { self.handler = handler }

    deinit { finish() }

    var rejectedCounts: [Action: [Rejection: Int]] { state.withLock { $0.rejectedCounts } }

    func report(_ diagnostic: Diagnostic) {
        handler(diagnostic)
        let continuations = state.withLock { state in
            if case .rejected(let action, _, let reason) = diagnostic.fact {
                state.rejectedCounts[action, default: [:]][reason, default: 0] += 1
            }
            return Array(state.continuations.values)
        }
        for continuation in continuations { continuation.yield(diagnostic) }
    }

    func stream() -> AsyncStream<Diagnostic> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Diagnostic.self,
            bufferingPolicy: .bufferingNewest(Self.capacity)
        )
        let number = state.withLock { state in
            state.nextNumber += 1
            state.continuations[state.nextNumber] = continuation
            return state.nextNumber
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: number) }
        }
        return stream
    }

    func finish() {
        let continuations = state.withLock { state in
            defer { state.continuations = [:] }
            return Array(state.continuations.values)
        }
        for continuation in continuations { continuation.finish() }
    }
}
