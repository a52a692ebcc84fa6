// Measures the tracker of GStreamer against an independent eye, as scripts/compare-gstreamer.sh prints it.
//
//   GStreamerTruth FOLDER [NAME...]
//
// It plays the test origin's media from FOLDER over some schedules with a real GStreamer, and prints a row for each
// motion. Exits with 1 if an error is larger than the limit.
//
//   GStreamerTruth --cost
//
// Prints what the tracker costs a pipeline that plays, in processor time and memory.

#if os(Linux)
import Foundation
import GStreamerStage
import TruthStage

let outage = "4000k for 4s, 0 for 9s, 4000k"
let scenarios = [
    TruthScenario("no stall", path: "vod/ts/v0.m3u8", seconds: 8),
    TruthScenario("no stall, playbin3", path: "vod/ts/v0.m3u8", kind: "playbin3", seconds: 8),
    TruthScenario("no stall, whole", path: "vod/ts/v0.m3u8", seconds: 32),
    TruthScenario("slow start", path: "vod/ts/v1.m3u8", schedule: "600k for 6s, 8000k"),
    TruthScenario("one outage", path: "vod/ts/v2.m3u8", schedule: outage, seconds: 22),
    TruthScenario("one outage, playbin3", path: "vod/ts/v2.m3u8", kind: "playbin3", schedule: outage, seconds: 22),
    TruthScenario(
        "two outages",
        path: "vod/ts/v2.m3u8",
        schedule: "4000k for 4s, 0 for 9s, 4000k for 4s, 0 for 9s, 4000k",
        seconds: 36
    ),
    TruthScenario("one outage, fMP4", path: "vod/fmp4/v2.m3u8", schedule: outage, seconds: 22),
    TruthScenario("one outage, DASH", path: "vod/dash/number.mpd", schedule: outage, seconds: 22),
    TruthScenario("one outage, film", path: "vod/movie.mp4", schedule: "1500k for 4s, 0 for 9s, 4000k", seconds: 20),
    TruthScenario("503 in the middle", path: "vod/ts/v0.m3u8", faults: ["503 on vod/*/v0/3.ts"], seconds: 9),
    TruthScenario("live", path: "live/ts/v0.m3u8", seconds: 14),
    TruthScenario("seek", path: "vod/ts/v0.m3u8", steps: [.seek(4, toMilliseconds: 16_000)], seconds: 9),
    TruthScenario("seek, film", path: "vod/movie.mp4", steps: [.seek(4, toMilliseconds: 16_000)], seconds: 9),
    TruthScenario("pause", path: "vod/ts/v0.m3u8", steps: [.pause(3), .resume(5)], seconds: 8),
    TruthScenario(
        "seek while paused",
        path: "vod/movie.mp4",
        steps: [.pause(3), .seek(4, toMilliseconds: 12_000), .resume(6)],
        seconds: 10
    ),
    TruthScenario(
        "pause in a stall",
        path: "vod/ts/v2.m3u8",
        schedule: outage,
        steps: [.pause(10), .resume(18)],
        seconds: 22
    ),
]

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments == ["--cost"] {
    print(try await TrackerCost.measure().description)
    exit(0)
}
exit(
    try await TruthTable.print(scenarios, arguments) { address, scenario in
        try RealGStreamer(address, kind: scenario.kind.isEmpty ? "playbin" : scenario.kind)
    }
)
#endif
