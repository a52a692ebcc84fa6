internal import Instrument
package import InstrumentMonitor

/// Keeps the bytes of evidence. Which pieces are kept, the model decides: it bounds their number and size. Methods may
/// block, and are called one at a time.
package protocol EvidenceStore: Sendable {
    /// Keeps a piece.
    func keep(_ entry: EvidenceEntry, _ bytes: [UInt8])
    /// The bytes of a piece; nil for one that is not there, or that is damaged.
    func read(_ id: String) -> [UInt8]?
    /// Deletes a piece, if it is there.
    func remove(_ id: String)
}

/// Keeps evidence until the process ends.
package final class EvidenceMemory: EvidenceStore {
    private struct State {
        var pieces: [String: [UInt8]] = [:]
        /// The identifiers, the oldest first.
        var order: [String] = []
        var byteCount = 0
    }

    private let state = Lock(State())
    private let mostBytes: Int

    /// - Parameter mostBytes: the oldest pieces give way beyond this size.
    package init(mostBytes: Int = .max) { self.mostBytes = mostBytes }

    package func keep(_ entry: EvidenceEntry, _ bytes: [UInt8]) {
        state.withLock { state in
            Self.remove(entry.id, from: &state)
            state.pieces[entry.id] = bytes
            state.order.append(entry.id)
            state.byteCount += bytes.count
            while state.byteCount > mostBytes, let oldest = state.order.first { Self.remove(oldest, from: &state) }
        }
    }

    package func read(_ id: String) -> [UInt8]? { state.withLock { $0.pieces[id] } }

    package func remove(_ id: String) { state.withLock { Self.remove(id, from: &$0) } }

    private static func remove(_ id: String, from state: inout State) {
        guard let bytes = state.pieces.removeValue(forKey: id) else { return }
        state.order.removeAll { $0 == id }
        state.byteCount -= bytes.count
    }
}
