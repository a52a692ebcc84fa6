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
    ProbeBenchmark [--seconds 30] [--peers 4] [--stream ts] [--starting 10] [--plot FILE.svg] [COUNT …]
    ProbeBenchmark file FILE          how fast a file is played through, beside ffmpeg and ffprobe

    --stream   ts, fmp4, dash, live (HLS) or livedash; each at its rung of about 1 Mbit/s
    --starting seconds in which all streams of a row start; by default a hundred start in a second, in 5 s at least
    COUNT      how many streams at once, one row each; by default 1 10 50 200 1000
    """
}

/// The options of the command line.
struct Options {
    var seconds = 30.0
    var peers = 4
    var plot: String?
    var stream = TestStream.ts
    /// Seconds in which all streams of a row start; nil for the usual rate.
    var starting: Double?
    var counts: [Int] = []

    /// Nil if a word is not understood.
    init?(_ arguments: inout [String]) {
        var left = arguments[...]
        while let word = left.popFirst() {
            switch word {
            case "--seconds": seconds = left.popFirst().flatMap(Double.init) ?? seconds
            case "--peers": peers = left.popFirst().flatMap(Int.init) ?? peers
            case "--stream": stream = left.popFirst().flatMap(TestStream.init) ?? stream
            case "--starting": starting = left.popFirst().flatMap(Double.init)
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
        let row = try probesInAProcess(count, options, origin, address)
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
    /// The part of it that the kernel used.
    var systemSeconds: Double
    /// Per stream, until then.
    var startSeconds: Double
    /// The minutes of one stream that the origin has served.
    var minutes: Double
    var megabytes: Double
    var stalls: Int
    var started: Int
    /// Seconds from the first start until every stream has shown its first picture; nil if one has not.
    var lastStart: Double?
}

/// Each count in a separate process, so that none has the memory of the one before.
func probesInAProcess(
    _ count: Int,
    _ options: Options,
    _ origin: OriginProcess,
    _ address: String
) throws -> Row {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    // A hundred starts a second at most: filling a buffer costs as much as half a minute of playing.
    let starting = options.starting ?? max(5, Double(count) / 100)
    process.arguments = ["row", "\(count)", "\(options.seconds)", address, "\(starting)"]
    process.standardOutput = output
    let before = origin.processorTime
    try process.run()
    let figures = try JSONDecoder().decode(Figures.self, from: output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    return Row(
        name: "probe",
        count: count,
        processorSeconds: figures.processorSeconds,
        systemSeconds: figures.systemSeconds,
        startSeconds: figures.startSeconds,
        megabytes: figures.megabytes,
        stalls: figures.stalls,
        started: figures.started,
        lastStart: figures.lastStart,
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
        let before = processorTime().whole
        try await Task.sleep(for: .seconds(window))
        let spent = processorTime().whole - before
        if number >= leastWindows, spent > 0.9 * last { return }
        last = spent
    }
    say("the streams did not settle within \(window * mostWindows) s")
}

/// Plays `count` streams at once for a while.
func measureRow(_ words: [String]) async throws {
    guard words.count == 4, let count = Int(words[0]), let seconds = Double(words[1]), let starting = Double(words[3])
    else { return }
    var profile = PlayerProfile.standard
    profile.rule = FixedRule(.rung(1))
    let tally = Tally()
    let spacing = Duration.seconds(starting / Double(count))
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
    let used = processorTime()
    let minutes = begun.duration(to: clock.now) / .seconds(60) * Double(count)
    let figures = Figures(
        processorSeconds: (used.whole - cpu.whole) / minutes,
        systemSeconds: (used.system - cpu.system) / minutes,
        startSeconds: (cpu.whole - cpuBefore.whole) / Double(count),
        minutes: launched.duration(to: clock.now) / .seconds(60) * Double(count),
        megabytes: Double(memoryInUse() - before) / 1e6 / Double(count),
        // The first wait of each is the one before its start.
        stalls: max(0, tally[.bufferBegin] - count),
        started: tally[.start],
        lastStart: tally[.start] < count ? nil : tally.lastStart.map { launched.duration(to: $0) / .seconds(1) }
    )
    all.stop()
    FileHandle.standardOutput.write(try JSONEncoder().encode(figures))
}

/// Counts what happens in many probes.
final class Tally: Sendable {
    private struct State {
        var counts: [Action: Int] = [:]
        var lastStart: MonotonicInstant?
    }

    private let state = Mutex(State())

    func count(_ action: Action) {
        state.withLock { state in
            state.counts[action, default: 0] += 1
            if action == .start { state.lastStart = SystemClock().now }
        }
    }

    subscript(action: Action) -> Int { state.withLock { $0.counts[action] ?? 0 } }
    /// The instant of the latest start.
    var lastStart: MonotonicInstant? { state.withLock { $0.lastStart } }
}
