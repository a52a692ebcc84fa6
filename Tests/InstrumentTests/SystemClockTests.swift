import Dispatch
import Testing

@testable import Instrument

@Suite("Alarms of the system clock", .serialized)
struct SystemClockTests {
    @Test("A burst of alarms takes a few threads")
    func burst() async {
        let gate = Gate()
        let (clock, left) = (SystemClock(), Lock(200))
        let most = Lock(0)
        let due = clock.now.advanced(by: .milliseconds(20))
        for _ in 0..<200 {
            _ = clock.schedule(at: due) {
                most.withLock { $0 = max($0, AlarmThreads.shared.count) }
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast { gate.open() }
            }
        }
        await gate.wait()
        #expect(most.withLock { $0 } <= 32)
    }

    @Test("Actions that block keep no other action waiting")
    func blocked() async {
        let threads = AlarmThreads()
        let (hold, done) = (DispatchSemaphore(value: 0), Gate())
        let left = Lock(40)
        // Every action blocks until the last one has begun.
        for _ in 0..<40 {
            threads.run {
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast {
                    for _ in 0..<40 { hold.signal() }
                    done.open()
                }
                hold.wait()
            }
        }
        await done.wait()
        #expect(threads.count >= 40)
    }

    @Test("A cancelled alarm does not run, also while it waits for a thread")
    func cancelled() async {
        let clock = SystemClock()
        var patience = Duration.milliseconds(5)
        // A busy machine may cancel too late: only an alarm that was cancelled in time counts.
        while true {
            let (ran, gate, due) = (Lock(false), Gate(), clock.now.advanced(by: patience))
            clock.schedule(at: due) { ran.withLock { $0 = true } }.cancel()
            let isInTime = clock.now < due
            _ = clock.schedule(at: due.advanced(by: .milliseconds(25))) { gate.open() }
            await gate.wait()
            if isInTime { return #expect(!ran.withLock { $0 }) }
            patience *= 2
        }
    }
}
