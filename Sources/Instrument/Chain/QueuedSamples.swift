/// A view of the samples that wait for a backend, during one delivery.
///
/// Reading changes nothing in the queue. Without consent to send, the view is empty.
public struct QueuedSamples: Sendable {
    private let source: @Sendable (_ body: ([SampleRecord]) -> Bool) -> Void
    private let flushing: @Sendable () -> Bool
    private let current: @Sendable () -> Bool
    private let knownReceipts: @Sendable () -> [DeliveryReceipt]
    private let keepReceipts: @Sendable ([DeliveryReceipt]) -> Void

    /// Creates a view that passes pages of records to a body until that returns false.
    public init(_ source: @escaping @Sendable (_ body: ([SampleRecord]) -> Bool) -> Void) {
        self.init(source, isFlushing: { false })
    }

    /// Creates a view that also knows the state of the queue.
    ///
    /// - Parameters:
    ///   - source: passes pages of records to a body until that returns false.
    ///   - isFlushing: whether somebody waits for a flush.
    ///   - isCurrent: whether the backend may still send what it has read.
    ///   - receipts: the receipts that the store keeps.
    ///   - keep: keeps receipts in the store.
    package init(
        _ source: @escaping @Sendable (_ body: ([SampleRecord]) -> Bool) -> Void,
        isFlushing: @escaping @Sendable () -> Bool,
        isCurrent: @escaping @Sendable () -> Bool = { true },
        receipts: @escaping @Sendable () -> [DeliveryReceipt] = { [] },
        keep: @escaping @Sendable ([DeliveryReceipt]) -> Void = { _ in }
    ) {
        (self.source, flushing, current) = (source, isFlushing, isCurrent)
        (knownReceipts, keepReceipts) = (receipts, keep)
    }

    /// A view without samples.
    public static var none: QueuedSamples { QueuedSamples { _ in } }

    /// Whether somebody waits until the backend's samples have left the queue: a flush, or a shutdown.
    package var isFlushing: Bool { flushing() }

    /// Whether the backend may still send what it has read: false once samples may have been erased, or the consent
    /// has changed.
    package var isCurrent: Bool { current() }

    /// The receipts that were kept for samples that are still in the queue, in an earlier process, too.
    package var receipts: [DeliveryReceipt] { knownReceipts() }

    /// Keeps the receipts of samples of the batch, and of samples behind the batch, until the queue has settled these
    /// samples. Waits for the disk.
    package func keep(_ receipts: [DeliveryReceipt]) { keepReceipts(receipts) }

    /// Passes the samples for the backend's service to `body`, the oldest first, in pages, until `body` returns false.
    /// The samples of the batch that is being delivered are among them.
    public func read(_ body: ([SampleRecord]) -> Bool) { source(body) }
}
