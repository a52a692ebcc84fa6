/// A view of the samples that wait for a backend, during one delivery.
///
/// Reading changes nothing in the queue. Without consent to send, the view is empty.
public struct QueuedSamples: Sendable {
    private let source: @Sendable (_ body: ([SampleRecord]) -> Bool) -> Void

    /// Creates a view that passes pages of records to a body until that returns false.
    public init(_ source: @escaping @Sendable (_ body: ([SampleRecord]) -> Bool) -> Void) { self.source = source }

    /// A view without samples.
    public static var none: QueuedSamples { QueuedSamples { _ in } }

    /// Passes the samples for the backend's service to `body`, the oldest first, in pages, until `body` returns false.
    /// The samples of the batch that is being delivered are among them.
    public func read(_ body: ([SampleRecord]) -> Bool) { source(body) }
}
