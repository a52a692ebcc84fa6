internal import ArgumentParser
internal import Instrument
internal import InstrumentAds
internal import InstrumentBeacons
internal import InstrumentCommandLine
internal import InstrumentProbe
internal import InstrumentTransport

/// The ads of `play`.
struct AdOptions: ParsableArguments {
    @Option(
        name: .customLong("ads"),
        help: ArgumentHelp(
            """
            Address of a VAST or VMAP document whose ads interrupt the content, with macros such as [CACHEBUSTING]. Impressions and \
            events of ads are sent to the ad server unless --no-beacons is given.
            """,
            valueName: "url"
        )
    )
    var tag: String?

    @Flag(
        help: """
            Play the ads that the stream itself names (HLS interstitials, alternative presentations of DASH) and report its \
            signals (SCTE-35). Implied by --ads.
            """
    )
    var interstitials = false

    @Option(
        name: .customLong("ad-macro"),
        help: ArgumentHelp(
            "Value of a macro in addresses of ads. May be repeated.",
            valueName: "name=value"
        )
    )
    var macros: [String] = []

    @Option(
        help: ArgumentHelp("Time within which an ad must start; an ad that does not is left out.", valueName: "time")
    )
    var adTimeout = DurationOption(.seconds(10))

    @Flag(help: "Send no impression and no other event of an ad to ad servers.")
    var noBeacons = false

    /// Whether ads are played.
    var areWanted: Bool { tag != nil || interstitials }

    func validate() throws {
        if let tag, !AdURL(tag).isOfServer {
            throw ValidationError("--ads must be an http or https address (found '\(tag)')")
        }
        try adTimeout.validate("--ad-timeout", in: .milliseconds(1) ... .seconds(3600))
        if !areWanted, !macros.isEmpty || noBeacons {
            throw ValidationError("--ad-macro and --no-beacons must be given together with --ads or --interstitials")
        }
        _ = try MacroValues(arguments: macros, of: "--ad-macro")
    }

    /// The ads of every probe; nil for none.
    func configuration() throws -> AdConfiguration? {
        guard areWanted else { return nil }
        return AdConfiguration(
            tag: tag.map { AdURL($0) },
            macros: try MacroValues(arguments: macros, of: "--ad-macro"),
            privacy: privacy,
            startTimeout: adTimeout.duration
        )
    }

    /// A macro that the command line names is chosen, also one that may identify a person.
    private var privacy: PrivacyRules {
        let names = macros.map { argument in String(argument.prefix { $0 != "=" }) }
        return PrivacyRules(
            choices: Dictionary(names.map { (PrivacyRules.field(ofMacro: $0), true) }) { first, _ in first }
        )
    }

    /// The backend that calls ad servers; nil if nobody is called.
    func makeBackend(refusingPrivateAddresses isCareful: Bool) throws -> BeaconBackend? {
        guard areWanted, !noBeacons else { return nil }
        let transport = try SystemTransport.ofProgram(refusingPrivateAddresses: isCareful)
        return BeaconBackend(transport: transport, userAgent: PlayerMonitor.userAgent)
    }

    /// Adds the tracker of a probe's ads, and queues the beacons; nil if no ads are wanted.
    func watch(
        _ probe: Probe,
        content: TrackerID,
        _ instrument: Instrument,
        clock: any SchedulingClock
    ) -> TrackerID? {
        guard let ads = probe.ads else { return nil }
        let tracker = instrument.add(AdTracker(ads), adsOf: content)
        guard !noBeacons else { return tracker }
        let beacons = Beacons(queue: instrument.queue, tracker: tracker, privacy: privacy, clock: clock)
        ads.report(beaconsTo: { call in
            beacons.send(call.beacons, of: call.playback, ad: call.ad, media: call.media, macros: call.macros)
        })
        return tracker
    }
}

extension MacroValues {
    /// Reads values of the form NAME=VALUE.
    init(arguments: [String], of option: String) throws {
        self.init()
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw ValidationError("\(option) must have the form NAME=VALUE (found '\(argument)')")
            }
            self[String(parts[0])] = .text(String(parts[1]))
        }
    }
}
