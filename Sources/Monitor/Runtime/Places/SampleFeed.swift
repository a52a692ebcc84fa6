package import Instrument
package import InstrumentMonitor
package import InstrumentWatch

/// A source of the samples that monitors in several places write: a topic, a stream, a table.
///
/// At least once: a sample may be returned twice, also by another process that continues at a position. One task calls
/// the methods, one at a time.
package protocol SampleFeed: Sendable {
    /// The source for people, without secrets.
    var name: String { get }
    /// Waits for samples, some seconds at most; an empty batch means that none came. After an error, the next call
    /// connects again.
    func next() async throws(SampleFeedError) -> SampleBatch
    /// Keeps the position behind everything that ``next()`` has returned for the next process.
    func keepPosition() async
    /// Ends the connection.
    func close() async
}

/// Why a source cannot be read now, without secrets.
package struct SampleFeedError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Reads a source without end, and passes its samples to a monitor.
package struct FeedReading: Sendable {
    /// The interval between two positions that are kept.
    private static let positionInterval = Duration.seconds(5)
    private static let longestDelay = Duration.seconds(30)

    private let feed: any SampleFeed
    private let monitor: Monitor
    private let clock: any SchedulingClock
    private let randomness: RandomSource
    private let log: @Sendable (String) -> Void

    /// - Parameter log: writes a line when the source fails and when it works again.
    package init(
        _ feed: any SampleFeed,
        into monitor: Monitor,
        clock: any SchedulingClock = SystemClock(),
        randomness: RandomSource = RandomSource(),
        log: @escaping @Sendable (String) -> Void
    ) {
        (self.feed, self.monitor, self.clock) = (feed, monitor, clock)
        (self.randomness, self.log) = (randomness, log)
    }

    /// Reads until the task is cancelled; then keeps the position and ends the connection.
    package func run() async {
        var (failures, nextPosition) = (0, clock.now)
        while !Task.isCancelled {
            do throws(SampleFeedError) {
                let batch = try await feed.next()
                if failures > 0 { log("reads \(feed.name) again") }
                failures = 0
                await monitor.take(batch)
                if nextPosition <= clock.now {
                    await feed.keepPosition()
                    nextPosition = clock.now.advanced(by: Self.positionInterval)
                }
            } catch {
                if Task.isCancelled { break }
                failures += 1
                let delay = delay(after: failures)
                if failures == 1 { log("cannot read \(feed.name): \(error.description); retrying with back-off") }
                monitor.note(sourceFailure: error.description)
                do { try await clock.sleep(until: clock.now.advanced(by: delay), tolerance: nil) } catch { break }
            }
        }
        await feed.keepPosition()
        await feed.close()
    }

    /// 1 s, 2 s, 4 s … up to 30 s, with jitter.
    private func delay(after failures: Int) -> Duration {
        min(Self.longestDelay, .seconds(1 << min(failures - 1, 10))) * randomness.number(in: 0.8...1.2)
    }
}

/// The sessions of a monitor that plays nothing.
package struct NoSessions: SessionSource {
    package init() {}
    package func start(_ id: SessionID, _ stream: WatchedStream, report: @escaping @Sendable (MonitorInput) -> Void) {
        report(.ended(.stopped))
    }
    package func stop(_ id: SessionID) {}
}
