internal import ArgumentParser
internal import InstrumentJSON
internal import InstrumentProbe

/// `player-monitor abr`: adaptation rules side by side.
struct AdaptationCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }
    enum Comparison: String, ExpressibleByArgument, CaseIterable { case rules, profiles }

    static let configuration = CommandConfiguration(
        commandName: "abr",
        abstract:
            "Plays segments over bandwidth traces with several adaptation rules, and compares what a viewer gets.",
        discussion: """
            Nothing is fetched: time is virtual, and the same input always gives the same table. Without --trace seven built-in \
            traces are taken, without --ladder Big Buck Bunny as in the BOLA paper (10 bitrates, 10 minutes).

            Columns: the mean bitrate in kbit/s, the start time, the number and length of stalls, how often the bitrate changed, \
            downloads that were given up, and the score of Yin et al. (SIGCOMM 2015, "balanced"): per segment Mbit/s, less their \
            changes, less 3 for each second of stall and before the start. Rules: \(Candidate.rules.map(\.name).joined(separator: ", ")).

            player-monitor abr --rule bola --rule throughput --trace 4g.json --plot 4g.svg
            """
    )

    @Option(
        name: .customLong("trace"),
        help: "A bandwidth trace: Mahimahi, 'seconds Mbit/s' lines, or Sabre's JSON. May be repeated."
    )
    var traces: [String] = []

    @Option(help: "From request to first byte in milliseconds, for traces that do not say.")
    var latency: Int = 50

    @Option(help: "Bitrates in kbit/s, as 400,800,1600, or a file that describes media as Sabre has it.")
    var ladder: String?

    @Option(help: "The duration of a segment in seconds, with bitrates.")
    var segment: Double = 4

    @Option(help: "The duration of the media in seconds, with bitrates.")
    var duration: Double = 600

    @Option(name: .customLong("rule"), help: "One of the rules above. May be repeated; by default all are compared.")
    var rules: [String] = []

    @Option(
        help: "The player whose buffer and start apply: \(PlayerProfile.named.map(\.name).joined(separator: ", "))."
    )
    var profile: String = PlayerProfile.standard.name

    @Option(help: "Compare rules in one player, or profiles with the rules of their own.")
    var compare: Comparison = .rules

    @Option(help: "Text, or a JSON object a line.")
    var format: Format = .text

    @Option(help: "Draw bitrate and buffer over time for the first trace into this SVG file.")
    var plot: String?

    func validate() throws {
        guard segment.isFinite, segment >= 0.1, segment <= 60 else { throw ValidationError("--segment is 0.1 to 60 s") }
        guard duration.isFinite, duration >= segment, duration <= 86_400 else {
            throw ValidationError("--duration is at least a segment and at most a day")
        }
        guard (0...60_000).contains(latency) else { throw ValidationError("--latency is 0 to 60000 ms") }
    }

    func run() throws {
        let media = try media()
        let networks = try networks()
        let candidates = try candidates()
        var rows: [AdaptationRow] = []
        for network in networks {
            for candidate in candidates {
                let simulation = AdaptationSimulation(media: media, trace: network, profile: candidate.profile)
                rows.append(AdaptationRow(trace: network.name, rule: candidate.name, simulation.run(), media.ladder))
            }
        }
        let terminal = Terminal(isQuiet: true)
        switch format {
        case .text: try terminal.output(AdaptationTable(rows).text)
        case .json: for row in rows { try terminal.output(json: row.json.bytes) }
        }
        if let plot, let network = networks.first {
            let drawn = AdaptationPlot(rows.filter { $0.trace == network.name }, trace: network, media: media)
            try writeFile(drawn.svg, to: plot)
        }
    }
}

// MARK: What is compared
extension AdaptationCommand {
    /// A rule or a player, and the profile to play it with.
    struct Candidate {
        let name: String
        var profile: PlayerProfile

        static let rules: [(name: String, rule: any AdaptationRule)] = [
            ("lowest", FixedRule(.lowest)), ("highest", FixedRule(.highest)),
            ("throughput", ThroughputRule(abandonment: .dashJS)), ("exoplayer", ThroughputRule.exoPlayer),
            ("hlsjs", ThroughputRule.hlsJS), ("shaka", ThroughputRule.shaka), ("bola-basic", basic),
            ("bola", BOLARule()), ("bola-e", BOLAEnhancedRule()), ("hybrid", HybridRule()),
            ("dashjs", HybridRule.dashJS),
        ]

        private static let basic = BOLARule(variant: .finite, adjustsToLength: false)

        static func rule(named name: String) throws -> any AdaptationRule {
            if let known = rules.first(where: { $0.name == name }) { return known.rule }
            let known = rules.map(\.name).joined(separator: ", ")
            throw ValidationError("there is no rule \(name), only \(known)")
        }
    }

    private func candidates() throws -> [Candidate] {
        guard let base = PlayerProfile(named: profile) else {
            let known = PlayerProfile.named.map(\.name).joined(separator: ", ")
            throw ValidationError("there is no profile \(profile), only \(known)")
        }
        if compare == .profiles { return PlayerProfile.named.map { Candidate(name: $0.name, profile: $0) } }
        for name in rules { _ = try Candidate.rule(named: name) }
        return Candidate.rules.filter { rules.isEmpty || rules.contains($0.name) }.map { rule in
            var profile = base
            profile.rule = rule.rule
            return Candidate(name: rule.name, profile: profile)
        }
    }

    private func networks() throws -> [BandwidthTrace] {
        if traces.isEmpty { return BandwidthTrace.generated }
        return try traces.map { path in
            let name = path.split(separator: "/").last.map(String.init) ?? path
            do {
                let text = try Self.text(of: path)
                return try BandwidthTrace(name: name, reading: text, latency: .milliseconds(latency))
            } catch let error as BandwidthTraceError {
                throw ValidationError("\(path): \(error)")
            }
        }
    }

    private func media() throws -> SegmentedMedia {
        guard let ladder else { return .bigBuckBunny }
        let bitrates = ladder.split(separator: ",").map { Int($0) }
        if !bitrates.contains(nil) {
            let rungs = bitrates.compactMap { $0 }.filter { (1...10_000_000).contains($0) }
            guard rungs.count == bitrates.count,
                let made = BitrateLadder(rungs.map { LadderRung(peakBitrate: $0 * 1000) })
            else { throw ValidationError("a ladder is made of bitrates in kbit/s, as 400,800,1600") }
            let count = Int((duration / segment).rounded(.up))
            return SegmentedMedia(ladder: made, segmentDuration: .seconds(segment), count: count)
        }
        guard let media = SegmentedMedia(readingSabre: try Self.text(of: ladder)) else {
            throw ValidationError("\(ladder) has no segment_duration_ms, rising bitrates_kbps and segment_sizes_bits")
        }
        return media
    }

    private static func text(of path: String) throws -> String {
        var reader = try LineReader(path: path)
        var bytes: [UInt8] = []
        while let line = try reader.next() { bytes += line + [UInt8(ascii: "\n")] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
