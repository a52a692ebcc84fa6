internal import Instrument
internal import InstrumentXAPI

/// Numbers requests. It reserves numbers in advance in a file, so that a restart begins above all earlier numbers.
final class SeerRequestIDs: Sendable {
    private static var ahead: SeerRequestID { 1000 }
    private static var key: String { "requests" }

    private let store: any XAPIStateStore
    private let state: Lock<(next: SeerRequestID, reserved: SeerRequestID)>

    init(_ store: any XAPIStateStore, floor: SeerRequestID) {
        self.store = store
        let saved = (try? store.load(Self.key)).flatMap { $0 }.flatMap { UInt64(String(decoding: $0, as: UTF8.self)) }
        let start = max(saved ?? 0, floor) + 1
        state = Lock((start, start))
    }

    /// Returns the next number. If the reservation cannot be saved, numbers are unique only until the next start.
    func next() -> SeerRequestID {
        state.withLock { state in
            if state.next >= state.reserved {
                state.reserved = state.next + Self.ahead
                try? store.save(Array(String(state.reserved).utf8), under: Self.key)
            }
            defer { state.next += 1 }
            return state.next
        }
    }
}
