#if os(Linux)
public import Instrument
internal import InstrumentFiles

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The lifecycle of a Linux machine: sleep and memory pressure.
///
/// Sleep is the difference of two clocks: the boot time advances while the machine sleeps and the monotonic clock
/// does not (clock_gettime(2)). Memory pressure comes from the kernel's pressure stall information
/// (`/proc/pressure/memory`, Documentation/accounting/psi.rst); a kernel without the file reports no pressure. A
/// timer reads both at an interval, only while there is an observer.
public final class SystemLifecycle: LifecycleSource {
    private struct State {
        var observer: (@Sendable (LifecycleNotice) -> Void)?
        /// Counts observers, so that the timer of an earlier observer ends.
        var epoch = 0
        var alarm: ScheduledAction?
        var slept = Duration.zero
        var isUnderPressure = false
    }

    /// The smallest difference between the clocks that counts as sleep.
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
    ///   - clock: the clock of the timer.
    ///   - interval: the time between two reads.
    ///   - pressureFile: the kernel's file of memory pressure.
    ///   - threshold: the share of the last ten seconds, in percent, in which some task waited for memory, from which
    ///     on it counts as pressure. The pressure ends below half of the threshold.
    ///   - timeAsleep: returns the time that the machine has slept since it was started.
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

    /// The time that this machine has slept since it was started.
    @Sendable
    public static func timeAsleep() -> Duration {
        var (boot, running) = (timespec(), timespec())
        clock_gettime(CLOCK_MONOTONIC, &running)
        clock_gettime(CLOCK_BOOTTIME, &boot)
        let seconds = boot.tv_sec - running.tv_sec
        return .seconds(seconds) + .nanoseconds(boot.tv_nsec - running.tv_nsec)
    }

    /// Reports to `observer` from now on; nil ends the reports.
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
            // Under the lock, so that a concurrent call of report(to:) finds an alarm to cancel.
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
        // A kernel without pressure stall information has no file, or one that cannot be read: it reports no pressure.
        guard let bytes = try? SmallFile.prefix(of: pressureFile, count: 4096, followsLinks: true),
            let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first(where: {
                $0.hasPrefix("some ")
            }),
            let field = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") }),
            let value = Double(field.dropFirst(6)), value.isFinite
        else { return 0 }
        return value
    }
}
#endif
