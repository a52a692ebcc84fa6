package import Instrument

/// Receipts are in the folder of their samples, so that they outlive the process as the samples do.
extension DurableStore: ReceiptStore {
    package func keep(_ receipts: [DeliveryReceipt], of backend: BackendName) {
        for store in stores {
            let own = receipts.filter { $0.id == SampleID(log: store.logNumber, sequence: $0.sequence) }
            if !own.isEmpty { store.keep(own, of: backend) }
        }
    }

    package func receipts(of backend: BackendName) -> [DeliveryReceipt] { stores.flatMap { $0.receipts(of: backend) } }
}

extension DirectoryStore {
    /// Saves receipts of samples that the backend has not passed. After a failure, the samples may be sent again.
    fileprivate func keep(_ receipts: [DeliveryReceipt], of backend: BackendName) {
        let failure = saver.writing.withLock { _ -> String? in
            let open = folder.state.withLock { state -> [DeliveryReceipt] in
                guard !state.isLetGo, let place = state.places.first(where: { $0.row.name == backend.description }),
                    !place.row.isEphemeral
                else { return [] }
                let erased = state.erased
                return receipts.filter { $0.sequence >= place.row.cursor && !erased.contains($0.sequence) }
            }
            if open.isEmpty || folder.bookkeeping.isClosed { return nil }
            let rows = open.map { Bookkeeping.ReceiptRow(sequence: $0.sequence, refusal: $0.refusal) }
            do {
                try folder.bookkeeping.save(rows, of: backend.description)
                return nil
            } catch { return "\(error)" }
        }
        guard let failure else { return folder.noteSuccess(of: .receipts) }
        folder.noteFailure(
            "cannot save which samples \(backend) has sent before their turn in \(path): \(failure); they may be sent again",
            of: .receipts
        )
    }

    fileprivate func receipts(of backend: BackendName) -> [DeliveryReceipt] {
        let cursor = folder.state.withLock { state in
            state.places.first { $0.row.name == backend.description }?.row.cursor
        }
        guard let cursor else { return [] }
        do {
            return try folder.bookkeeping.receipts(of: backend.description).filter { $0.sequence >= cursor }.map {
                row in
                let id = SampleID(log: logNumber, sequence: row.sequence)
                return DeliveryReceipt(id: id, sequence: row.sequence, refusal: row.refusal)
            }
        } catch {
            folder.report(
                .store("cannot read which samples \(backend) has sent before their turn in \(path): \(error)")
            )
            return []
        }
    }
}
