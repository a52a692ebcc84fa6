internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentProbe

/// The player and its settings, which are the same for every source.
struct PlayerOptions: ParsableArguments {
    @Option(
        help: """
            Player to imitate, with its buffer, rendition choice and retries: \
            \(PlayerProfile.named.map(\.name).joined(separator: ", ")).
            """
    )
    var profile = PlayerProfile.standard.name

    @Option(
        help: """
            Adaptation rule that replaces the profile's rule: \
            \(AdaptationCommand.Candidate.rules.map(\.name).joined(separator: ", ")).
            """
    )
    var abr: String?

    @Option(help: "Highest bitrate of a rendition, in kbit/s.")
    var maxBitrate: Int?

    @Option(help: "Largest height of a rendition, in pixels.")
    var maxHeight: Int?

    @Option(help: "Audio language, for streams with several, such as 'en' or 'pt-BR'.")
    var language: String?

    @Option(help: "Start position in the media, in seconds.")
    var startAt: Double = 0

    @Option(
        name: .customLong("seek"),
        help: ArgumentHelp(
            "Seek to position TO, this long (AT) after the request for playback, both in seconds. May be repeated.",
            valueName: "at=to"
        )
    )
    var seeks: [SeekOption] = []

    @Option(help: "Number of times to play each source; 0 plays until stopped.")
    var loop = 1

    @Option(help: "Bandwidth limit for each request of a playlist or segment, in kbit/s; HLS and DASH only.")
    var bandwidthLimit: Int?

    @Flag(
        help: """
            Refuse to fetch from loopback, private and other special addresses: for lists of unknown origin. Only HLS and DASH \
            (.m3u8, .mpd) and files play; other media at URLs is refused.
            """
    )
    var refusePrivateAddresses = false

    func validate() throws {
        _ = try makeProfile()
        let whole = [
            ("max-bitrate", maxBitrate, 10_000_000), ("max-height", maxHeight, 100_000),
            ("bandwidth-limit", bandwidthLimit, 100_000_000),
        ]
        for (name, value, limit) in whole {
            if let value, !(1...limit).contains(value) {
                throw ValidationError("--\(name) must be between 1 and \(limit) (found \(value))")
            }
        }
        guard (0..<1e9).contains(startAt) else {
            throw ValidationError("--start-at must be 0 or more seconds (found \(startAt))")
        }
        guard (0...1_000_000).contains(loop) else {
            throw ValidationError("--loop must be between 0 and 1000000 (found \(loop))")
        }
    }

    /// Returns the configuration of every probe.
    func configuration(title: String?, timeout: Duration) throws -> ProbeConfiguration {
        ProbeConfiguration(
            title: title,
            profile: try makeProfile(),
            language: language,
            limits: StreamLimits(maximumBandwidth: bandwidthLimit.map { $0 * 1000 }),
            startPosition: .seconds(startAt),
            playCount: loop == 0 ? nil : loop,
            allowsPrivateAddresses: !refusePrivateAddresses,
            openTimeout: timeout,
            readTimeout: timeout
        )
    }

    private func makeProfile() throws -> PlayerProfile {
        guard var made = PlayerProfile(named: profile) else {
            let known = PlayerProfile.named.map(\.name).joined(separator: ", ")
            throw ValidationError("--profile must be one of \(known) (found '\(profile)')")
        }
        if let abr { made.rule = try AdaptationCommand.Candidate.rule(named: abr) }
        if let maxBitrate { made.constraints.maximumBitrate = maxBitrate * 1000 }
        if let maxHeight { made.constraints.maximumHeight = maxHeight }
        return made
    }
}
