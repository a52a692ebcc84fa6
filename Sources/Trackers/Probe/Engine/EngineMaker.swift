internal import Instrument
internal import InstrumentTransport

/// Makes the engine that fits a source: for a stream, for progressive media, or for what may be either.
struct EngineMaker: Sendable {
    let transport: any HTTPTransport
    let clock: any SchedulingClock
    let randomness: RandomSource

    /// Returns an idle engine.
    /// - Parameter isStream: whether the source is known to be a stream, whatever the ending of its path is.
    func engine(
        for source: MediaSource,
        _ configuration: ProbeConfiguration,
        isStream: Bool = false
    ) -> any PlaybackEngine {
        let isStream = isStream || source.isStream
        let mayBeStream = source.isRemote && !isStream
        let make: RelayEngine.Maker = { isStream in
            let engine: any PlaybackEngine =
                isStream
                ? StreamEngine(
                    source: source,
                    configuration: configuration,
                    fetcher: TransportFetcher(
                        transport: transport,
                        clock: clock,
                        userAgent: configuration.userAgent,
                        client: ClientHeaders(
                            configuration.headers,
                            cookies: configuration.keepsCookies ? CookieJar() : nil
                        )
                    ),
                    clock: clock,
                    randomness: randomness
                ) : ProbeEngine(source: source, configuration: configuration, clock: clock)
            if configuration.startPosition > .zero {
                engine.perform(.seek(to: configuration.startPosition.nanoseconds))
            }
            return engine
        }
        guard mayBeStream || configuration.playCount != 1 else { return make(isStream) }
        return RelayEngine(
            isStream: isStream,
            mayBeStream: mayBeStream,
            playCount: configuration.playCount,
            make: make
        )
    }
}
