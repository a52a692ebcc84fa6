internal import Instrument
internal import NIOCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// One connection: reads requests in order and answers each by its plan.
///
/// Used only on its event loop; calls of the link or an injected clock move there first.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let reception: Reception
    private let number: Int
    private var received = ByteBuffer()
    private var search = HeadSearch()
    /// The number of bytes of the request's body that remain to discard.
    private var unread = 0
    private var delivery: ResponseDelivery?
    private var context: ChannelHandlerContext?
    private var isClosing = false
    /// Runs while a part of a head has arrived.
    private var deadline: Scheduled<Void>?

    /// The time for a head from its first byte on, whatever the origin's clock.
    private static let headTime = TimeAmount.seconds(30)

    init(_ reception: Reception) {
        self.reception = reception
        number = reception.nextConnection()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        let skipped = min(unread, bytes.readableBytes)
        bytes.moveReaderIndex(forwardBy: skipped)
        unread -= skipped
        received.writeBuffer(&bytes)
        // A client that sends requests faster than they are answered, or bytes that are no requests, is disconnected.
        if received.readableBytes > 8 * RequestHead.maxLength { return context.close(promise: nil) }
        serveNext()
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        delivery?.abort()
        delivery = nil
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable else { return }
        if let delivery { delivery.pump() } else { serveNext() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The peer's reset; the response is logged when the channel becomes inactive.
        context.close(promise: nil)
    }

    private func serveNext() {
        // The answers to a client that sends many requests and reads nothing do not pile up.
        while delivery == nil, !isClosing, let context, context.channel.isWritable {
            let head: RequestHead?
            do throws(RequestHead.Refusal) {
                head = try nextHead()
            } catch {
                return refuse(error, in: context)
            }
            guard let head else { return awaitRest(in: context) }
            deadline?.cancel()
            deadline = nil
            begin(head, in: context)
        }
    }

    /// Closes the connection of a client that does not send the rest of a head in time.
    private func awaitRest(in context: ChannelHandlerContext) {
        guard received.readableBytes > 0, deadline == nil else { return }
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: Self.headTime) { channel.close(promise: nil) }
    }

    private func nextHead() throws(RequestHead.Refusal) -> RequestHead? {
        let view = received.readableBytesView
        guard let end = try search.end(in: view) else {
            if view.count > RequestHead.maxLength { throw .tooLong }
            return nil
        }
        guard end - view.startIndex <= RequestHead.maxLength else { throw .tooLong }
        let head = try RequestHead(parsing: view[view.startIndex..<end])
        search = HeadSearch()
        received.moveReaderIndex(forwardBy: end - view.startIndex + 4)
        let skipped = min(head.contentLength, received.readableBytes)
        received.moveReaderIndex(forwardBy: skipped)
        unread = head.contentLength - skipped
        // Moving the rest to the front for each of many small requests would cost quadratic time.
        if received.readerIndex > received.readableBytes { received.discardReadBytes() }
        return head
    }

    private func refuse(_ refusal: RequestHead.Refusal, in context: ChannelHandlerContext) {
        isClosing = true
        let plan = ResponsePlan(refusal.rawValue, reason: "The request is not understood", keepsAlive: false)
        context.write(wrapOutboundOut(ByteBuffer(string: plan.head ?? "")), promise: nil)
        let body = plan.body.bytes(at: 0, count: plan.body.count) ?? ByteBuffer()
        let channel = context.channel
        channel.writeAndFlush(body).whenComplete { _ in channel.close(promise: nil) }
    }

    private func begin(_ head: RequestHead, in context: ChannelHandlerContext) {
        let now = reception.clock.timestamp
        guard let admission = reception.admit(head, at: now) else { return refuse(.tooLong, in: context) }
        let plan = plan(for: head, admission, at: now)
        let delivery = ResponseDelivery(
            plan,
            for: head,
            admission,
            connection: number,
            arrival: now.instant,
            over: context,
            reception: reception
        )
        self.delivery = delivery
        delivery.start { [weak self] ending in self?.ended(ending) }
    }

    private func plan(for head: RequestHead, _ admission: Reception.Admission, at now: Timestamp) -> ResponsePlan {
        if head.method == "OPTIONS" { return .preflight(keepsAlive: head.keepsAlive) }
        let isLicence = head.method == "POST" && admission.path == Site.licencePath
        guard head.method == "GET" || head.method == "HEAD" || isLicence else {
            return ResponsePlan(
                405,
                reason: "Ask with GET or HEAD",
                headers: ["Allow: GET, HEAD, OPTIONS"],
                keepsAlive: false
            )
        }
        var moment = Moment(
            now: now.wallTime,
            originStart: reception.start.wallTime,
            sessionStart: admission.session.start.wallTime
        )
        if let rule = admission.fault?.rule, rule.fault == .stale {
            let (frozen, overflow) = moment.sessionStart.milliseconds
                .addingReportingOverflow(Int64(rule.start.milliseconds))
            if !overflow { moment.now = min(moment.now, WallTime(milliseconds: frozen)) }
        }
        return ResponsePlan(
            to: head,
            path: admission.path,
            prefix: admission.prefix,
            fault: admission.fault?.rule.fault
        ) { path in
            if path == "/requests" { return Resource(ContentType.jsonLines, requests()) }
            let base = head.host.map { "http://\($0)\(admission.prefix)/" } ?? "\(admission.prefix)/"
            return reception.site.resource(at: path, query: head.query, base: base, moment: moment)
        }
    }

    private func requests() -> Body {
        Body(reception.log.records.map { $0.json + "\n" }.joined())
    }

    private func ended(_ ending: ResponsePlan.Ending) {
        guard let context else { return }
        switch ending {
        case .keepAlive:
            delivery = nil
            // Not called directly: a client that sends a thousand requests at once would cause a recursion a thousand
            // calls deep.
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            context.eventLoop.execute { bound.value.serveNext() }
        case .close:
            isClosing = true
            delivery = nil
            context.close(promise: nil)
        case .reset:
            isClosing = true
            delivery = nil
            // With nothing to linger for, closing sends RST instead of FIN (socket(7), SO_LINGER).
            let options = context.channel as? any SocketOptionProvider
            options?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { [channel = context.channel] _ in
                channel.close(promise: nil)
            }
            if options == nil { context.close(promise: nil) }
        case .hang:
            // The delivery stays: the connection serves nothing more until the client closes it.
            isClosing = true
        }
    }
}
