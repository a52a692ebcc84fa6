// The probe beside a real mpv: the same stream over the same schedules from one origin, both reports and what can be
// computed in one table.
//
//   MPVComparison [--wait SECONDS] [NAME …]
//
// --wait: the buffer level at which they start and continue after a stall (mpv's --cache-pause-wait), by default 1.5.
// NAME: only these schedules.
//
// It takes some four minutes, because time is what is compared. ffmpeg, ffprobe and mpv have to be there.

import Foundation
import InstrumentOrigin

var words = CommandLine.arguments.dropFirst()
var threshold = 1.5
var names: Set<String> = []
while let word = words.popFirst() {
    if word == "--wait" {
        threshold = words.popFirst().flatMap(Double.init).flatMap { (0.1...10).contains($0) ? $0 : nil } ?? threshold
    } else {
        names.insert(word)
    }
}

let cache = FileManager.default.temporaryDirectory.appending(path: "instrument-origin-fixtures").path
let fixtures = try await Fixtures.make(in: cache)
let media = try PacketTable(of: fixtures.directory + "/v1.ts")
print("HLS, transport stream, 1.05 Mbit/s, \(fixtures.seconds) s; start and resume with \(threshold) s; times in s\n")
print(ComparisonTable.header)
fflush(nil)
for trial in Trial.all where names.isEmpty || names.contains(trial.name) {
    let origin = try await Origin.start(media: [.fixtures(fixtures)], schedule: DeliverySchedule(trial.schedule))
    let playlist = "vod/ts/v1.m3u8"
    let probe = await Viewing.byProbe(origin.url(playlist, session: "probe"), threshold: .seconds(threshold))
    let mpv = try await Viewing.byMPV(origin.url(playlist, session: "mpv"), threshold: threshold)
    // The bytes on the link before the first byte of media.
    let before = origin.requests(of: "probe").filter { $0.path.hasSuffix("m3u8") }.reduce(0) { $0 + $1.bytes }
    let computed = media.viewing(over: try DeliverySchedule(trial.schedule), after: before, threshold: threshold)
    await origin.stop()
    print(ComparisonTable.rows(trial, computed: computed, probe: probe, mpv: mpv))
    fflush(nil)
}

/// The behavior of the link.
struct Trial {
    var name: String
    var schedule: String

    static let all = [
        Trial(name: "no-stall", schedule: "4000k"),
        Trial(name: "slow-start", schedule: "0k for 1.5s, 600k for 4s, 4000k"),
        Trial(name: "one-stall", schedule: "2000k for 2.5s, 0k for 6s, 4000k"),
        Trial(name: "two-stalls", schedule: "2000k for 2.5s, 0k for 6s, 2000k for 2s, 0k for 8s, 4000k"),
    ]
}
