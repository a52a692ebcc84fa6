/// A view of the samples that wait for a backend, during one delivery.
///
/// Reading changes nothing in the queue. Without consent to send, the view is empty.
public struct QueuedSamples: Sendable {
    private let source: @Sendable (_ body: ([SampleRecord]) -> Bool) -> Void
    private let flushing: @Sendable () -> Bool

    /// Creates a view that passes pages of records to a body until that returns false.
    public init(_ source: @escaping @Sendable (_ body: ([SampleRecord]) -> Bool) -> Void) {
        self.init(source, isFlushing: { false })
    }

    /// Creates a view that also knows whether somebody waits for a flush.
    package init(
        _ source: @escaping @Sendable (_ body: ([SampleRecord]) -> Bool) -> Void,
        isFlushing: @escaping @Sendable () -> Bool
    ) {
        (self.source, flushing) = (source, isFlushing)
    }

    /// A view without samples.
    public static var none: QueuedSamples { QueuedSamples { _ in } }

    /// Whether somebody waits until the backend's samples have left the queue: a flush, or a shutdown.
    package var isFlushing: Bool { flushing() }

    /// Passes the samples for the backend's service to `body`, the oldest first, in pages, until `body` returns false.
    /// The samples of the batch that is being delivered are among them.
    public func read(_ body: ([SampleRecord]) -> Bool) { source(body) }
}
