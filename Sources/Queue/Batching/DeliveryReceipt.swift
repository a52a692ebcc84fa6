/// The final result of a sample that the queue has not settled yet, because a sample before it still waits.
///
/// A backend that sends samples one by one keeps receipts in the store, so that no sample is sent again after the end
/// of the process.
package struct DeliveryReceipt: Hashable, Sendable {
    /// The sample.
    package let id: SampleID
    /// The sample's sequence number in its log.
    package let sequence: UInt64
    /// Why the service refused the sample; nil if it accepted the sample.
    package let refusal: String?

    /// Creates a receipt.
    package init(id: SampleID, sequence: UInt64, refusal: String?) {
        (self.id, self.sequence, self.refusal) = (id, sequence, refusal)
    }
}

/// A store that keeps receipts beside a backend's cursor.
package protocol ReceiptStore: SampleStore {
    /// Keeps receipts until the backend's cursor has passed their samples, or the samples are erased.
    ///
    /// The ledger counts the samples as queued until then.
    func keep(_ receipts: [DeliveryReceipt], of backend: BackendName)
    /// The receipts of a backend, in no particular order.
    func receipts(of backend: BackendName) -> [DeliveryReceipt]
}
