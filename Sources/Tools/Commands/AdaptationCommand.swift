internal import ArgumentParser
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentProbe

/// `player-monitor abr`: compares adaptation rules.
struct AdaptationCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }
    enum Comparison: String, ExpressibleByArgument, CaseIterable { case rules, profiles }

    static let configuration = CommandConfiguration(
        commandName: "abr",
        abstract:
            "Simulate adaptation rules over bandwidth traces and compare the viewing experience.",
        discussion: """
            The simulation fetches nothing and runs in virtual time: the same input always gives the same table. The default is \
            seven built-in traces and the ladder of Big Buck Bunny in the BOLA paper (10 bitrates, 10 minutes).

            Columns: mean bitrate in kbit/s, start time, number and length of stalls, number of bitrate changes, abandoned \
            downloads, and the score of Yin et al. (SIGCOMM 2015, "balanced"): Mbit/s of each segment, minus the changes between \
            segments, minus 3 for each second of stalls and startup. Rules: \(Candidate.rules.map(\.name).joined(separator: ", ")).

            player-monitor abr --rule bola --rule throughput --trace 4g.json \\
                --plot 4g.svg
            """
    )

    @Option(
        name: .customLong("trace"),
        help: "File with a bandwidth trace: Mahimahi, lines of 'seconds Mbit/s', or Sabre's JSON. May be repeated."
    )
    var traces: [String] = []

    @Option(
        help: ArgumentHelp("Time from request to first byte, for traces without latency.", valueName: "time")
    )
    var latency = DurationOption(.milliseconds(50))

    @Option(help: "Bitrates in kbit/s, such as 400,800,1600, or a file with a media description in Sabre's format.")
    var ladder: String?

    @Option(
        help: ArgumentHelp("Duration of a segment, with --ladder BITRATES.", valueName: "time")
    )
    var segment = DurationOption(.seconds(4))

    @Option(
        help: ArgumentHelp("Duration of the media, with --ladder BITRATES.", valueName: "time")
    )
    var duration = DurationOption(.seconds(600))

    @Option(
        name: .customLong("rule"),
        help: "Rule to simulate, from the list above. May be repeated (default: all rules)."
    )
    var rules: [String] = []

    @Option(
        help: "Player whose buffer and startup rules apply: \(PlayerProfile.named.map(\.name).joined(separator: ", "))."
    )
    var profile: String = PlayerProfile.standard.name

    @Option(help: "Compare 'rules' within one player, or 'profiles' of players with their own rules.")
    var compare: Comparison = .rules

    @Option(help: "Output format: 'text', or 'json' for one object per line.")
    var format: Format = .text

    @Option(help: "SVG file for a plot of bitrate and buffer over time, for the first trace.")
    var plot: String?

    func validate() throws {
        try segment.validate("--segment", in: .milliseconds(100) ... .seconds(60))
        try duration.validate("--duration", in: segment.duration ... .seconds(86_400))
        // A number alone was a number of milliseconds once: 50 would be a latency of 50 seconds.
        guard latency.duration <= .seconds(10) else {
            throw ValidationError("--latency must be at most 10s (found \(latency)); write milliseconds as in 50ms")
        }
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

// MARK: Candidates
extension AdaptationCommand {
    /// A rule or player to compare, and its profile.
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
            throw ValidationError("the rule must be one of \(known) (found '\(name)')")
        }
    }

    private func candidates() throws -> [Candidate] {
        guard let base = PlayerProfile(named: profile) else {
            let known = PlayerProfile.named.map(\.name).joined(separator: ", ")
            throw ValidationError("--profile must be one of \(known) (found '\(profile)')")
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
                return try BandwidthTrace(name: name, reading: text, latency: latency.duration)
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
            else {
                throw ValidationError(
                    "--ladder must list rising bitrates between 1 and 10000000 kbit/s, such as 400,800,1600 (found '\(ladder)')"
                )
            }
            let count = Int((duration.duration / segment.duration).rounded(.up))
            return SegmentedMedia(ladder: made, segmentDuration: segment.duration, count: count)
        }
        guard let media = SegmentedMedia(readingSabre: try Self.text(of: ladder)) else {
            throw ValidationError(
                "\(ladder) must have segment_duration_ms, rising bitrates_kbps and segment_sizes_bits"
            )
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
