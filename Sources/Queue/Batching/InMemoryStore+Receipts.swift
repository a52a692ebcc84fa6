/// Receipts outlive a backend that is replaced, and end with the store.
extension InMemoryStore: ReceiptStore {
    package func keep(_ receipts: [DeliveryReceipt], of backend: BackendName) {
        state.withLock { state in
            guard let index = state.places.firstIndex(where: { $0.name == backend }) else { return }
            let cursor = state.places[index].cursor
            state.places[index].receipts += receipts.filter { $0.sequence >= cursor }
        }
    }

    package func receipts(of backend: BackendName) -> [DeliveryReceipt] {
        state.withLock { state in state.places.first { $0.name == backend }?.receipts ?? [] }
    }
}
