internal import Instrument
internal import NIOCore
internal import NIOHTTP1

/// One connection: one request at a time. Used only on its event loop.
final class ServerConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The largest body of a request, which is discarded.
    private static let mostBodyBytes = 65_536

    private let configuration: ServerConfiguration
    private let life: ServerLife
    private let respond: @Sendable (ServerRequest) async -> ServerReply
    private var head: HTTPRequestHead?
    private var bodyBytes = 0
    private var timer: Scheduled<Void>?
    private var endSubscription: (@Sendable () -> Void)?
    private var work: Task<Void, Never>?
    private var isClosed = false
    /// Whether the reply to a request is still to be made, which may take longer than a client may be silent.
    private var isAnswering = false

    init(
        _ configuration: ServerConfiguration,
        _ life: ServerLife,
        _ respond: @escaping @Sendable (ServerRequest) async -> ServerReply
    ) {
        (self.configuration, self.life, self.respond) = (configuration, life, respond)
    }

    func handlerAdded(context: ChannelHandlerContext) { closeLater(context) }

    func channelInactive(context: ChannelHandlerContext) {
        isClosed = true
        timer?.cancel()
        endSubscription?()
        endSubscription = nil
        work?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            (self.head, bodyBytes) = (head, 0)
        case .body(let bytes):
            bodyBytes += bytes.readableBytes
            if bodyBytes > Self.mostBodyBytes { context.close(promise: nil) }
        case .end:
            guard let head else { return }
            timer?.cancel()
            answer(head, in: context)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        // A client that has read all it was sent must send its next request in time, unless it waits for this server.
        if context.channel.isWritable, isAnswering || endSubscription != nil {
            timer?.cancel()
        } else {
            closeLater(context)
        }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Closes the connection unless the timer is cancelled before: the client sends or reads nothing.
    private func closeLater(_ context: ChannelHandlerContext) {
        timer?.cancel()
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: .seconds(configuration.timeoutSeconds)) {
            channel.close(promise: nil)
        }
    }

    private func answer(_ head: HTTPRequestHead, in context: ChannelHandlerContext) {
        isAnswering = true
        if let refusal = refusal(of: head) { return write(refusal, to: head, in: context) }
        guard let (path, query) = ServerRequest.parse(target: head.uri) else {
            return write(.text(400, "the target of the request must be a path"), to: head, in: context)
        }
        let request = ServerRequest(
            method: head.method.rawValue,
            path: path,
            query: query,
            headers: head.headers.map { ($0.name, $0.value) }
        )
        if let token = configuration.token, !configuration.openPaths.contains(path), !Self.isAuthorized(request, token)
        {
            var reply = ServerReply.text(401, "the request must have the header 'Authorization: Bearer TOKEN'")
            reply.headers.append(("WWW-Authenticate", "Bearer"))
            return write(reply, to: head, in: context)
        }
        let bound = NIOLoopBound(Pending(connection: self, context: context, head: head), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        let (respond, life) = (respond, life)
        guard life.enter() else { return context.close(promise: nil) }
        work = Task {
            defer { life.leave() }
            let reply = await respond(request)
            loop.execute {
                let pending = bound.value
                guard !pending.connection.isClosed else { return }
                pending.connection.write(reply, to: pending.head, in: pending.context)
            }
        }
    }

    private struct Pending {
        let connection: ServerConnection
        let context: ChannelHandlerContext
        let head: HTTPRequestHead
    }

    private func refusal(of head: HTTPRequestHead) -> ServerReply? {
        guard head.method == .GET || head.method == .HEAD else {
            var reply = ServerReply.text(405, "use GET or HEAD")
            reply.headers.append(("Allow", "GET, HEAD"))
            return reply
        }
        // A name of another site that resolves to this machine (DNS rebinding).
        if configuration.token == nil, let host = head.headers.first(name: "Host"),
            !Self.isLocal(host, configuration.host)
        {
            return .text(421, "the header Host must name this machine's loopback address (found another host)")
        }
        return nil
    }

    private static func isLocal(_ header: String, _ listening: String) -> Bool {
        var host = header
        if let end = host.lastIndex(of: ":"), !host[end...].contains("]"), host.first != ":" {
            host = String(host[..<end])
        }
        return ServerConfiguration.isLoopback(host.lowercased()) || host == listening
    }

    /// In a time that does not depend on how much of the token is right.
    static func isAuthorized(_ request: ServerRequest, _ token: [UInt8]) -> Bool {
        guard let value = request.header("Authorization"), value.lowercased().hasPrefix("bearer ") else { return false }
        let given = SHA256.digest(of: value.dropFirst(7).utf8)
        return zip(given, SHA256.digest(of: token)).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func write(_ reply: ServerReply, to request: HTTPRequestHead, in context: ChannelHandlerContext) {
        isAnswering = false
        var headers = HTTPHeaders(reply.headers)
        headers.add(name: "Cache-Control", value: "no-store")
        headers.add(name: "X-Content-Type-Options", value: "nosniff")
        headers.add(name: "Referrer-Policy", value: "no-referrer")
        headers.add(name: "Cross-Origin-Resource-Policy", value: "same-origin")
        let status = HTTPResponseStatus(statusCode: reply.status)
        switch reply.content {
        case .bytes(let bytes):
            headers.add(name: "Content-Length", value: String(bytes.count))
            let keepsAlive = request.isKeepAlive
            if !keepsAlive { headers.add(name: "Connection", value: "close") }
            context.write(
                wrapOutboundOut(.head(.init(version: request.version, status: status, headers: headers))),
                promise: nil
            )
            if request.method != .HEAD, !bytes.isEmpty {
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
            }
            head = nil
            let promise = context.eventLoop.makePromise(of: Void.self)
            if !keepsAlive {
                promise.futureResult.whenComplete { [channel = context.channel] _ in channel.close(promise: nil) }
            }
            // Until the next request, and also while the client does not read.
            closeLater(context)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
        case .events(let subscribe):
            headers.add(name: "Connection", value: "close")
            context.write(
                wrapOutboundOut(.head(.init(version: request.version, status: status, headers: headers))),
                promise: nil
            )
            context.writeAndFlush(
                wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "retry: 2000\n\n")))),
                promise: nil
            )
            guard request.method != .HEAD else { return context.close(promise: nil) }
            begin(subscribe, in: context)
        }
    }

    private func begin(
        _ subscribe: @Sendable (EventSink) -> @Sendable () -> Void,
        in context: ChannelHandlerContext
    ) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        endSubscription = subscribe(
            EventSink { [life] bytes in
                guard life.enter() else { return }
                defer { life.leave() }
                loop.execute { bound.value.0.send(bytes, in: bound.value.1) }
            }
        )
    }

    private func send(_ bytes: [UInt8], in context: ChannelHandlerContext) {
        // A client that does not read gets no more, so that nothing piles up.
        guard !isClosed, context.channel.isWritable else { return }
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
    }
}
