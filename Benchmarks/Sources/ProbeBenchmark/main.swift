// Many real-time streams in one process beside ffmpeg and mpv, from the same origin, in one run.
//
//   ProbeBenchmark [--seconds 30] [--peers 4] [--plot FILE.svg] [COUNT …]
//   ProbeBenchmark file FILE          how fast a file is played through, beside ffmpeg and ffprobe
//
// COUNT: how many at once, by default 1 10 50 200 1000. The origin is a process of its own on the same machine.

import Foundation
import Instrument
import InstrumentOrigin
import InstrumentProbe

setvbuf(stdout, nil, _IOLBF, 0)
var arguments = Array(CommandLine.arguments.dropFirst())

switch arguments.first {
case "origin": try await serve()
case "file": try comparePlayThrough(of: arguments.dropFirst().first ?? "")
default: try await compareStreams(Options(&arguments))
}

/// What the command line says.
struct Options {
    var seconds = 30.0
    var peers = 4
    var plot: String?
    var counts: [Int] = []

    init(_ arguments: inout [String]) {
        var left = arguments[...]
        while let word = left.popFirst() {
            switch word {
            case "--seconds": seconds = left.popFirst().flatMap(Double.init) ?? seconds
            case "--peers": peers = left.popFirst().flatMap(Int.init) ?? peers
            case "--plot": plot = left.popFirst()
            default: counts += [Int(word)].compactMap { $0 }
            }
        }
        if counts.isEmpty { counts = [1, 10, 50, 200, 1000] }
    }
}

/// Serves until its input closes, and says where.
func serve() async throws {
    let cache = FileManager.default.temporaryDirectory.appending(path: "instrument-origin-fixtures").path
    let fixtures = try await Fixtures.make(in: cache, seconds: 480)
    var configuration = OriginConfiguration()
    configuration.rememberedRequests = 1
    let origin = try await Origin.start(media: [.fixtures(fixtures)], configuration: configuration)
    print(origin.url("vod/ts/v1.m3u8"))
    while readLine() != nil {}
    await origin.stop()
}

func compareStreams(_ options: Options) async throws {
    let origin = try OriginProcess()
    print("media: HLS, transport stream, 1.05 Mbit/s, segments of 2 s; \(Int(options.seconds)) s of real time each\n")
    print(Row.header)
    var rows: [Row] = []
    for count in options.counts {
        let row = try await measureProbes(count, options.seconds, origin)
        print(row)
        rows.append(row)
    }
    if options.peers > 0 {
        print(try measurePeer("ffmpeg", Peer.ffmpeg(origin.address), options))
        print(try measurePeer("mpv", Peer.mpv(origin.address), options))
    }
    origin.stop()
    if let plot = options.plot { try CostPlot(rows).svg.write(toFile: plot, atomically: true, encoding: .utf8) }
}

/// Plays `count` streams at once for a while.
func measureProbes(_ count: Int, _ seconds: Double, _ origin: OriginProcess) async throws -> Row {
    var profile = PlayerProfile.standard
    profile.rule = FixedRule(.lowest)
    let before = memoryInUse()
    let stalls = Lock(0)
    let starts = Lock([Duration]())
    let probes = (0..<count).map { _ in
        Probe(MediaSource(origin.address), configuration: ProbeConfiguration(profile: profile))
    }
    let clock = SystemClock()
    for probe in probes {
        let begun = Lock<MonotonicInstant?>(nil)
        probe.report { signal in
            if signal.action == .mediaRequest { begun.withLock { $0 = clock.now } }
            if signal.action == .start, let begun = begun.withLock({ $0 }) {
                starts.withLock { $0.append(begun.duration(to: signal.instant ?? clock.now)) }
            }
            // The first wait is the one before the start.
            if signal.action == .bufferBegin { stalls.withLock { $0 += 1 } }
        }
    }
    let fleet = ProbeFleet(probes, spacing: .milliseconds(max(1, 5000 / max(count, 1))))
    fleet.start()
    // Until all have started and filled their buffers: then it is the steady state that is measured.
    try await Task.sleep(for: .seconds(8))
    let (cpu, originCPU, begun) = (processorTime(), origin.processorTime, clock.now)
    try await Task.sleep(for: .seconds(seconds))
    let minutes = clock.now.duration(to: begun) / .seconds(-60) * Double(count)
    let row = Row(
        name: "probe",
        count: count,
        processorSeconds: (processorTime() - cpu) / minutes,
        megabytes: Double(memoryInUse() - before) / 1e6 / Double(count),
        stalls: max(0, stalls.withLock { $0 } - starts.withLock { $0.count }),
        started: starts.withLock { $0.count },
        originSeconds: (origin.processorTime - originCPU) / minutes
    )
    fleet.stop()
    _ = await fleet.waitUntilFinished()
    return row
}
