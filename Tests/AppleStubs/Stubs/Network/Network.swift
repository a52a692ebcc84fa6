// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Dispatch
internal import Synchronization

public struct NWPath: Sendable {  // Network.swiftinterface
    // Network.swiftinterface
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public let status: Status  // Network.swiftinterface
}

/// Sendable since iOS 17 and macOS 14. A test reports paths.
public final class NWPathMonitor: Sendable {  // Network.swiftinterface
    private struct State {
        var handler: (@Sendable (NWPath) -> Void)?
        var queue: DispatchQueue?
        var cancelCount = 0
    }

    private let state = Mutex(State())
    nonisolated(unsafe) public static weak var latest: NWPathMonitor?  // For tests.

    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {  // Network.swiftinterface
        get { state.withLock { $0.handler } }
        set { state.withLock { $0.handler = newValue } }
    }
    public var queue: DispatchQueue? { state.withLock { $0.queue } }  // Network.swiftinterface
    public var cancelCount: Int { state.withLock { $0.cancelCount } }  // For tests.

    public init() { Self.latest = self }  // Network.swiftinterface

    // Network.swiftinterface
    public func start(queue: DispatchQueue) { state.withLock { $0.queue = queue } }
    public func cancel() {  // Network.swiftinterface
        state.withLock { state in
            state.cancelCount += 1
            state.queue = nil
        }
    }

    // For tests. Returns once the handler has returned; a monitor that was cancelled, or not started, reports nothing.
    public func simulate(_ status: NWPath.Status) {
        queue?.sync { pathUpdateHandler?(NWPath(status: status)) }
    }
}
