import Instrument
import InstrumentManifests
import Testing

@testable import InstrumentProbe

@Suite("Requests of a stream")
struct FetchTableTests {
    private var table = FetchTable(ProbeConfiguration(profile: .plain(retries: 1)))
    private let failure = ResourceFailure(failure: .status(503), message: "busy")

    @Test("A table starts a request once, and its track is busy until the request ends")
    mutating func once() throws {
        let url = try Loading.url("s0.ts")
        let begun1 = table.begin(.segment(.main), url, now: Loading.instant(1))
        let fetching = try #require(begun1)
        #expect(fetching.request.isFirst && fetching.number == 0)
        #expect(table.begin(.segment(.main), url, now: Loading.instant(1)) == nil)
        #expect(table.isBusy(.main) && !table.isBusy(.audio) && !table.isEmpty)
        #expect(table.end(0)?.number == 0)
        #expect(table.end(0) == nil && table.isEmpty)
        #expect(table.begin(.segment(.main), url, now: Loading.instant(1))?.request.isFirst == false)
    }

    @Test("A table retries a failed request after its back-off, up to the policy's limit")
    mutating func retry() throws {
        let url = try Loading.url("s0.ts")
        let begun2 = table.begin(.segment(.main), url, now: Loading.instant(1))
        let first = try #require(begun2)
        _ = table.end(first.number)
        #expect(table.planRetry(of: first, after: failure, randomness: 0.5, now: Loading.instant(2)) == true)
        #expect(table.retryInstant(.segment(.main)) == Loading.instant(3))
        #expect(table.deadlines(after: Loading.instant(2)) == [Loading.instant(3)])
        #expect(table.begin(.segment(.main), url, now: Loading.instant(2.9)) == nil)
        let begun3 = table.begin(.segment(.main), url, now: Loading.instant(3))
        let second = try #require(begun3)
        #expect(second.failures == 1)
        #expect(table.planRetry(of: second, after: failure, randomness: 0.5, now: Loading.instant(4)) == false)
        #expect(table.retryInstant(.segment(.main)) == nil)
    }

    @Test("A table plans no retry when the failure is final")
    mutating func final() throws {
        let begun4 = try table.begin(.key(.main), Loading.url("key"), now: Loading.instant(1))
        let fetching = try #require(begun4)
        var refused = failure
        refused.isFinal = true
        #expect(table.planRetry(of: fetching, after: refused, randomness: 0.5, now: Loading.instant(2)) == false)
    }

    @Test("A table cancels the requests and retries of one track only")
    mutating func cancelTrack() throws {
        let begun5 = try table.begin(.segment(.main), Loading.url("s0.ts"), now: Loading.instant(0))
        let main = try #require(begun5)
        let begun6 = try table.begin(.segment(.audio), Loading.url("a0.ts"), now: Loading.instant(0))
        let audio = try #require(begun6)
        let begun7 = try table.begin(.key(.main), Loading.url("key"), now: Loading.instant(0))
        let key = try #require(begun7)
        _ = table.end(key.number)
        _ = table.planRetry(of: key, after: failure, randomness: 0.5, now: Loading.instant(0))
        _ = table.takeCommands()
        #expect(table.cancel(.main).map(\.number) == [main.number])
        #expect(table.retryInstant(.key(.main)) == nil)
        #expect(table.isRunning(audio.number) && !table.isRunning(main.number))
        let commands = table.takeCommands()
        guard commands.count == 1, case .cancel(let cancelled, let reason) = commands[0] else {
            Issue.record("\(commands)")
            return
        }
        #expect(cancelled.number == main.number && reason == .notWanted)
        #expect(table.takeCommands().isEmpty)
    }

    @Test(
        "Where only parts count as progress, a request without one has the time of the first byte, then that of a stall"
    )
    mutating func progress() throws {
        // Shaka: parts of 100 ms and 16 kB.
        table = FetchTable(ProbeConfiguration(profile: .shaka))
        let begun = try table.begin(.segment(.main), Loading.url("s0.ts"), now: Loading.instant(0))
        let fetching = try #require(begun)
        func arrive(_ count: Int, at seconds: Double) {
            [UInt8](repeating: 0, count: count).withUnsafeBytes {
                fetching.buffer.append($0, at: Loading.instant(seconds))
            }
        }
        func limit() -> Double { Double(fetching.tooLate.nanoseconds - Loading.instant(0).nanoseconds) / 1e9 }
        #expect(limit() == 10)
        // 50 kB before 100 ms have passed, and bytes that trickle: none is a part.
        let arrivals = [
            (50_000, 0.07, 10.0), (1, 0.1, 10), (1, 2, 7), (15_999, 3, 7), (1, 4, 9), (16_000, 4.1, 9),
        ]
        for (count, seconds, expected) in arrivals {
            arrive(count, at: seconds)
            #expect(limit() == expected, "after \(seconds) s")
        }
        for piece in 0..<40 { arrive(16_000, at: 5 + Double(piece)) }
        #expect(limit() == 30)
    }

    @Test("A request is overdue when no byte has come within the stall timeout")
    mutating func overdue() throws {
        let begun8 = try table.begin(.manifest, Loading.url("m"), now: Loading.instant(0))
        let fetching = try #require(begun8)
        #expect(table.overdue(at: Loading.instant(4.9)).isEmpty)
        #expect(table.overdue(at: Loading.instant(5)).map(\.number) == [fetching.number])
    }
}
