#if os(Linux)
internal import Foundation
internal import Glibc
public import Instrument

/// The lifecycle of a Linux machine: sleep and memory pressure.
///
/// Sleep shows in the clocks: the boot time advances while the machine sleeps and the monotonic clock does not (clock_gettime(2)).
/// Memory pressure is what the kernel's pressure stall information says (`/proc/pressure/memory`, Documentation/accounting/psi.rst);
/// a kernel without the file reports no pressure. Timers read both from time to time, and only while somebody
/// listens.
public final class SystemLifecycle: LifecycleSource {
    private struct State {
        var observer: (@Sendable (LifecycleNotice) -> Void)?
        /// Counts observers, so that a running timer does not continue beside the next observer's.
        var epoch = 0
        var alarm: ScheduledAction?
        var slept = Duration.zero
        var isUnderPressure = false
    }

    /// A difference between the clocks that is smaller is no sleep.
    private static let shortestSleep: Duration = .milliseconds(500)

    private let clock: any SchedulingClock
    private let interval: Duration
    private let pressureFile: String
    private let threshold: Double
    private let timeAsleep: @Sendable () -> Duration
    private let state = Lock(State())

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - clock: times the looks.
    ///   - interval: the time between two looks.
    ///   - pressureFile: where the kernel reports memory pressure.
    ///   - threshold: the share of the last ten seconds, in percent, in which some task waited for memory, from which on it counts
    ///     as pressure; it is over below half of that.
    ///   - timeAsleep: how long the machine has slept since it was started.
    public init(
        clock: any SchedulingClock = SystemClock(),
        interval: Duration = .seconds(5),
        pressureFile: String = "/proc/pressure/memory",
        threshold: Double = 10,
        timeAsleep: @escaping @Sendable () -> Duration = SystemLifecycle.timeAsleep
    ) {
        self.clock = clock
        self.interval = max(.milliseconds(10), interval)
        self.pressureFile = pressureFile
        self.threshold = threshold
        self.timeAsleep = timeAsleep
    }

    deinit { state.withLock { $0.alarm }?.cancel() }

    /// How long this machine has slept since it was started.
    @Sendable
    public static func timeAsleep() -> Duration {
        var (boot, running) = (timespec(), timespec())
        clock_gettime(CLOCK_MONOTONIC, &running)
        clock_gettime(CLOCK_BOOTTIME, &boot)
        let seconds = boot.tv_sec - running.tv_sec
        return .seconds(seconds) + .nanoseconds(boot.tv_nsec - running.tv_nsec)
    }

    /// Reports to `observer` from now on; nil looks no more.
    public func report(to observer: (@Sendable (LifecycleNotice) -> Void)?) {
        let slept = timeAsleep()
        let (old, epoch) = state.withLock { state in
            (state.observer, state.slept, state.isUnderPressure) = (observer, slept, false)
            state.epoch += 1
            defer { state.alarm = nil }
            return (state.alarm, state.epoch)
        }
        old?.cancel()
        if observer != nil { schedule(epoch) }
    }

    private func schedule(_ epoch: Int) {
        state.withLock { state in
            if state.epoch != epoch { return }
            // Under the lock, so that who reports to another meanwhile has something to cancel.
            let time = clock.now.advanced(by: interval)
            state.alarm = clock.schedule(at: time) { [weak self] in self?.look(epoch) }
        }
    }

    private func look(_ epoch: Int) {
        let (slept, pressure) = (timeAsleep(), pressure())
        let (observer, notices) = state.withLock {
            state -> ((@Sendable (LifecycleNotice) -> Void)?, [LifecycleNotice]) in
            if state.epoch != epoch { return (nil, []) }
            var notices: [LifecycleNotice] = []
            if slept - state.slept >= Self.shortestSleep {
                var attributes = Attributes()
                attributes[.sleepTime] = slept - state.slept
                notices.append(LifecycleNotice(.resumed, attributes: attributes))
            }
            state.slept = slept
            if pressure >= threshold, !state.isUnderPressure { notices.append(LifecycleNotice(.memoryPressure)) }
            state.isUnderPressure = pressure >= (state.isUnderPressure ? threshold / 2 : threshold)
            return (state.observer, notices)
        }
        guard let observer else { return }
        for notice in notices { observer(notice) }
        schedule(epoch)
    }

    /// The `avg10` of `some`, in percent; 0 without a value.
    private func pressure() -> Double {
        guard let text = try? String(contentsOfFile: pressureFile, encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("some ") }),
            let field = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") }),
            let value = Double(field.dropFirst(6)), value.isFinite
        else { return 0 }
        return value
    }
}
#endif
