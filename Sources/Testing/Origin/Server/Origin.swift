package import Instrument
internal import NIOCore
internal import NIOPosix

/// An HTTP/1.1 server of media that delivers by a schedule and fails on command.
///
/// ```swift
/// let origin = try await Origin.start(
///     media: [.fixtures(try await Fixtures.make(in: cache))],
///     schedule: DeliverySchedule("4000k for 10s, 600k for 20s, 4000k"),
///     faults: [FaultRule("404 on vod/ts/v0/3.ts first 1")]
/// )
/// play(origin.url("vod/ts/master.m3u8", session: "a"))
/// await origin.stop()
/// ```
///
/// Paths under `/s/NAME/` belong to the session NAME, which has a separate link, time zero (its first request) and
/// counts. Safe to use from any thread. Call ``stop()``: releasing the value does not stop the server.
public final class Origin: Sendable {
    private let reception: Reception
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let connections: Connections
    private let isStopped = Lock(false)
    /// The port.
    public let port: Int

    private init(
        _ reception: Reception,
        _ group: MultiThreadedEventLoopGroup,
        _ channel: any Channel,
        _ connections: Connections
    ) {
        self.reception = reception
        self.group = group
        self.channel = channel
        self.connections = connections
        port = channel.localAddress?.port ?? 0
    }

    /// Starts an origin and returns when it listens.
    /// - Throws: ``OriginError`` if it cannot listen, or if media do not exist.
    public static func start(
        media: [ServedMedia] = [],
        schedule: DeliverySchedule = .unlimited,
        faults: [FaultRule] = [],
        configuration: OriginConfiguration = OriginConfiguration()
    ) async throws(OriginError) -> Origin {
        let site = try Site(media)
        let reception = Reception(site: site, schedule: schedule, faults: faults, configuration: configuration)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, configuration.threads))
        let connections = Connections()
        do {
            let channel = try await bootstrap(reception, group, connections)
                .bind(host: configuration.host, port: configuration.port).get()
            return Origin(reception, group, channel, connections)
        } catch {
            try? await group.shutdownGracefully()
            let place = "\(configuration.host):\(configuration.port)"
            throw OriginError(.cannotListen, "Cannot listen on \(place) (\(error)). Choose another port, or 0 for any.")
        }
    }

    /// Returns the address of a path, in a session or (nil) in the session without a name.
    ///
    /// The name consists of letters, digits, `-`, `_` and `.`.
    public func url(_ path: String = "", session: String? = nil) -> String {
        let host = reception.configuration.host
        let shown = host.contains(":") ? "[\(host)]" : host
        let local = path.hasPrefix("/") ? String(path.dropFirst()) : path
        return "http://\(shown):\(port)/" + (session.map { "s/\($0)/" } ?? "") + local
    }

    /// The start, from which `AccessRecord.sinceOriginStart` counts.
    package var startTime: Timestamp { reception.start }

    /// The requests so far, in the order of their arrival.
    public var requests: [AccessRecord] { reception.log.records }

    /// The requests of one session so far.
    public func requests(of session: String) -> [AccessRecord] { requests.filter { $0.session == session } }

    /// The number of open connections.
    package var connectionCount: Int { connections.count }

    /// The served paths, each with a short description.
    package var catalogue: [CatalogueEntry] { reception.site.catalogue }

    /// Replaces the rules; their counts restart.
    public func setFaults(_ rules: [FaultRule]) { reception.setRules(rules) }

    /// Changes the schedule of one session or (nil) of all sessions without a separate schedule; time zero stays. A
    /// shared link takes the schedule for all sessions.
    public func setSchedule(_ schedule: DeliverySchedule, session: String? = nil) {
        reception.setSchedule(schedule, session: session)
    }

    /// Stops listening, closes all connections, and returns when all threads have ended.
    public func stop() async {
        let isFirst = isStopped.withLock { stopped in
            defer { stopped = true }
            return !stopped
        }
        guard isFirst else { return }
        try? await channel.close().get()
        await connections.closeAll()
        try? await group.shutdownGracefully()
    }

    private static func bootstrap(
        _ reception: Reception,
        _ group: MultiThreadedEventLoopGroup,
        _ connections: Connections
    ) -> ServerBootstrap {
        let configuration = reception.configuration
        var bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // A small buffer in this process: written bytes count as sent.
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 16_384, high: 65_536))
            // A small, fixed read buffer for small requests.
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2_048))
            .childChannelInitializer { channel in
                connections.add(channel)
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectionHandler(reception))
                }
            }
        if let size = configuration.sendBuffer {
            bootstrap = bootstrap.childChannelOption(.socketOption(.so_sndbuf), value: .init(clamping: size))
        }
        return bootstrap
    }
}

/// The open connections, which the origin closes at the end.
private final class Connections: Sendable {
    private let channels = Lock<[ObjectIdentifier: any Channel]>([:])

    var count: Int { channels.withLock { $0.count } }

    func add(_ channel: any Channel) {
        let identifier = ObjectIdentifier(channel)
        channels.withLock { $0[identifier] = channel }
        channel.closeFuture.whenComplete { _ in self.channels.withLock { $0[identifier] = nil } }
    }

    /// Closes all connections and returns when they are closed; until then their links may still wake them.
    func closeAll() async {
        for channel in channels.withLock({ Array($0.values) }) { try? await channel.close().get() }
    }
}
