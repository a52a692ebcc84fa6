// Measures the tracker of libVLC against an independent eye, as scripts/compare-vlc.sh prints it.
//
//   VLCTruth FOLDER [NAME...]
//
// It plays the test origin's media from FOLDER over some schedules with a real libVLC. The eye reads the number of each
// displayed picture. It prints a row for each time of motion: its begin and its end by the eye, and the errors of the
// tracker. Exits with 1 if an error is larger than the limit of its scenario.

#if os(Linux)
import Foundation
import Instrument
import InstrumentFrameCode
import InstrumentOrigin
import InstrumentVLC
import VLCStage

struct Step {
    var second: Double
    var act: @Sendable (RealVLC) -> Void
}

struct Scenario {
    var name: String
    var path: String
    var schedule = "unlimited"
    var faults: [String] = []
    var steps: [Step] = []
    var seconds = 12.0
    /// The largest error of the begin and of the end of a motion, in milliseconds; nil if the scenario is not judged.
    var limits: (begin: Int, end: Int)? = (begin: 130, end: 130)
}

let pause = { (second: Double) in Step(second: second) { $0.pause(true) } }
let resume = { (second: Double) in Step(second: second) { $0.pause(false) } }
let seek = { (second: Double, time: Int64) in Step(second: second) { $0.seek(toMilliseconds: time) } }

let scenarios = [
    Scenario(name: "no stall", path: "vod/ts/v0.m3u8", seconds: 8),
    Scenario(name: "no stall, whole", path: "vod/ts/v0.m3u8", seconds: 32),
    Scenario(name: "slow start", path: "vod/ts/v1.m3u8", schedule: "600k for 6s, 8000k"),
    Scenario(name: "one outage", path: "vod/ts/v2.m3u8", schedule: "4000k for 4s, 0 for 6s, 4000k", seconds: 18),
    Scenario(
        name: "two outages",
        path: "vod/ts/v2.m3u8",
        schedule: "4000k for 3s, 0 for 5s, 4000k for 4s, 0 for 6s, 4000k",
        seconds: 28
    ),
    Scenario(
        name: "one outage, fMP4",
        path: "vod/fmp4/v2.m3u8",
        schedule: "4000k for 4s, 0 for 6s, 4000k",
        seconds: 18,
        // The first picture of the new segment stands for some time, as long as libVLC's clock is ahead of it.
        limits: (400, 130)
    ),
    Scenario(
        name: "one outage, DASH",
        path: "vod/dash/number.mpd",
        schedule: "4000k for 4s, 0 for 9s, 4000k",
        seconds: 20,
        // libVLC changes the rendition, and the picture stands for more than a second while its counters run on.
        limits: nil
    ),
    Scenario(
        name: "one outage, film",
        path: "vod/movie.mp4",
        schedule: "1500k for 4s, 0 for 6s, 4000k",
        seconds: 15,
        // After the outage libVLC shows damaged pictures up to the next keyframe, which the eye cannot read.
        limits: (2_000, 700)
    ),
    Scenario(name: "503 in the middle", path: "vod/ts/v0.m3u8", faults: ["503 on vod/*/v0/3.ts"], seconds: 9),
    Scenario(name: "live", path: "live/ts/v0.m3u8", seconds: 14),
    Scenario(name: "seek", path: "vod/ts/v0.m3u8", steps: [seek(4, 16_000)], seconds: 9),
    Scenario(name: "pause", path: "vod/ts/v0.m3u8", steps: [pause(3), resume(5)], seconds: 8),
    Scenario(
        name: "seek while paused",
        path: "vod/ts/v0.m3u8",
        steps: [pause(3), seek(4, 12_000), resume(6)],
        seconds: 10,
        // Damaged pictures up to the next keyframe.
        limits: (1_000, 130)
    ),
    Scenario(
        name: "pause in a stall",
        path: "vod/ts/v2.m3u8",
        schedule: "4000k for 4s, 0 for 6s, 4000k",
        steps: [pause(8), resume(13)],
        seconds: 18,
        limits: (400, 130)
    ),
]

/// Prints a line at once.
func print(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

func text(_ duration: Duration?) -> String { duration.map { String(format: "%.2f", $0.seconds) } ?? "none" }
func error(_ duration: Duration?) -> String { duration.map { String(format: "%+d", $0.milliseconds) } ?? "missing" }

extension Duration {
    var seconds: Double { self / .seconds(1) }
    var milliseconds: Int { Int((self / .milliseconds(1)).rounded()) }
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard let folder = arguments.first else {
    print("usage: VLCTruth FOLDER [NAME...]")
    exit(2)
}
let chosen = scenarios.filter { arguments.count < 2 || arguments.dropFirst().contains($0.name) }
let fixtures = try await Fixtures.make(in: folder)
print("| schedule | motion | begin s | error ms | end s | error ms |")
print("|---|---|---|---|---|---|")
var failures = 0
for scenario in chosen {
    let origin = try await Origin.start(
        media: [.fixtures(fixtures)],
        schedule: try DeliverySchedule(scenario.schedule),
        faults: try scenario.faults.map { try FaultRule($0) }
    )
    let vlc = try RealVLC(origin.url(scenario.path, session: "a"))
    vlc.observe()
    let begin = SystemClock().now
    vlc.play()
    for step in scenario.steps {
        try await SystemClock().sleep(until: begin.advanced(by: .seconds(step.second)))
        step.act(vlc)
    }
    try await SystemClock().sleep(until: begin.advanced(by: .seconds(scenario.seconds)))
    let comparison = MotionComparison(signals: vlc.signals, eye: vlc.eye, since: begin)
    for (number, row) in comparison.rows.enumerated() {
        print(
            "| \(scenario.name) | \(number + 1) | \(text(row.seenBegin)) | \(error(row.beginError)) |"
                + " \(text(row.seenEnd)) | \(row.trackedEnd == nil ? "still moving" : error(row.endError)) |"
        )
        guard let limits = scenario.limits else { continue }
        let isWrong =
            row.beginError.map { abs($0.milliseconds) > limits.begin } ?? true
            || row.trackedEnd != nil && row.endError.map { abs($0.milliseconds) > limits.end } ?? true
        failures += isWrong ? 1 : 0
    }
    let words = vlc.signals.map { signal in
        let instant = signal.instant.map { begin.duration(to: $0) }
        return "\(signal.action) \(text(instant)) at \(text(signal.status?.position))"
    }
    print("  " + words.joined(separator: ", "))
    if let failure = vlc.first(.error) { print("  " + (failure.attributes[.errorDescription] ?? "no description")) }
    vlc.tracked.close()
    vlc.tracked.settle()
    vlc.release()
    await origin.stop()
}
print(failures == 0 ? "all within the limits" : "\(failures) outside the limits")
exit(failures == 0 ? 0 : 1)
#endif
