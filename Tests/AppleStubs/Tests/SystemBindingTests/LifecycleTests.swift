import AppKit
import Foundation
import Instrument
import InstrumentTestKit
import InstrumentTrackers
import Testing
import UIKit

private func post(_ name: Notification.Name, in center: NotificationCenter = .default) {
    center.post(name: name, object: nil)
}

@Suite("The app's life by notifications", .serialized)
struct LifecycleTests {
    private let phases = Lock<[LifecyclePhase]>([])

    @Test("ApplicationLifecycle reports UIKit's notifications while it has a listener")
    func application() {
        let (source, phases) = (ApplicationLifecycle(), phases)
        let names = [
            UIApplication.didBecomeActiveNotification, UIApplication.willResignActiveNotification,
            UIApplication.didEnterBackgroundNotification, UIApplication.willEnterForegroundNotification,
            UIApplication.didReceiveMemoryWarningNotification, UIApplication.willTerminateNotification,
        ]
        source.report { notice in phases.withLock { $0.append(notice.phase) } }
        source.report { notice in phases.withLock { $0.append(notice.phase) } }
        for name in names { post(name) }
        source.report(to: nil)
        for name in names { post(name) }
        #expect(
            phases.withLock { $0 } == [.active, .inactive, .background, .foreground, .memoryPressure, .terminating]
        )
    }

    @Test(
        "DesktopLifecycle reports AppKit's notifications, sleep and memory pressure on its queue, and the end at once"
    )
    func desktop() async {
        let (source, phases, count) = (DesktopLifecycle(), phases, EventCounter())
        source.report { notice in
            phases.withLock { $0.append(notice.phase) }
            count.increment()
        }
        post(NSApplication.didBecomeActiveNotification)
        post(NSApplication.didHideNotification)
        post(NSApplication.didUnhideNotification)
        post(NSApplication.didResignActiveNotification)
        post(NSWorkspace.didWakeNotification, in: NSWorkspace.shared.notificationCenter)
        await count.wait(for: 5)
        SimulatedMemoryPressure.simulatePressure()
        await count.wait(for: 6)
        post(NSApplication.willTerminateNotification)
        let expected: [LifecyclePhase] = [
            .active, .background, .foreground, .inactive, .resumed, .memoryPressure, .terminating,
        ]
        #expect(phases.withLock { $0 } == expected)
        source.report(to: nil)
        post(NSApplication.willTerminateNotification)
        #expect(phases.withLock { $0 } == expected)
        #expect(SimulatedMemoryPressure.isCancelled)
    }

    @Test("A tracker of the app's life keeps the promises of every tracker over UIKit's notifications")
    func contract() async throws {
        let instrument = Instrument(metricalc: nil, clock: VirtualClock())
        try await TrackerContract.check {
            LifecycleTracker(ApplicationLifecycle(), flushing: instrument.queue)
        } exercise: { _ in
            post(UIApplication.didBecomeActiveNotification)
        }
    }
}
