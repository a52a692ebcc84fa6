import TestTraits
import Testing

@testable import Instrument

@Suite("Lock")
struct LockTests {
    @Test("One thread at a time is inside")
    func exclusion() async {
        let lock = Lock((inside: 0, visits: 0, most: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<20_000 {
                        lock.withLock {
                            $0.inside += 1
                            $0.most = max($0.most, $0.inside)
                            $0.visits += 1
                            $0.inside -= 1
                        }
                    }
                }
            }
        }
        let state = lock.withLock { $0 }
        #expect(state.visits == 160_000)
        #expect(state.most == 1)
    }

    @Test("An error leaves the lock open, and keeps what was changed before it")
    func errors() {
        struct Refusal: Error {}
        let lock = Lock(0)
        #expect(throws: Refusal.self) {
            try lock.withLock { (state) throws(Refusal) in
                state += 1
                throw Refusal()
            }
        }
        #expect(lock.withLock { $0 } == 1)
    }

    @Test("What is behind a lock ends with it, and its dump shows nothing")
    func ends() {
        final class Guarded: Sendable {}
        weak var kept: Guarded?
        do {
            let value = Guarded()
            kept = value
            let lock = Lock(value)
            #expect(Mirror(reflecting: lock).children.isEmpty)
        }
        #expect(kept == nil)
    }
}
