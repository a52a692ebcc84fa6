#if canImport(Glibc)
import Instrument
import InstrumentHTTP
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentTransport

/// The figures of the bandwidth limit as docs/streams.md states them: N bytes take N divided by the limit from the
/// first byte, in pieces of at most a twentieth of a second, or of 1 KiB.
@Suite("Bandwidth limits", .ownThread, .timeLimit(.minutes(30)))
struct BandwidthLimitTests {
    @Test(
        "Bytes arrive when a link of the bandwidth would have carried them",
        arguments: [
            (37_500, 37_500, 1_000), (37_500, 375_000, 10_000), (1_000, 1_024, 1_024), (2_000_000, 500_000, 250),
            (1, 3, 3_000),
        ]
    )
    func figures(bytesPerSecond: Int, size: Int, milliseconds: Int) {
        var pace = Pace(bytesPerSecond: bytesPerSecond)
        let begin = MonotonicInstant(nanoseconds: 7_000_000_000)
        var (now, received, due) = (begin, 0, begin)
        while received < size {
            let piece = min(pace.pieceSize, size - received)
            received += piece
            let next = pace.due(received, at: now)
            // A piece that comes late does not make the next ones late.
            let share = Double(received) / Double(size) * Double(milliseconds)
            #expect(abs(begin.duration(to: next).seconds * 1_000 - share) < 0.001)
            #expect(piece <= 1_024 || due.duration(to: next) <= .milliseconds(51))
            (due, now) = (next, next.advanced(by: .milliseconds(received % 7)))
        }
        #expect(abs(begin.duration(to: due).seconds * 1_000 - Double(milliseconds)) < 0.001)
    }

    @Test(
        "A body that the server sends at once comes at no instant faster than the limit, and comes whole",
        arguments: [(30_000, 60_000), (1_500, 10_000), (200_000, 400_000)]
    )
    func received(size: Int, limit: Int) async throws {
        let server = try TestServer { _ in [.respond("200 OK", [UInt8](repeating: 1, count: size))] }
        var request = HTTPRequest(.get, try HTTPURL(server.url()))
        request.maxBytesPerSecond = limit
        let begun = SystemClock().now
        let pieces = Lock([(sum: Int, elapsed: Duration)]())
        let response = try await SystemTransport().send(request) { bytes in
            let elapsed = begun.duration(to: SystemClock().now)
            pieces.withLock { $0.append((($0.last?.sum ?? 0) + bytes.count, elapsed)) }
        }
        #expect(response.status == 200)
        let all = pieces.withLock { $0 }
        #expect(all.last?.sum == size)
        for piece in all { #expect(Double(piece.sum) <= piece.elapsed.seconds * Double(limit)) }
    }
}
#endif
