import CostMeasurement
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
        let (left, count) = (Lock(40), Lock(0))
        // Every action blocks until the last one has begun. Then the threads end one after the other.
        for _ in 0..<40 {
            _ = threads.schedule(at: SystemClock().now) {
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast {
                    count.withLock { $0 = threads.count }
                    for _ in 0..<40 { hold.signal() }
                    done.open()
                }
                hold.wait()
            }
        }
        await done.wait()
        #expect(count.withLock { $0 } >= 40)
    }

    @Test("Many threads with actions that compute do not become more, although each action takes long among them")
    func computing() async {
        let threads = AlarmThreads()
        let (hold, release) = (DispatchSemaphore(value: 0), Lock(40))
        let (left, most) = (Lock(240), Lock(0))
        let done = Gate()
        @Sendable func finish() {
            let isLast = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isLast { done.open() }
        }
        // Forty threads, because as many actions block.
        for _ in 0..<40 {
            _ = threads.schedule(at: SystemClock().now) {
                let isLast = release.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast { for _ in 0..<40 { hold.signal() } }
                hold.wait()
                finish()
            }
        }
        for _ in 0..<200 {
            _ = threads.schedule(at: SystemClock().now) {
                // Shorter than the time for which an action may compute; together far longer.
                let end = CostGrowth.processorTime + 0.002
                while CostGrowth.processorTime < end {}
                most.withLock { $0 = max($0, threads.count) }
                finish()
            }
        }
        await done.wait()
        // The doubling that gave the fortieth action a thread may have given 64.
        #expect(most.withLock { $0 } <= 80)
    }

    @Test("Every alarm that is not called off runs once, while threads come and go", .timeLimit(.minutes(30)))
    func comingAndGoing() async throws {
        let threads = AlarmThreads(idleTime: .microseconds(300))
        let (clock, ran) = (SystemClock(), Lock([Int: Int]()))
        var numbers = SplitMix64(seed: 11)
        var expected: Set<Int> = []
        for round in 0..<400 {
            var alarms: [Alarm] = []
            for number in (round * 8)..<(round * 8 + 8) {
                let due = clock.now.advanced(by: .microseconds(Int64(numbers.next() % 1_500)))
                let blocks = numbers.next() % 50 == 0
                alarms.append(
                    threads.schedule(at: due) {
                        ran.withLock { $0[number, default: 0] += 1 }
                        if blocks { Bell().wait(until: SystemClock().now.advanced(by: .milliseconds(7))) }
                    }
                )
                expected.insert(number)
            }
            let isCalledOff = threads.cancel(alarms[3])
            if isCalledOff { expected.remove(round * 8 + 3) }
            if round % 20 == 0 {
                // Long enough for all threads to end.
                try await clock.sleep(until: clock.now.advanced(by: .milliseconds(3)))
            }
        }
        while ran.withLock({ $0.count }) < expected.count {
            try await clock.sleep(until: clock.now.advanced(by: .milliseconds(5)))
        }
        #expect(ran.withLock { Set($0.keys) } == expected)
        #expect(ran.withLock { $0.values.allSatisfy { $0 == 1 } })
    }

    @Test("An alarm with a tolerance waits for one that has none, and for nothing longer than its tolerance")
    func tolerance() {
        func instant(_ time: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: time) }
        let order = Lock([String]())
        func alarm(_ name: String, at time: Int64, _ tolerance: Int64, _ number: UInt64) -> Alarm {
            Alarm(at: instant(time), tolerance: .nanoseconds(tolerance), number: number) {
                order.withLock { $0.append(name) }
            }
        }
        var heap = AlarmHeap()
        heap.insert(alarm("early and patient", at: 5, 20, 1))
        heap.insert(alarm("exact", at: 20, 0, 2))
        heap.insert(alarm("late and patient", at: 21, 20, 3))
        heap.insert(alarm("exact, too late", at: 40, -3, 4))
        #expect(heap.first?.latest == instant(20))
        #expect(heap.takeDue(at: instant(19)) == nil)
        #expect(heap.dueCount(at: instant(24), upTo: 10) == 1)
        while let action = heap.takeDue(at: instant(20)) { action() }
        #expect(order.withLock { $0 } == ["exact", "early and patient"])
        #expect(heap.first?.latest == instant(40))
        while let action = heap.takeDue(at: instant(41)) { action() }
        #expect(order.withLock { $0 }.count == 4 && heap.first == nil)
    }

    @Test("The system's clock runs an alarm with a tolerance although no other one comes")
    func aloneWithTolerance() async {
        let (clock, done) = (SystemClock(), Gate())
        let begun = clock.now
        _ = clock.schedule(at: begun.advanced(by: .milliseconds(5)), tolerance: .milliseconds(20)) { done.open() }
        await done.wait()
        #expect(begun.duration(to: clock.now) >= .milliseconds(5))
    }

    @Test("Alarms leave the heap in the order of their times, wherever others are removed")
    func heap() {
        var numbers = SplitMix64(seed: 5)
        for _ in 0..<200 {
            var (heap, left) = (AlarmHeap(), [(Alarm, Int64)]())
            for number in 0..<UInt64(1 + numbers.next() % 60) {
                let time = Int64(numbers.next() % 20)
                let alarm = Alarm(at: MonotonicInstant(nanoseconds: time), number: number) {}
                heap.insert(alarm)
                left.append((alarm, time))
                if numbers.next() % 3 == 0 {
                    let index = Int(numbers.next() % UInt64(left.count))
                    #expect(heap.remove(left[index].0) != nil)
                    #expect(heap.remove(left[index].0) == nil)
                    left.remove(at: index)
                }
            }
            let now = MonotonicInstant(nanoseconds: 10)
            #expect(heap.dueCount(at: now, upTo: 1_000) == left.count { $0.1 <= 10 })
            let expected = left.sorted { $0.1 < $1.1 }.map(\.1)
            var found: [Int64] = []
            while let first = heap.first {
                found.append(first.deadline.nanoseconds)
                #expect(heap.takeDue(at: first.deadline) != nil)
            }
            #expect(found == expected)
        }
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
