// Measures the tracker of GStreamer against an independent eye, as scripts/compare-gstreamer.sh prints it.
//
//   GStreamerTruth FOLDER [NAME...]
//
// It plays the test origin's media from FOLDER over some schedules with a real GStreamer. The eye reads the number of
// each displayed picture. It prints a row for each time of motion: its begin and its end by the eye, and the errors of
// the tracker. Exits with 1 if an error is larger than the limit.
//
//   GStreamerTruth --cost
//
// Prints what the tracker costs a pipeline that plays, in processor time and memory.

#if os(Linux)
import Foundation
import Instrument
import InstrumentFrameCode
import InstrumentOrigin
import InstrumentGStreamer
import GStreamerStage

struct Step {
    var second: Double
    var act: @Sendable (RealGStreamer) -> Void
}

struct Scenario {
    var name: String
    var path: String
    var kind = "playbin"
    var schedule = "unlimited"
    var faults: [String] = []
    var steps: [Step] = []
    var seconds = 12.0
}

/// The largest error of the begin and of the end of a motion, in milliseconds.
let limit = 100

let pause = { (second: Double) in Step(second: second) { $0.pause(true) } }
let resume = { (second: Double) in Step(second: second) { $0.pause(false) } }
let seek = { (second: Double, time: Int64) in Step(second: second) { $0.seek(toMilliseconds: time) } }

let outage = "4000k for 4s, 0 for 9s, 4000k"
let scenarios = [
    Scenario(name: "no stall", path: "vod/ts/v0.m3u8", seconds: 8),
    Scenario(name: "no stall, whole", path: "vod/ts/v0.m3u8", seconds: 32),
    Scenario(name: "no stall, playbin3", path: "vod/ts/v0.m3u8", kind: "playbin3", seconds: 8),
    Scenario(name: "slow start", path: "vod/ts/v1.m3u8", schedule: "600k for 6s, 8000k"),
    Scenario(name: "one outage", path: "vod/ts/v2.m3u8", schedule: outage, seconds: 22),
    Scenario(name: "one outage, playbin3", path: "vod/ts/v2.m3u8", kind: "playbin3", schedule: outage, seconds: 22),
    Scenario(
        name: "two outages",
        path: "vod/ts/v2.m3u8",
        schedule: "4000k for 4s, 0 for 9s, 4000k for 4s, 0 for 9s, 4000k",
        seconds: 36
    ),
    Scenario(name: "one outage, fMP4", path: "vod/fmp4/v2.m3u8", schedule: outage, seconds: 22),
    Scenario(name: "one outage, DASH", path: "vod/dash/number.mpd", schedule: outage, seconds: 22),
    Scenario(name: "one outage, film", path: "vod/movie.mp4", schedule: "1500k for 4s, 0 for 9s, 4000k", seconds: 20),
    Scenario(name: "503 in the middle", path: "vod/ts/v0.m3u8", faults: ["503 on vod/*/v0/3.ts"], seconds: 9),
    Scenario(name: "live", path: "live/ts/v0.m3u8", seconds: 14),
    Scenario(name: "seek", path: "vod/ts/v0.m3u8", steps: [seek(4, 16_000)], seconds: 9),
    Scenario(name: "seek, film", path: "vod/movie.mp4", steps: [seek(4, 16_000)], seconds: 9),
    Scenario(name: "pause", path: "vod/ts/v0.m3u8", steps: [pause(3), resume(5)], seconds: 8),
    Scenario(
        name: "seek while paused",
        path: "vod/movie.mp4",
        steps: [pause(3), seek(4, 12_000), resume(6)],
        seconds: 10
    ),
    Scenario(
        name: "pause in a stall",
        path: "vod/ts/v2.m3u8",
        schedule: outage,
        steps: [pause(10), resume(18)],
        seconds: 22
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
    print("usage: GStreamerTruth FOLDER [NAME...], GStreamerTruth --cost")
    exit(2)
}
if folder == "--cost" {
    print(try await TrackerCost.measure().description)
    exit(0)
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
    let player = try RealGStreamer(origin.url(scenario.path, session: "a"), kind: scenario.kind)
    player.observe()
    let begin = SystemClock().now
    player.play()
    for step in scenario.steps {
        try await SystemClock().sleep(until: begin.advanced(by: .seconds(step.second)))
        step.act(player)
    }
    try await SystemClock().sleep(until: begin.advanced(by: .seconds(scenario.seconds)))
    let comparison = MotionComparison(signals: player.signals, eye: player.eye, since: begin)
    for (number, row) in comparison.rows.enumerated() {
        print(
            "| \(scenario.name) | \(number + 1) | \(text(row.seenBegin)) | \(error(row.beginError)) |"
                + " \(text(row.seenEnd)) | \(row.trackedEnd == nil ? "still moving" : error(row.endError)) |"
        )
        let isWrong =
            row.beginError.map { abs($0.milliseconds) > limit } ?? true
            || row.trackedEnd != nil && row.endError.map { abs($0.milliseconds) > limit } ?? true
        failures += isWrong ? 1 : 0
    }
    let words = player.signals.map { signal in
        let instant = signal.instant.map { begin.duration(to: $0) }
        return "\(signal.action) \(text(instant)) at \(text(signal.status?.position))"
    }
    print("  " + words.joined(separator: ", "))
    if let failure = player.first(.error) { print("  " + (failure.attributes[.errorDescription] ?? "no description")) }
    player.tracked.close()
    player.tracked.settle()
    player.release()
    await origin.stop()
}
print(failures == 0 ? "all within the limits" : "\(failures) outside the limits")
exit(failures == 0 ? 0 : 1)
#endif
