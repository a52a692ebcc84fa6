import AppKit
import Dispatch
import Foundation
import Instrument
import InstrumentTestKit
import InstrumentTrackers
import Testing
import UIKit

private func post(_ name: Notification.Name, in center: NotificationCenter = .default) {
    center.post(name: name, object: nil)
}

/// A backend whose delivery ends when a test says so.
private final class HangingBackend: Backend {
    let name: BackendName = "hanging"
    private let entered: EventCounter
    private let hold: Gate

    init(_ entered: EventCounter, _ hold: Gate) { (self.entered, self.hold) = (entered, hold) }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        entered.increment()
        await hold.wait()
        return .acknowledged
    }
}

@Suite("The app's life by notifications", .serialized)
struct LifecycleTests {
    private let phases = Lock<[LifecyclePhase]>([])

    /// As the system does: on a thread without a task, which the app's life may block.
    private func notify(_ name: Notification.Name) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                post(name)
                continuation.resume()
            }
        }
    }

    @Test("ApplicationLifecycle reports UIKit's notifications in order while it has a listener")
    func application() async {
        let (source, phases, count, ends) = (ApplicationLifecycle(), phases, EventCounter(), EventCounter())
        SimulatedActivity.onEnd { ends.increment() }
        let names = [
            UIApplication.didBecomeActiveNotification, UIApplication.willResignActiveNotification,
            UIApplication.didEnterBackgroundNotification, UIApplication.willEnterForegroundNotification,
            UIApplication.didReceiveMemoryWarningNotification, UIApplication.willTerminateNotification,
        ]
        source.report { _ in Issue.record("an earlier listener hears nothing") }
        source.report { notice in
            phases.withLock { $0.append(notice.phase) }
            count.increment()
        }
        for name in names { await notify(name) }
        await count.wait(for: names.count)
        // The next test counts the activities that run.
        await ends.wait(for: 1)
        source.report(to: nil)
        for name in names { await notify(name) }
        #expect(
            phases.withLock { $0 } == [.active, .inactive, .background, .foreground, .memoryPressure, .terminating]
        )
    }

    @Test("The main thread does not wait in the background, the process stays awake meanwhile, and instants are kept")
    func background() async {
        let (clock, count, hold) = (VirtualClock(), EventCounter(), DispatchSemaphore(value: 0))
        let (source, notices) = (ApplicationLifecycle(clock: clock), Lock<[LifecycleNotice]>([]))
        let ends = EventCounter()
        SimulatedActivity.onEnd { ends.increment() }
        source.report { notice in
            if notice.phase == .background { hold.wait() }
            notices.withLock { $0.append(notice) }
            count.increment()
        }
        await notify(UIApplication.didEnterBackgroundNotification)
        clock.advance(by: .seconds(2))
        await notify(UIApplication.willEnterForegroundNotification)
        #expect(notices.withLock { $0.isEmpty })
        #expect(SimulatedActivity.runningCount == 1)
        clock.advance(by: .seconds(2))
        hold.signal()
        await count.wait(for: 2)
        await ends.wait(for: 1)
        #expect(SimulatedActivity.runningCount == 0)
        #expect(notices.withLock { $0.map(\.phase) } == [.background, .foreground])
        #expect(notices.withLock { $0.map { $0.instant?.milliseconds } } == [0, 2000])
        source.report(to: nil)
    }

    @Test("The process stays awake no longer than the system grants, and not at all where it grants no time")
    func expiry() async {
        let (source, count, hold, ends) = (
            ApplicationLifecycle(), EventCounter(), DispatchSemaphore(value: 0), EventCounter()
        )
        SimulatedActivity.onEnd { ends.increment() }
        source.report { _ in
            hold.wait()
            count.increment()
        }
        await notify(UIApplication.didEnterBackgroundNotification)
        SimulatedActivity.expire()
        await ends.wait(for: 1)
        #expect(SimulatedActivity.runningCount == 0)
        hold.signal()
        await count.wait(for: 1)
        SimulatedActivity.refuse(true)
        await notify(UIApplication.didEnterBackgroundNotification)
        SimulatedActivity.refuse(false)
        hold.signal()
        await count.wait(for: 2)
        source.report(to: nil)
    }

    @Test("The end of the app waits for the listener, which is called on another thread", arguments: [true, false])
    func termination(isOnDesktop: Bool) async {
        let source: any LifecycleSource = isOnDesktop ? DesktopLifecycle() : ApplicationLifecycle()
        let name = isOnDesktop ? await NSApplication.willTerminateNotification : UIApplication.willTerminateNotification
        let threads = Lock<[ObjectIdentifier]>([])
        source.report { _ in threads.withLock { $0.append(ObjectIdentifier(Thread.current)) } }
        let isElsewhere = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                post(name)
                let heard = threads.withLock { $0 }
                continuation.resume(returning: heard.count == 1 && heard.first != ObjectIdentifier(Thread.current))
            }
        }
        #expect(isElsewhere)
        source.report(to: nil)
    }

    @Test("The main thread does not wait for a backend that hangs when the app enters the background")
    func flush() async {
        let (clock, hold) = (VirtualClock(), Gate())
        let (entered, ends) = (EventCounter(), EventCounter())
        SimulatedActivity.onEnd { ends.increment() }
        let backend = HangingBackend(entered, hold)
        let instrument = Instrument(metricalc: nil, backends: [backend], clock: clock, deliveryClock: SystemClock())
        instrument.add(
            LifecycleTracker(
                ApplicationLifecycle(clock: clock),
                flushing: instrument.queue,
                backgroundGrace: .seconds(1800)
            )
        )
        instrument.ready()
        await notify(UIApplication.didEnterBackgroundNotification)
        await entered.wait(for: 1)
        #expect(SimulatedActivity.runningCount == 1)
        hold.open()
        await ends.wait(for: 1)
        #expect(SimulatedActivity.runningCount == 0)
    }

    @Test(
        "DesktopLifecycle reports AppKit's notifications, sleep and memory pressure on its queue, and the end as well"
    )
    func desktop() async {
        let (source, phases, count) = (DesktopLifecycle(), phases, EventCounter())
        source.report { notice in
            phases.withLock { $0.append(notice.phase) }
            count.increment()
        }
        post(await NSApplication.didBecomeActiveNotification)
        post(await NSApplication.didHideNotification)
        post(await NSApplication.didUnhideNotification)
        post(await NSApplication.didResignActiveNotification)
        post(NSWorkspace.didWakeNotification, in: NSWorkspace.shared.notificationCenter)
        await count.wait(for: 5)
        SimulatedMemoryPressure.simulatePressure()
        await count.wait(for: 6)
        await notify(NSApplication.willTerminateNotification)
        let expected: [LifecyclePhase] = [
            .active, .background, .foreground, .inactive, .resumed, .memoryPressure, .terminating,
        ]
        #expect(phases.withLock { $0 } == expected)
        source.report(to: nil)
        await notify(NSApplication.willTerminateNotification)
        #expect(phases.withLock { $0 } == expected)
        #expect(SimulatedMemoryPressure.isCancelled)
    }

    @Test("A tracker of the app's life keeps the promises of every tracker over UIKit's notifications")
    func contract() async throws {
        let instrument = Instrument(metricalc: nil, clock: VirtualClock())
        try await TrackerContract.check {
            LifecycleTracker(ApplicationLifecycle(), flushing: instrument.queue)
        } exercise: { _ in
            await notify(UIApplication.didBecomeActiveNotification)
            // The source's queue is in order: the phase before the end has been reported when the end has.
            await notify(UIApplication.willTerminateNotification)
        }
    }
}
