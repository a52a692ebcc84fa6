import Foundation
import Instrument
import InstrumentTransport
import Testing

@testable import InstrumentProbe

@Suite("Playback while a manifest is read")
struct ManifestReadingTests {
    /// A clock that blocks one thread at its query of the calendar time, which parsing a manifest makes.
    private final class HeldClock: SchedulingClock {
        static let mark = "instrument.held"
        let reached = DispatchSemaphore(value: 0)
        let released = DispatchSemaphore(value: 0)
        private let clock = SystemClock()

        var now: MonotonicInstant { clock.now }
        var minimumResolution: Duration { clock.minimumResolution }

        var wallTime: WallTime {
            if Thread.current.threadDictionary[Self.mark] as? Bool == true {
                Thread.current.threadDictionary[Self.mark] = false
                reached.signal()
                released.wait()
            }
            return clock.wallTime
        }

        func sleep(until deadline: MonotonicInstant, tolerance: Duration?) async throws {
            try await clock.sleep(until: deadline, tolerance: tolerance)
        }

        func schedule(at deadline: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
            clock.schedule(at: deadline, action)
        }
    }

    /// Responds to the first request with a manifest, on a dedicated thread that the clock blocks.
    private struct HeldFetcher: ResourceFetcher {
        let clock: HeldClock
        let isCancelled = Lock(false)
        let ended = DispatchSemaphore(value: 0)

        func fetch(
            _ request: ResourceRequest,
            into buffer: FetchBuffer,
            progress: @escaping @Sendable () -> Void,
            ended isEnded: @escaping @Sendable (Result<ResourceResponse, ResourceFailure>) -> Void
        ) -> FetchCancellation {
            let thread = Thread { [clock, ended] in
                let bytes = Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n".utf8)
                bytes.withUnsafeBytes { buffer.append($0, at: clock.now) }
                let response = ResourceResponse(
                    url: request.url,
                    status: 200,
                    body: FetchedBytes(bytes),
                    arrivals: buffer.arrivals,
                    timings: HTTPTimings(),
                    redirectCount: 0,
                    version: "1.1"
                )
                Thread.current.threadDictionary[HeldClock.mark] = true
                isEnded(.success(response))
                ended.signal()
            }
            thread.start()
            return FetchCancellation { [isCancelled] in isCancelled.withLock { $0 = true } }
        }

        func offload(_ work: @escaping @Sendable () -> Void) { work() }
    }

    @Test("A playback can be read and stopped while its manifest is parsed", .timeLimit(.minutes(30)))
    func stopping() async throws {
        let clock = HeldClock()
        let fetcher = HeldFetcher(clock: clock)
        let engine = StreamEngine(
            source: MediaSource("http://origin.example/main.m3u8"),
            configuration: ProbeConfiguration(profile: .plain()),
            fetcher: fetcher,
            clock: clock,
            randomness: RandomSource(SystemRandomNumberGenerator())
        )
        let actions = Lock<[Action]>([])
        engine.report { signal in actions.withLock { $0.append(signal.action) } }
        // The wait blocks, therefore on a dedicated thread.
        await withCheckedContinuation { continuation in
            Thread {
                engine.perform(.play)
                clock.reached.wait()
                #expect(engine.progress.state == .loading)
                engine.perform(.stop)
                #expect(engine.outcome == .stopped)
                #expect(fetcher.isCancelled.withLock { $0 })
                clock.released.signal()
                fetcher.ended.wait()
                continuation.resume()
            }.start()
        }
        #expect(await engine.waitUntilFinished() == .stopped)
        #expect(!actions.withLock { $0 }.contains(.manifestLoad))
        #expect(engine.runningCount == 0)
    }

    @Test("A completed fetch does not time out while its manifest is parsed")
    func whole() throws {
        let configuration = ProbeConfiguration(profile: .plain())
        let fetching = Fetching(
            number: 0,
            purpose: .manifest,
            request: ResourceRequest(
                kind: .manifest,
                url: try HTTPURL("http://origin.example/main.mpd"),
                range: nil,
                timeout: .seconds(1),
                maxBytes: 1,
                maxBitrate: nil
            ),
            buffer: FetchBuffer(),
            begun: MonotonicInstant(nanoseconds: 0),
            failures: 0,
            policy: configuration.profile[retry: .manifest].limited(by: configuration)
        )
        #expect(fetching.tooLate.nanoseconds < .max)
        fetching.buffer.finish()
        #expect(fetching.tooLate.nanoseconds == .max)
    }
}
