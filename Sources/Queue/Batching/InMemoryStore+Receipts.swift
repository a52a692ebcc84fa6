/// Receipts outlive a backend that is replaced, and end with their samples or the store.
extension InMemoryStore: ReceiptStore {
    package func keep(_ receipts: [DeliveryReceipt], of backend: BackendName) {
        state.withLock { state in
            guard let index = state.places.firstIndex(where: { $0.name == backend }) else { return }
            let cursor = state.places[index].cursor
            let waiting = receipts.filter { $0.sequence >= cursor && state.log.sample($0.sequence) != nil }
            state.places[index].receipts += waiting
        }
    }

    package func receipts(of backend: BackendName) -> [DeliveryReceipt] {
        state.withLock { state in state.places.first { $0.name == backend }?.receipts ?? [] }
    }
}
