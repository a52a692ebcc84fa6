// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Dispatch

public struct NWPath: Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public let status: Status
}

/// Of Network's module for Swift. Whether it is Sendable is not verified; here it is not. A test reports paths.
public final class NWPathMonitor {
    // Sendable: tests touch it from the monitor's queue alone.
    nonisolated(unsafe) public static weak var latest: NWPathMonitor?

    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?
    public private(set) var queue: DispatchQueue?
    public private(set) var cancelCount = 0

    public init() { Self.latest = self }

    public func start(queue: DispatchQueue) { self.queue = queue }
    public func cancel() {
        cancelCount += 1
        queue = nil
    }

    /// Returns once the handler has returned; a monitor that was cancelled, or not started, reports nothing.
    public func simulate(_ status: NWPath.Status) {
        queue?.sync { pathUpdateHandler?(NWPath(status: status)) }
    }
}
