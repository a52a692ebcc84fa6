// Many real-time streams in one process beside ffmpeg and mpv, from the same origin, in one run. `help` has the
// options. The origin is a separate process on the same machine.

import Foundation
import Instrument
import InstrumentOrigin
import InstrumentProbe
import Synchronization

var arguments = Array(CommandLine.arguments.dropFirst())

switch arguments.first {
case "origin": try await serve()
case "row": try await measureRow(arguments.dropFirst().map(\.self))
case "file": try comparePlayThrough(of: arguments.dropFirst().first ?? "")
default:
    switch Options(&arguments) {
    case let options?: try await compareStreams(options)
    case nil: say(help)
    }
}

var help: String {
    """
    ProbeBenchmark [--seconds 30] [--peers 4] [--stream ts] [--plot FILE.svg] [COUNT …]
    ProbeBenchmark file FILE          how fast a file is played through, beside ffmpeg and ffprobe

    --stream   ts, fmp4, dash, live (HLS) or livedash; each at its rung of about 1 Mbit/s
    COUNT      how many streams at once, one row each; by default 1 10 50 200 1000
    """
}

/// The options of the command line.
struct Options {
    var seconds = 30.0
    var peers = 4
    var plot: String?
    var stream = TestStream.ts
    var counts: [Int] = []

    /// Nil if a word is not understood.
    init?(_ arguments: inout [String]) {
        var left = arguments[...]
        while let word = left.popFirst() {
            switch word {
            case "--seconds": seconds = left.popFirst().flatMap(Double.init) ?? seconds
            case "--peers": peers = left.popFirst().flatMap(Int.init) ?? peers
            case "--stream": stream = left.popFirst().flatMap(TestStream.init) ?? stream
            case "--plot": plot = left.popFirst()
            default:
                guard let count = Int(word), count > 0 else { return nil }
                counts.append(count)
            }
        }
        if counts.isEmpty { counts = [1, 10, 50, 200, 1000] }
    }
}

/// A stream of the origin.
enum TestStream: String {
    case ts, fmp4, dash, live, livedash

    var path: String {
        switch self {
        case .ts: "vod/ts/v1.m3u8"
        case .fmp4: "vod/fmp4/master.m3u8"
        case .dash: "vod/dash/number.mpd"
        case .live: "live/ts/v1.m3u8"
        case .livedash: "live/dash/number.mpd"
        }
    }

    var title: String {
        switch self {
        case .ts: "HLS, transport stream, 1.05 Mbit/s"
        case .fmp4: "HLS, fMP4, picture and separate sound, 1 Mbit/s"
        case .dash: "DASH, picture and separate sound, 1 Mbit/s"
        case .live: "live HLS, transport stream, 1.05 Mbit/s"
        case .livedash: "live DASH, picture and separate sound, 1 Mbit/s"
        }
    }
}

/// Serves until its input closes, and says where.
func serve() async throws {
    let cache = FileManager.default.temporaryDirectory.appending(path: "instrument-origin-fixtures").path
    let fixtures = try await Fixtures.make(in: cache, seconds: 480)
    var configuration = OriginConfiguration()
    configuration.rememberedRequests = 1
    let origin = try await Origin.start(media: [.fixtures(fixtures)], configuration: configuration)
    try FileHandle.standardOutput.write(contentsOf: Data((origin.url("") + "\n").utf8))
    while readLine() != nil {}
    await origin.stop()
}

/// A line at once, also into a pipe.
func say(_ line: some CustomStringConvertible) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

func compareStreams(_ options: Options) async throws {
    let origin = try OriginProcess()
    let address = origin.address + options.stream.path
    let seconds = Int(options.seconds)
    say("media: \(options.stream.title), segments of 2 s; \(seconds) s of real time each, after the start\n")
    say(Row.header)
    var rows: [Row] = []
    for count in options.counts {
        let row = try probesInAProcess(count, options.seconds, origin, address)
        say(row)
        rows.append(row)
    }
    if options.peers > 0 {
        say(try measurePeer("ffmpeg", Peer.ffmpeg(address), options))
        say(try measurePeer("mpv", Peer.mpv(address), options))
    }
    origin.stop()
    if let plot = options.plot { try CostPlot(rows).svg.write(toFile: plot, atomically: true, encoding: .utf8) }
}

/// The result that the process of a row prints.
struct Figures: Codable {
    /// Per stream-minute, once all streams have started and filled their buffers.
    var processorSeconds: Double
    /// Per stream, until then.
    var startSeconds: Double
    /// The minutes of one stream that the origin has served.
    var minutes: Double
    var megabytes: Double
    var stalls: Int
    var started: Int
}

/// Each count in a separate process, so that none has the memory of the one before.
func probesInAProcess(
    _ count: Int,
    _ seconds: Double,
    _ origin: OriginProcess,
    _ address: String
) throws -> Row {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = ["row", "\(count)", "\(seconds)", address]
    process.standardOutput = output
    let before = origin.processorTime
    try process.run()
    let figures = try JSONDecoder().decode(Figures.self, from: output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    return Row(
        name: "probe",
        count: count,
        processorSeconds: figures.processorSeconds,
        startSeconds: figures.startSeconds,
        megabytes: figures.megabytes,
        stalls: figures.stalls,
        started: figures.started,
        // Of all of the row's time, its beginning included.
        originSeconds: (origin.processorTime - before) / figures.minutes
    )
}

/// Waits until all streams have started and filled their buffers, so that what follows is the steady state: until the
/// processor time falls no longer.
func settle() async throws {
    let (window, leastWindows, mostWindows) = (4, 3, 30)
    var last = Double.infinity
    for number in 1...mostWindows {
        let before = processorTime()
        try await Task.sleep(for: .seconds(window))
        let spent = processorTime() - before
        if number >= leastWindows, spent > 0.9 * last { return }
        last = spent
    }
    say("the streams did not settle within \(window * mostWindows) s")
}

/// Plays `count` streams at once for a while.
func measureRow(_ words: [String]) async throws {
    guard words.count == 3, let count = Int(words[0]), let seconds = Double(words[1]) else { return }
    var profile = PlayerProfile.standard
    profile.rule = FixedRule(.rung(1))
    let tally = Tally()
    // A hundred starts a second at most: filling a buffer costs as much as half a minute of playing.
    let spacing = Duration.milliseconds(max(10, 5000 / count))
    func fleet(of count: Int, _ report: @escaping @Sendable (Action) -> Void) -> ProbeFleet {
        let probes = (0..<count).map { _ in
            Probe(MediaSource(words[2]), configuration: ProbeConfiguration(profile: profile))
        }
        for probe in probes { probe.report { report($0.action) } }
        return ProbeFleet(probes, spacing: spacing)
    }
    // The initial cost (libraries, threads) belongs to no stream.
    let first = fleet(of: 1) { _ in }
    first.start()
    try await Task.sleep(for: .seconds(2))
    first.stop()
    _ = await first.waitUntilFinished()
    let before = memoryInUse()
    let clock = SystemClock()
    let (cpuBefore, launched) = (processorTime(), clock.now)
    let all = fleet(of: count) { tally.count($0) }
    all.start()
    try await Task.sleep(for: spacing * count)
    try await settle()
    let (cpu, begun) = (processorTime(), clock.now)
    try await Task.sleep(for: .seconds(seconds))
    let minutes = begun.duration(to: clock.now) / .seconds(60) * Double(count)
    let figures = Figures(
        processorSeconds: (processorTime() - cpu) / minutes,
        startSeconds: (cpu - cpuBefore) / Double(count),
        minutes: launched.duration(to: clock.now) / .seconds(60) * Double(count),
        megabytes: Double(memoryInUse() - before) / 1e6 / Double(count),
        // The first wait of each is the one before its start.
        stalls: max(0, tally[.bufferBegin] - count),
        started: tally[.start]
    )
    all.stop()
    FileHandle.standardOutput.write(try JSONEncoder().encode(figures))
}

/// Counts what happens in many probes.
final class Tally: Sendable {
    private let counts = Mutex([Action: Int]())
    func count(_ action: Action) { counts.withLock { $0[action, default: 0] += 1 } }
    subscript(action: Action) -> Int { counts.withLock { $0[action] ?? 0 } }
}
