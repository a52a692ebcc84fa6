import Foundation
import Instrument
import InstrumentProbe

/// How fast a whole file is looked at: ours, ffmpeg's and ffprobe's way, the best of three each.
func comparePlayThrough(of file: String) throws {
    guard !file.isEmpty else { return say("usage: ProbeBenchmark file FILE") }
    let clock = SystemClock()
    func best(_ body: () throws -> Void) rethrows -> Duration {
        var best = Duration.seconds(1_000_000)
        for _ in 0..<3 {
            let begun = clock.now
            try body()
            best = min(best, begun.duration(to: clock.now))
        }
        return best
    }
    var length = Duration.zero
    let ours = best {
        let virtual = VirtualClock()
        let probe = Probe(MediaSource(file), clock: virtual)
        _ = probe.playThrough(advancing: virtual)
        length = probe.progress.position
    }
    let peers = [
        ("ffmpeg -c copy", ["ffmpeg", "-nostdin", "-v", "quiet", "-i", file, "-c", "copy", "-f", "null", "-"]),
        ("ffprobe -show_packets", ["ffprobe", "-v", "quiet", "-show_packets", file]),
    ]
    say("file of \(length / .seconds(1)) s")
    say("probe: \(ours / .seconds(1)) s, \(Int(length / ours)) × real time")
    for (name, words) in peers {
        let time = try best {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = words
            (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
            try process.run()
            process.waitUntilExit()
        }
        say("\(name): \(time / .seconds(1)) s, \(Int(length / time)) × real time")
    }
}
