internal import ArgumentParser
internal import Instrument
internal import InstrumentProbe

/// A jump while playing, as it is written on the command line.
struct SeekOption: ExpressibleByArgument, Hashable {
    /// Since playback was asked for.
    var time: Duration
    /// From the start of the media.
    var target: Duration

    init?(argument: String) {
        let parts = argument.split(separator: "=", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let time = parts[0], let target = parts[1] else { return nil }
        guard (0..<1e9).contains(time), (0..<1e9).contains(target) else { return nil }
        (self.time, self.target) = (.seconds(time), .seconds(target))
    }
}

/// What kind of player it is, and what it is told to do: the same for every source.
struct PlayerOptions: ParsableArguments {
    @Option(
        help: """
            The player whose buffer, choice of renditions and retries apply: \
            \(PlayerProfile.named.map(\.name).joined(separator: ", ")).
            """
    )
    var profile = PlayerProfile.standard.name

    @Option(
        help: """
            Choose renditions by this rule in place of the profile's: \
            \(AdaptationCommand.Candidate.rules.map(\.name).joined(separator: ", ")).
            """
    )
    var abr: String?

    @Option(help: "No rendition above so many kbit/s.")
    var maxBitrate: Int?

    @Option(help: "No rendition that is higher, in pixels.")
    var maxHeight: Int?

    @Option(help: "The language of the sound, where a stream has several, as 'en' or 'pt-BR'.")
    var language: String?

    @Option(help: "Start at so many seconds of the media.")
    var startAt: Double = 0

    @Option(
        name: .customLong("seek"),
        help: ArgumentHelp(
            "Jump AT seconds after playback was asked for TO seconds of the media. May be repeated.",
            valueName: "at=to"
        )
    )
    var seeks: [SeekOption] = []

    @Option(help: "Play so many times, each a playback of its own; 0: until stopped.")
    var loop = 1

    @Option(help: "Fetch playlists and segments at so many kbit/s each at most; for HLS and DASH.")
    var bandwidthLimit: Int?

    @Flag(
        help: """
            Fetch nothing from loopback, private and other special addresses, whoever names them: for lists of unknown \
            origin. Plays HLS and DASH (.m3u8, .mpd) and files; other media at addresses is refused.
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
            if let value, !(1...limit).contains(value) { throw ValidationError("--\(name) is 1 to \(limit)") }
        }
        guard (0..<1e9).contains(startAt) else { throw ValidationError("--start-at is a number of seconds from 0") }
        guard (0...1_000_000).contains(loop) else { throw ValidationError("--loop is 0 to 1000000") }
    }

    /// What a probe is to do.
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
            throw ValidationError("there is no profile \(profile), only \(known)")
        }
        if let abr { made.rule = try AdaptationCommand.Candidate.rule(named: abr) }
        if let maxBitrate { made.constraints.maximumBitrate = maxBitrate * 1000 }
        if let maxHeight { made.constraints.maximumHeight = maxHeight }
        return made
    }
}
