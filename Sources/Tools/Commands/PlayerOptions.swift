internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentHTTP
internal import InstrumentProbe
internal import InstrumentTransport

/// The player and its settings, which are the same for every source.
struct PlayerOptions: ParsableArguments {
    /// The transport of CMCD on requests.
    enum CMCDMode: String, ExpressibleByArgument, CaseIterable {
        case query, header

        var mode: RequestReporting.Mode { self == .query ? .query : .header }
    }

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

    @Option(
        help: """
            Subtitles to fetch and count beside video and audio: a language, such as 'en' or 'pt-BR', or 'off'. Without this option, \
            those that an HLS or DASH stream declares as the default, or as forced in the language of the audio.
            """
    )
    var subtitles: String?

    @Option(
        help: """
            Licence server for encrypted samples. The probe decrypts nothing: it sends one POST request with the PSSH data, the data or \
            address of EXT-X-KEY, or the key identifier, which is no real challenge, and encrypted media plays once a licence has arrived. A licence that fails ends the \
            playback.
            """
    )
    var licenseURL: String?

    @Option(help: ArgumentHelp("Start position in the media.", valueName: "time"))
    var startAt = DurationOption(.zero)

    @Option(
        name: .customLong("seek"),
        help: ArgumentHelp(
            "Seek to position TO, this long (AT) after the request for playback. May be repeated.",
            valueName: "at=to"
        ),
        transform: ViewerOption.seek
    )
    var seeks: [ViewerOption] = []

    @Option(
        name: .customLong("pause"),
        help: ArgumentHelp(
            "Pause for LENGTH, this long (AT) after the request for playback. May be repeated.",
            valueName: "at=length"
        ),
        transform: ViewerOption.pause
    )
    var pauses: [ViewerOption] = []

    @Option(
        name: .customLong("rate"),
        help: ArgumentHelp(
            "Play at RATE, such as 1.5, from this time (AT) after the request for playback on. May be repeated.",
            valueName: "at=rate"
        ),
        transform: ViewerOption.rate
    )
    var rates: [ViewerOption] = []

    /// All that the viewer does.
    var viewer: [ViewerOption] { seeks + pauses + rates }

    @Option(help: "Number of times to play each source; 0 plays until stopped.")
    var loop = 1

    @Option(help: "Bandwidth limit for each request of a playlist or segment, in kbit/s; HLS and DASH only.")
    var bandwidthLimit: Int?

    @Option(
        help: """
            Add Common Media Client Data (CMCD) to the requests of HLS and DASH: 'query' for the parameter CMCD, 'header' for the \
            header fields. Only requests for the host of the source carry it, unless --cmcd-host is given.
            """
    )
    var cmcd: CMCDMode?

    @Option(
        help: "Host whose requests carry CMCD, in place of the host of the source. May be repeated; requires --cmcd."
    )
    var cmcdHost: [String] = []

    @Option(help: "Identifier of the content in CMCD (cid), at most 128 characters; requires --cmcd.")
    var cmcdContent: String?

    @Flag(
        help: """
            Report each request of HLS and DASH as an event (RequestFinish), so that the metrics Throughput, TimeToFirstByte and \
            RequestErrors cover every request.
            """
    )
    var requestEvents = false

    @Flag(
        help: """
            Refuse to fetch from loopback, private and other special addresses: for lists of unknown origin. Only HLS and DASH \
            (.m3u8, .mpd) and files play; other media at URLs is refused.
            """
    )
    var refusePrivateAddresses = false

    @Flag(
        name: .customLong("http3"),
        help: """
            Request streams over HTTP/3 where a server offers it, and over HTTP/2 or 1.1 elsewhere. Needs a libcurl that is built with \
            HTTP/3.
            """
    )
    var usesHTTP3 = false

    func validate() throws {
        if usesHTTP3, !TransportConfiguration.supportsHTTP3 {
            throw ValidationError("--http3 needs a libcurl with HTTP/3 (7.88 or later); the installed one has none")
        }
        _ = try makeProfile()
        _ = try makeLicenceURL()
        let whole = [
            ("max-bitrate", maxBitrate, 10_000_000), ("max-height", maxHeight, 100_000),
            ("bandwidth-limit", bandwidthLimit, 100_000_000),
        ]
        for (name, value, limit) in whole {
            if let value, !(1...limit).contains(value) {
                throw ValidationError("--\(name) must be between 1 and \(limit) (found \(value))")
            }
        }
        if cmcd == nil, !cmcdHost.isEmpty || cmcdContent != nil {
            throw ValidationError("--cmcd-host and --cmcd-content must be given together with --cmcd")
        }
        if let cmcdContent, cmcdContent.isEmpty || cmcdContent.utf8.count > 128 {
            throw ValidationError("--cmcd-content must have 1 to 128 characters (found \(cmcdContent.utf8.count))")
        }
        if let subtitles, subtitles.isEmpty || subtitles.utf8.count > 100 {
            throw ValidationError("--subtitles must be a language, such as 'en', or 'off' (found '\(subtitles)')")
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
            subtitles: subtitles.map { $0 == "off" ? .off : .language($0) } ?? .declared,
            licenceURL: try makeLicenceURL(),
            limits: StreamLimits(maximumBandwidth: bandwidthLimit.map { $0 * 1000 }),
            startPosition: startAt.duration,
            playCount: loop == 0 ? nil : loop,
            allowsPrivateAddresses: !refusePrivateAddresses,
            usesHTTP3: usesHTTP3,
            userAgent: PlayerMonitor.userAgent,
            requestReporting: cmcd.map { mode in
                RequestReporting(mode.mode, hosts: cmcdHost.isEmpty ? nil : Set(cmcdHost), contentID: cmcdContent)
            },
            reportsRequests: requestEvents,
            openTimeout: timeout,
            readTimeout: timeout
        )
    }

    /// The message shows no address, which may contain secrets.
    private func makeLicenceURL() throws -> HTTPURL? {
        do throws(HTTPError) {
            return try licenseURL.map { text throws(HTTPError) in try HTTPURL(text) }
        } catch {
            throw ValidationError("--license-url: \(error.message)")
        }
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
