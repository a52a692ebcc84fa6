internal import Instrument
internal import NIOCore
internal import NIOHTTP1

/// One connection: one request at a time. Used only on its event loop.
///
/// A reply leaves in pieces, each when the client has read the one before; the next request is answered when the client
/// has read the reply before it. What a client does not read thus costs one reply, however many requests it sends.
final class ServerConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The largest body of a request that is read to its end.
    private static let mostBodyBytes = 65_536
    /// The largest body of a request that changes something.
    private static let mostActionBytes = 16_384
    /// The bytes of a reply that are written at once.
    private static let pieceBytes = 65_536

    private enum State {
        /// For a request, or the rest of it.
        case waiting
        /// A request waits until the client has read enough of the last reply.
        case blocked(HTTPRequestHead)
        /// The reply is computed.
        case answering
        /// The reply's bytes from `next` on are still to be written.
        case sending([UInt8], next: Int, keepsAlive: Bool)
        /// The client receives events.
        case streaming
        /// The connection closes when the client has the last bytes; further requests are not answered.
        case ending
    }

    private let configuration: ServerConfiguration
    private let rules: RequestRules
    private let life: ServerLife
    private let connections: ServerConnections
    private let respond: @Sendable (ServerRequest) async -> ServerReply
    private var state = State.waiting
    private var head: HTTPRequestHead?
    private var bodyBytes = 0
    private var body: [UInt8] = []
    private var timer: Scheduled<Void>?
    private var endSubscription: (@Sendable () -> Void)?
    /// The latest request that was passed on: that of the events which the client receives.
    private var request: ServerRequest?
    private var work: Task<Void, Never>?
    private var isClosed = false
    /// Whether the bytes that arrived since the last read completed a request.
    private var hasCompleted = false
    /// Whether the time for the rest of a request runs.
    private var hasBegun = true

    init(
        _ configuration: ServerConfiguration,
        _ life: ServerLife,
        _ connections: ServerConnections,
        _ respond: @escaping @Sendable (ServerRequest) async -> ServerReply
    ) {
        (self.configuration, self.life, self.connections) = (configuration, life, connections)
        self.respond = respond
        rules = RequestRules(configuration: configuration)
    }

    func handlerAdded(context: ChannelHandlerContext) { closeLater(context, configuration.requestSeconds) }

    func channelInactive(context: ChannelHandlerContext) {
        isClosed = true
        timer?.cancel()
        endSubscription?()
        endSubscription = nil
        work?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .ending = state { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            (self.head, bodyBytes, body) = (head, 0, [])
        case .body(let bytes):
            bodyBytes += bytes.readableBytes
            if bodyBytes > Self.mostBodyBytes { return context.close(promise: nil) }
            // Other requests have no use for a body.
            if head?.method == .POST, bodyBytes <= Self.mostActionBytes { body += bytes.readableBytesView }
        case .end:
            guard let head else { return }
            (hasCompleted, hasBegun) = (true, false)
            self.head = nil
            if context.channel.isWritable { return answer(head, in: context) }
            state = .blocked(head)
            connections.wait(.sending, context.channel)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // The parts of a request that have arrived are a request whose rest must come in time, however slowly it comes.
        if case .waiting = state, !hasCompleted, !hasBegun {
            hasBegun = true
            closeLater(context, configuration.requestSeconds)
        }
        hasCompleted = false
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            switch state {
            case .blocked(let head): answer(head, in: context)
            case .sending: writeMore(in: context)
            case .answering, .streaming: timer?.cancel()
            case .waiting, .ending: closeLater(context, configuration.timeoutSeconds)
            }
        } else {
            closeLater(context, configuration.timeoutSeconds)
        }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Closes the connection unless the timer is cancelled before: the client sends or reads nothing.
    private func closeLater(_ context: ChannelHandlerContext, _ seconds: Int64) {
        timer?.cancel()
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: .seconds(seconds)) { channel.close(promise: nil) }
    }

    private func answer(_ head: HTTPRequestHead, in context: ChannelHandlerContext) {
        timer?.cancel()
        state = .answering
        if let refusal = rules.refusal(of: head) { return refuse(head, with: refusal, in: context) }
        guard let (path, query) = ServerRequest.parse(target: head.uri) else {
            return refuse(head, with: .text(400, "the target of the request must be a path"), in: context)
        }
        if head.method == .POST, bodyBytes > Self.mostActionBytes {
            let text = "the body must have at most \(Self.mostActionBytes) bytes (found \(bodyBytes))"
            return refuse(head, with: .text(413, text), in: context)
        }
        var message = ServerRequest(
            method: head.method.rawValue,
            path: path,
            query: query,
            headers: head.headers.map { ($0.name, $0.value) },
            body: body,
            peer: context.channel.remoteAddress?.ipAddress ?? ""
        )
        body = []
        let (client, refusal) = rules.client(of: message)
        if let refusal { return refuse(head, with: refusal, in: context) }
        message.client = client
        let request = message
        self.request = request
        let isShort = configuration.openPaths.contains(path)
        guard connections.hold(context.channel, isShort: isShort) else { return refuse(head, with: .busy, in: context) }
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

    /// Answers at once and closes the connection: the next of many requests would be answered within this call.
    private func refuse(_ request: HTTPRequestHead, with reply: ServerReply, in context: ChannelHandlerContext) {
        write(reply, to: request, in: context, keepsAlive: false)
    }

    private func write(
        _ reply: ServerReply,
        to request: HTTPRequestHead,
        in context: ChannelHandlerContext,
        keepsAlive: Bool = true
    ) {
        switch reply.content {
        case .bytes(let bytes):
            let rest = request.method == .HEAD ? [] : bytes
            guard connections.reserve(rest.count, for: context.channel) else {
                return context.close(promise: nil)
            }
            connections.wait(.sending, context.channel)
            // After a request to change the protocol the parser reads no further request.
            let isUpgrade = request.headers[canonicalForm: "Connection"].contains { $0.lowercased() == "upgrade" }
            let keepsAlive = keepsAlive && request.isKeepAlive && !isUpgrade
            var headers = headers(of: reply)
            headers.add(name: "Content-Length", value: String(bytes.count))
            if !keepsAlive { headers.add(name: "Connection", value: "close") }
            writeHead(reply, headers, to: request, in: context)
            state = .sending(rest, next: 0, keepsAlive: keepsAlive)
            writeMore(in: context)
        case .events(let subscribe):
            var headers = headers(of: reply)
            headers.add(name: "Connection", value: "close")
            writeHead(reply, headers, to: request, in: context)
            context.writeAndFlush(
                wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "retry: 2000\n\n")))),
                promise: nil
            )
            guard request.method != .HEAD else { return context.close(promise: nil) }
            state = .streaming
            begin(subscribe, in: context)
        }
    }

    private func headers(of reply: ServerReply) -> HTTPHeaders {
        var headers = HTTPHeaders(reply.headers)
        headers.add(name: "Cache-Control", value: "no-store")
        headers.add(name: "X-Content-Type-Options", value: "nosniff")
        headers.add(name: "Referrer-Policy", value: "no-referrer")
        headers.add(name: "Cross-Origin-Resource-Policy", value: "same-origin")
        return headers
    }

    private func writeHead(
        _ reply: ServerReply,
        _ headers: HTTPHeaders,
        to request: HTTPRequestHead,
        in context: ChannelHandlerContext
    ) {
        let status = HTTPResponseStatus(statusCode: reply.status)
        let version = HTTPVersion(major: 1, minor: request.version.minor == 0 ? 0 : 1)
        context.write(wrapOutboundOut(.head(.init(version: version, status: status, headers: headers))), promise: nil)
    }

    /// Writes pieces of the reply as long as the client reads them.
    private func writeMore(in context: ChannelHandlerContext) {
        guard case .sending(let bytes, var next, let keepsAlive) = state else { return }
        // Each piece must be read in time.
        closeLater(context, configuration.timeoutSeconds)
        while next < bytes.count, context.channel.isWritable {
            let end = min(bytes.count, next + Self.pieceBytes)
            let piece = ByteBuffer(bytes: bytes[next..<end])
            connections.release(end - next, of: context.channel)
            next = end
            // A write may report a change of writability at once.
            state = .ending
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(piece))), promise: nil)
            if isClosed { return }
            state = .sending(bytes, next: next, keepsAlive: keepsAlive)
        }
        if next == bytes.count { finish(keepsAlive: keepsAlive, in: context) }
    }

    private func finish(keepsAlive: Bool, in context: ChannelHandlerContext) {
        state = keepsAlive ? .waiting : .ending
        let promise = context.eventLoop.makePromise(of: Void.self)
        if keepsAlive {
            if context.channel.isWritable { connections.wait(.waiting, context.channel) }
        } else {
            promise.futureResult.whenComplete { [channel = context.channel] _ in channel.close(promise: nil) }
        }
        // Passes the next request on at once if there is one.
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
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
        // A token may be withdrawn, or get another role, while the client receives events: it has to ask again.
        if let request, configuration.access.client(of: request) != request.client {
            return context.close(promise: nil)
        }
        let channel = context.channel
        guard connections.reserve(bytes.count, for: channel) else { return context.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes))))).whenComplete {
            [connections] _ in connections.release(bytes.count, of: channel)
        }
    }
}

extension ServerReply {
    /// The answer while the server works for as many clients as it may.
    fileprivate static let busy: ServerReply = {
        var reply = ServerReply.text(503, "the server is busy; try again later")
        reply.headers.append(("Retry-After", "2"))
        return reply
    }()
}
