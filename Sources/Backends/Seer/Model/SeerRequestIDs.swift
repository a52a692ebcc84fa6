internal import Instrument
internal import InstrumentXAPI

/// Numbers requests. It reserves numbers in advance in a file, so that a restart begins above all earlier numbers.
final class SeerRequestIDs: Sendable {
    private static var ahead: SeerRequestID { 1000 }
    private static var key: String { "requests" }
    /// No client reaches this number: a file with a higher one is damaged.
    private static var limit: SeerRequestID { 1 << 62 }

    private let store: any XAPIStateStore
    private let state: Lock<(next: SeerRequestID, reserved: SeerRequestID)>

    init(_ store: any XAPIStateStore, floor: SeerRequestID) {
        self.store = store
        let saved = (try? store.load(Self.key)).flatMap { $0 }.flatMap { UInt64(String(decoding: $0, as: UTF8.self)) }
        let start = [saved ?? 0, floor].filter { $0 < Self.limit }.max() ?? 0
        state = Lock((start + 1, start + 1))
    }

    /// Returns the next number. While the reservation cannot be saved, which each call retries, numbers are unique only
    /// until the next start.
    func next() -> SeerRequestID {
        state.withLock { state in
            if state.next >= state.reserved {
                let reserved = state.next + Self.ahead
                if (try? store.save(Array(String(reserved).utf8), under: Self.key)) != nil { state.reserved = reserved }
            }
            defer { state.next += 1 }
            return state.next
        }
    }
}
