import Instrument
import Testing

@testable import InstrumentProbe

/// A trial of a real player, and the same trial with the probe.
struct RealTrial: Sendable, CustomTestStringConvertible {
    enum Player: String, Sendable {
        case hlsTransport = "hls.js, transport stream"
        case hlsFragmented = "hls.js, fragmented MP4"
        case hlsTransportModule = "hls.js without worker, transport stream"
        case hlsFragmentedModule = "hls.js without worker, fragmented MP4"
        case dashJS = "dash.js"
        case shaka = "Shaka"
        case shakaTransport = "Shaka, HLS, transport stream"
        case shakaFragmented = "Shaka, HLS, fragmented MP4"

        var profile: PlayerProfile {
            switch self {
            case .hlsTransport, .hlsFragmented: .hlsJS
            case .hlsTransportModule, .hlsFragmentedModule: .hlsJSWithoutWorker
            case .dashJS: .dashJS
            case .shaka, .shakaTransport, .shakaFragmented: .shaka
            }
        }

        var path: String {
            switch self {
            case .hlsTransport, .hlsTransportModule, .shakaTransport: "/ts/master.m3u8"
            case .hlsFragmented, .hlsFragmentedModule, .shakaFragmented: "/fmp4/master.m3u8"
            case .dashJS, .shaka: "/dash/number.mpd"
            }
        }
    }

    var player: Player
    var schedule: String
    /// The duration of the trial.
    var seconds: Int
    /// In seconds.
    var start: Double
    var runs: RungRuns
    /// What a real player requests as well, with the cause of the difference.
    var alternative: (runs: RungRuns, cause: String)?
    /// The number of segments that were fetched twice.
    var refetched: Int

    init(
        _ player: Player,
        _ schedule: String,
        seconds: Int,
        start: Double,
        _ runs: RungRuns,
        refetched: Int = 0,
        or alternative: (runs: RungRuns, cause: String)? = nil
    ) {
        (self.player, self.schedule, self.seconds, self.start) = (player, schedule, seconds, start)
        (self.runs, self.refetched, self.alternative) = (runs, refetched, alternative)
    }

    var testDescription: String { "\(player.rawValue), \(schedule)" }

    /// What the probe does in the same trial.
    struct Replay: Sendable {
        /// In seconds.
        var start: Double?
        /// The requests until the end of the trial.
        var runs: RungRuns
        /// The number of segments of video that were requested again after they had come.
        var refetched: Int
        var stalls: Int
    }

    func played() async throws -> Replay {
        let clock = VirtualClock()
        let latency = schedule.firstMatch(of: /latency ([0-9]+)ms/).flatMap { Int64($0.1) } ?? 2
        let network = try OriginNetwork(
            try await LoopedOrigin(),
            over: schedule,
            clock: clock,
            latency: latency * 1_000_000
        )
        let configuration = ProbeConfiguration(profile: player.profile)
        let played = await playStream(player.path, over: network, clock, configuration, until: .seconds(seconds))
        let whole = network.requests.filter { $0.answeredAt != nil && $0.path.contains("/v") && $0.path.hasSuffix("s") }
        let numbers = Set(whole.compactMap { $0.path.split(separator: "/").last })
        return Replay(
            start: played.time(.start).map { Double($0) / 1000 },
            // The end of the playback aborts what is running.
            runs: RungRuns(network.requests, until: clock.now.nanoseconds),
            refetched: whole.count - numbers.count,
            stalls: played.all(.bufferBegin).count - 1
        )
    }
}

/// The rungs of a player's requests in their order: "1(aborted) 0×13 1×9".
struct RungRuns: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    private struct Run: Sendable {
        /// The rung, with a mark where the request was aborted.
        var name: String
        var count: Int
    }

    private var runs: [Run] = []

    init(stringLiteral text: String) {
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "×")
            runs.append(Run(name: String(parts[0]), count: parts.count > 1 ? Int(parts[1]) ?? 0 : 1))
        }
    }

    /// The runs of the segments of video.
    init(_ requests: [OriginNetwork.Request], until end: Int64) {
        for request in requests {
            let parts = request.path.split(separator: "/")
            guard parts.count == 3, parts[1].hasPrefix("v"), parts[2] != "init.mp4" else { continue }
            let isAborted = request.abortedAt.map { $0 < end } ?? false
            let name = parts[1].dropFirst() + (isAborted ? "(aborted)" : "")
            if runs.last?.name == String(name) {
                runs[runs.count - 1].count += 1
            } else {
                runs.append(Run(name: String(name), count: 1))
            }
        }
    }

    /// Whether both have the same rungs in the same order, and numbers of segments that differ by at most `tolerance`.
    func agree(with other: RungRuns, within tolerance: Int) -> Bool {
        runs.map(\.name) == other.runs.map(\.name)
            && zip(runs, other.runs).allSatisfy { abs($0.count - $1.count) <= tolerance }
    }

    var description: String { runs.map { "\($0.name)×\($0.count)" }.joined(separator: " ") }
}
