internal import Instrument
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The HTTP server of the monitor: small pages, and streams of server-sent events.
///
/// Connections, waiting times and pending bytes are bounded: a client that sends nothing, half a request or many
/// requests, or reads nothing, is disconnected and delays nobody, and gives way to others before. Without a token, only
/// requests that name a loopback host are answered, so that a page of another site cannot read the monitor through the
/// browser of its operator.
package final class MonitorServer: Sendable {
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let connections: ServerConnections
    private let life: ServerLife
    /// The port.
    package let port: Int

    private init(
        _ group: MultiThreadedEventLoopGroup,
        _ channel: any Channel,
        _ connections: ServerConnections,
        _ life: ServerLife
    ) {
        (self.group, self.channel, self.connections, self.life) = (group, channel, connections, life)
        port = channel.localAddress?.port ?? 0
    }

    /// Starts a server and returns when it listens.
    /// - Parameter respond: answers requests; called on Swift's pool, for several requests at a time.
    /// - Throws: ``ServerError`` if the address or the port cannot be used.
    package static func start(
        _ configuration: ServerConfiguration,
        respond: @escaping @Sendable (ServerRequest) async -> ServerReply
    ) async throws(ServerError) -> MonitorServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let connections = ServerConnections(
            limit: configuration.maxConnections,
            maxPendingBytes: configuration.maxPendingBytes
        )
        let life = ServerLife()
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 16_384, high: 65_536))
            .childChannelInitializer { channel in
                guard connections.add(channel) else { return channel.close() }
                return channel.eventLoop.makeCompletedFuture {
                    if let tls = configuration.tls {
                        try channel.pipeline.syncOperations.addHandler(TLSHandler(tls.context))
                    }
                    try channel.pipeline.syncOperations.addHandlers(
                        HTTPResponseEncoder(),
                        ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: headLimits)),
                        HTTPServerPipelineHandler(),
                        HTTPServerProtocolErrorHandler(),
                        ServerConnection(configuration, life, connections, respond)
                    )
                }
            }
        do {
            let channel = try await bootstrap.bind(host: configuration.host, port: configuration.port).get()
            return MonitorServer(group, channel, connections, life)
        } catch {
            try? await group.shutdownGracefully()
            throw ServerError(
                description: "cannot listen on \(configuration.host):\(configuration.port) (\(error)); "
                    + "choose another address or port with --listen, or end the process that uses the port"
            )
        }
    }

    /// The number of open connections.
    package var connectionCount: Int { connections.count }

    /// The limits of a request's head.
    private static var headLimits: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize, limits.maxHeaderFieldCount) = (16_384, 65_536, 128)
        return limits
    }

    /// Stops listening, closes all connections, and returns when the thread has ended.
    package func stop() async {
        try? await channel.close().get()
        await connections.closeAll()
        // Answers that are computed still need the thread; closing has cancelled them.
        await life.end()
        try? await group.shutdownGracefully()
    }
}
