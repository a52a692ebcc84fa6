import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

/// The probe beside trials of real players: hls.js 1.7.1, dash.js 5.1.1 and Shaka Player 5.2.0 with their default
/// configuration in headless Chromium 156, each on its own link to the test origin, in November 2026.
///
/// Two of the players are on no registry, so that no test can run them; their figures are the table below, and
/// `scripts/compare-players.py` plays with them where their files are. The probe
/// plays the origin's media over a computed link, in virtual time. The order of the rungs has to be equal, the number
/// of segments of each within two, the start within a quarter of a second: the trials include the set-up of the
/// player and of its media source, the computed link does not. The trials recorded no duration; that of each schedule
/// follows from the media that the real players had requested and buffered at the end.
@Suite("Beside real players", .ownThread)
struct RealPlayerTests {
    private static let step = "2500k for 5s, 300k for 10s, 2500k"

    /// Shaka 5.2.4: the end of the eleventh segment brings the decision for rung 0. Then it leaves rung 0, whose
    /// pictures come too late.
    private static let dropping = RealTrial(
        .shaka,
        "2510k latency 40ms for 10.9s, 400k for 5s, 0k for 3.6s, 320k",
        seconds: 27,
        start: 0.95,
        "1×11 0×2 0(aborted) 1×1",
        refetched: 1,
        or: ("1×11 0×4", "In the first trial, the pictures came in time for one segment more.")
    )

    /// Start in seconds and rung × segments of the real players.
    static let trials: [RealTrial] = [
        RealTrial(
            .hlsTransport,
            "6000k",
            seconds: 29,
            start: 0.35,
            "0×1 2×34",
            or: ("0×1 1×1 2×33", "The worker of a slower machine started in 132 ms: first picture after 0.60 s.")
        ),
        RealTrial(
            .hlsFragmented,
            "6000k",
            seconds: 29,
            start: 0.43,
            "0×1 1×1 2×37",
            or: (
                "0×1 2×38",
                """
                The first sample is at the limit of the highest rung: with latencies of 0, 60, 100 and 150 ms, hls.js 1.7.1 \
                went to it at once in three of four later trials.
                """
            )
        ),
        RealTrial(.dashJS, "6000k", seconds: 29, start: 0.54, "1×1 2×29"),
        RealTrial(.shaka, "6000k", seconds: 29, start: 1.11, "1(aborted) 2×19"),
        RealTrial(.hlsTransport, "900k", seconds: 35, start: 1.28, "0×39"),
        RealTrial(.hlsFragmented, "900k", seconds: 35, start: 1.13, "0×47"),
        RealTrial(.dashJS, "900k", seconds: 35, start: 2.38, "1×1 0×24"),
        RealTrial(.shaka, "900k", seconds: 35, start: 1.92, "1(aborted) 0×22"),
        RealTrial(.hlsTransport, step, seconds: 43, start: 0.61, "0×1 1×6 0×19 1×27"),
        RealTrial(.hlsFragmented, step, seconds: 43, start: 0.60, "0×1 1×7 0×27 1×25"),
        RealTrial(
            .dashJS,
            step,
            seconds: 43,
            start: 0.93,
            "1×7 0×12 1×18",
            refetched: 9,
            or: (
                "1×6 1(aborted) 0×13 1×18",
                "Whether dash.js gives up the segment that runs when the link becomes slow depends on how much of it has come."
            )
        ),
        RealTrial(
            .shaka,
            step,
            seconds: 43,
            start: 0.88,
            "1×5 1(aborted) 0×13 1×9",
            or: (
                "1×5 1(aborted) 0×12 0(aborted) 1×9",
                """
                Shaka rises with the first sample that allows it, in the middle of a segment or at its end; which one it is \
                depends on the pieces in which the browser hands the bytes over.
                """
            )
        ),
        RealTrial(.hlsTransport, "500k", seconds: 39, start: 1.89, "0×24"),
        RealTrial(.hlsFragmented, "500k", seconds: 39, start: 1.71, "0×29"),
        RealTrial(.dashJS, "500k", seconds: 39, start: 1.88, "1(aborted) 0×27"),
        RealTrial(.shaka, "500k", seconds: 39, start: 3.39, "1(aborted) 0×23"),
        dropping,
        // The link stops twice. Shaka leaves each rung whose pictures came too late for half a minute.
        RealTrial(
            .shaka,
            "450k for 11.5s, 0k for 8.5s, 280k for 9.2s, 400k for 12.9s, 390k for 8.5s, 970k",
            seconds: 60,
            start: 3.75,
            "1(aborted) 0×5 0(aborted) 0×1 0(aborted) 1×2 1(aborted) 2×1 2(aborted) 0×7",
            or: (
                "1(aborted) 0×6 0(aborted) 0×2 0(aborted) 1×1 1(aborted) 2×2 2(aborted) 0×4",
                "Shaka looks every two seconds: where pictures came late just before, or long before, it decides otherwise."
            )
        ),
        // Shaka from its sources, not compiled (`scripts/compare-players.py --seconds 40 --player shaka=FILE`).
        RealTrial(.shakaTransport, "6000k", seconds: 40, start: 0.57, "1×1 1(aborted) 2×24"),
        RealTrial(.shakaFragmented, "6000k", seconds: 40, start: 0.49, "1×1 1(aborted) 2×24"),
        RealTrial(.shakaTransport, "900k", seconds: 42, start: 2.59, "1×1 1(aborted) 0×22"),
        RealTrial(.shakaFragmented, "900k", seconds: 42, start: 2.43, "1×1 1(aborted) 0×22"),
        RealTrial(.shakaTransport, "500k", seconds: 40, start: 4.45, "1×1 1(aborted) 0×20"),
        RealTrial(.shakaFragmented, "500k", seconds: 40, start: 4.35, "1×1 1(aborted) 0×21"),
        // hls.js 1.6.15 as a module (`scripts/compare-players.py --seconds 18`).
        RealTrial(.hlsTransportModule, "6000k", seconds: 18, start: 0.33, "0×1 2×20"),
        RealTrial(.hlsFragmentedModule, "6000k", seconds: 18, start: 0.28, "0×1 2×22"),
    ]

    @Test(
        "The profile starts and chooses its rungs as the real player does when the link has the same schedule",
        arguments: trials
    )
    func trial(real: RealTrial) async throws {
        let probe = try await real.played()
        let start = try #require(probe.start)
        #expect(abs(start - real.start) <= 0.25, "started at \(start) s")
        let accepted = [real.runs, real.alternative?.runs].compactMap(\.self)
        #expect(accepted.contains { probe.runs.agree(with: $0, within: 2) }, "requested \(probe.runs)")
        #expect(abs(probe.refetched - real.refetched) <= 2, "fetched \(probe.refetched) segments twice")
    }

    @Test("Shaka drops a segment whose last bytes bring the decision for another rung, and fetches it there")
    func droppedSegment() async throws { #expect(try await Self.dropping.played().refetched == 1) }

    @Test("hls.js does not stall on fragmented MP4 with separate audio when the link has 500 kbit/s")
    func noStall() async throws {
        let trial = RealTrial(.hlsFragmented, "500k", seconds: 39, start: 1.71, "0×29")
        #expect(try await trial.played().stalls == 0)
    }
}
