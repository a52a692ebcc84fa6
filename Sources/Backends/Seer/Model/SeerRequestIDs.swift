internal import Instrument
internal import InstrumentXAPI

/// Numbers requests. Some numbers ahead are written down, so that a restart begins above all that were given out.
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

    /// The next number. If nothing can be written down, numbers are still unique until the next start.
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
