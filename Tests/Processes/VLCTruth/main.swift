// Measures the tracker of libVLC against an independent eye, as scripts/compare-vlc.sh prints it.
//
//   VLCTruth FOLDER [NAME...]
//
// It plays the test origin's media from FOLDER over some schedules with a real libVLC, and prints a row for each
// motion. Exits with 1 if an error is larger than the limit of its scenario.

#if os(Linux)
import Foundation
import TruthStage
import VLCStage

let (usual, outage) = ((begin: 130, end: 130), "4000k for 4s, 0 for 6s, 4000k")
let scenarios = [
    TruthScenario("no stall", path: "vod/ts/v0.m3u8", seconds: 8, limits: usual),
    TruthScenario("no stall, whole", path: "vod/ts/v0.m3u8", seconds: 32, limits: usual),
    TruthScenario("slow start", path: "vod/ts/v1.m3u8", schedule: "600k for 6s, 8000k", limits: usual),
    TruthScenario("one outage", path: "vod/ts/v2.m3u8", schedule: outage, seconds: 18, limits: usual),
    TruthScenario(
        "two outages",
        path: "vod/ts/v2.m3u8",
        schedule: "4000k for 3s, 0 for 5s, 4000k for 4s, 0 for 6s, 4000k",
        seconds: 28,
        limits: usual
    ),
    TruthScenario(
        "one outage, fMP4",
        path: "vod/fmp4/v2.m3u8",
        schedule: outage,
        seconds: 18,
        // The first picture of the new segment stands for some time, as long as libVLC's clock is ahead of it.
        limits: (400, 130)
    ),
    TruthScenario(
        "one outage, DASH",
        path: "vod/dash/number.mpd",
        schedule: "4000k for 4s, 0 for 9s, 4000k",
        seconds: 20,
        // libVLC changes the rendition, and the picture stands for more than a second while its counters run on.
        limits: nil
    ),
    TruthScenario(
        "one outage, film",
        path: "vod/movie.mp4",
        schedule: "1500k for 4s, 0 for 6s, 4000k",
        seconds: 15,
        // After the outage libVLC shows damaged pictures up to the next keyframe, which the eye cannot read.
        limits: (2_000, 700)
    ),
    TruthScenario(
        "503 in the middle",
        path: "vod/ts/v0.m3u8",
        faults: ["503 on vod/*/v0/3.ts"],
        seconds: 9,
        limits: usual
    ),
    TruthScenario("live", path: "live/ts/v0.m3u8", seconds: 14, limits: usual),
    TruthScenario(
        "seek",
        path: "vod/ts/v0.m3u8",
        steps: [.seek(4, toMilliseconds: 16_000)],
        seconds: 9,
        limits: usual
    ),
    TruthScenario("pause", path: "vod/ts/v0.m3u8", steps: [.pause(3), .resume(5)], seconds: 8, limits: usual),
    TruthScenario(
        "seek while paused",
        path: "vod/ts/v0.m3u8",
        steps: [.pause(3), .seek(4, toMilliseconds: 12_000), .resume(6)],
        seconds: 10,
        // Damaged pictures up to the next keyframe.
        limits: (1_000, 130)
    ),
    TruthScenario(
        "pause in a stall",
        path: "vod/ts/v2.m3u8",
        schedule: outage,
        steps: [.pause(8), .resume(13)],
        seconds: 18,
        limits: (400, 130)
    ),
]

exit(
    try await TruthTable.print(scenarios, Array(CommandLine.arguments.dropFirst())) { address, _ in try RealVLC(address)
    }
)
#endif
