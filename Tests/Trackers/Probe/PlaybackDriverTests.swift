import Foundation
import Instrument
import Testing

@testable import InstrumentProbe

/// Notes the readings of the clocks with which it was changed and asked.
private struct NotedPlayback: DrivenPlayback {
    var session = PlaybackSession(source: MediaSource("http://127.0.0.1/a"), configuration: ProbeConfiguration())
    let asked: @Sendable (Timestamp) -> Void

    func deadline(at now: Timestamp) -> MonotonicInstant? {
        asked(now)
        return nil
    }
}

/// Has ordered something.
private struct OrderingPlayback: DrivenPlayback {
    var session = PlaybackSession(source: MediaSource("http://127.0.0.1/a"), configuration: ProbeConfiguration())
    var isSettled = false

    func deadline(at now: Timestamp) -> MonotonicInstant? { nil }
}

/// Asks for an alarm at each moment.
private struct RestlessPlayback: DrivenPlayback {
    var session = PlaybackSession(source: MediaSource("http://127.0.0.1/a"), configuration: ProbeConfiguration())

    func deadline(at now: Timestamp) -> MonotonicInstant? { now.instant.advanced(by: .milliseconds(1)) }
}

/// A clock on which a millisecond passes between any two readings.
private final class HastyClock: SchedulingClock {
    private let milliseconds = Lock(Int64(0))

    private func next() -> Int64 {
        milliseconds.withLock { milliseconds in
            milliseconds += 1
            return milliseconds
        }
    }

    var now: MonotonicInstant { MonotonicInstant(nanoseconds: next() * 1_000_000) }
    var wallTime: WallTime { WallTime(milliseconds: next()) }
    var minimumResolution: Duration { .milliseconds(1) }

    func sleep(until deadline: MonotonicInstant, tolerance: Duration?) async throws {}

    func schedule(at deadline: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        ScheduledAction {}
    }
}

@Suite("The driver of a playback")
struct PlaybackDriverTests {
    // A segment that became available between two readings was neither fetched nor waited for: playback stalled.
    @Test("What is due is decided and planned with one reading of the clocks")
    func oneReading() {
        let asked = Lock([Timestamp]())
        let driver = PlaybackDriver(NotedPlayback { now in asked.withLock { $0.append(now) } }, clock: HastyClock())
        let changed = (0..<3).map { _ in driver.change { _, now in now } }
        #expect(asked.withLock { $0 } == changed)
        #expect(Set(changed).count == 3)
    }

    // A run that was over before its last signal arrived lost the end of its session, and all metrics of it.
    @Test("A thread that waits for a playback returns after the last signal, which another thread delivers")
    func lastSignal() async {
        let driver = PlaybackDriver(NotedPlayback { _ in }, clock: HastyClock())
        let (order, waits, done) = (Lock([String]()), DispatchSemaphore(value: 0), Gate())
        driver.report(newsTo: { _ in
            waits.wait()
            for _ in 0..<1_000 { sched_yield() }
            order.withLock { $0.append("delivered") }
        })
        Thread {
            driver.change { playback, now in
                let failure = ProbeError(.connection, .open, playback.session.source, "the server is gone")
                _ = playback.session.request(now: now.instant)
                playback.session.exhausted(failure, now: now.instant)
            }
        }.start()
        Thread {
            while !driver.look({ playback, _ in playback.session.outcome != nil }) { sched_yield() }
            for _ in 0..<8 { waits.signal() }
            driver.waitUntilDelivered()
            order.withLock { $0.append("waited") }
            done.open()
        }.start()
        await done.wait()
        #expect(order.withLock { $0.last } == "waited" && order.withLock { $0.count } > 1)
    }

    // The record of a request that had timed out came after `waitUntilFinished` had returned.
    @Test("A playback is finished only once everything is done that it has ordered")
    func settled() async {
        let driver = PlaybackDriver(OrderingPlayback(), clock: VirtualClock())
        let order = Lock([String]())
        let wait = Task {
            let isFinished = await driver.waitUntilFinished()
            order.withLock { $0.append("waited") }
            return isFinished
        }
        driver.change { playback, now in
            let failure = ProbeError(.connection, .open, playback.session.source, "the server is gone")
            _ = playback.session.request(now: now.instant)
            playback.session.exhausted(failure, now: now.instant)
        }
        for _ in 0..<1_000 { await Task.yield() }
        order.withLock { $0.append("settled") }
        driver.settle { $0.isSettled = true }
        #expect(await wait.value)
        #expect(order.withLock { $0 } == ["settled", "waited"])
    }

    // A lock wrapped the action with each access: calls grew deeper with each alarm, until the stack overflowed.
    @Test("An alarm is as direct after many alarms as at first")
    func directAlarms() {
        let clock = VirtualClock()
        let driver = PlaybackDriver(RestlessPlayback(), clock: clock)
        let depths = Lock([Int]())
        driver.onAlarm { [weak driver] in
            depths.withLock { $0.append(Thread.callStackReturnAddresses.count) }
            driver?.change { _, _ in }
        }
        driver.change { _, _ in }
        clock.advance(by: .milliseconds(30))
        #expect(depths.withLock { $0 }.count == 30)
        #expect(Set(depths.withLock { $0 }.dropFirst(2)).count == 1, "\(depths.withLock { $0 })")
    }
}
