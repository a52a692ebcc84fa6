internal import Instrument
internal import NIOCore

/// The delivery of one response: sends each byte at its instant.
///
/// Used only on its connection's event loop.
final class ResponseDelivery {
    private let plan: ResponsePlan
    private let total: Int
    private let arrival: MonotonicInstant
    private let link: Link
    private let sessionStart: MonotonicInstant
    private let reception: Reception
    private let channel: any Channel
    private var record: AccessRecord
    /// The response on the link, while it is active.
    private var flow: Int?
    /// The due instant of the head, once the head has left.
    private var ready: MonotonicInstant?
    private var sent = 0
    private var alarm: Alarm?
    private var isOver = false
    private var onEnd: ((ResponsePlan.Ending) -> Void)?

    init(
        _ plan: ResponsePlan,
        for head: RequestHead,
        _ admission: Reception.Admission,
        connection: Int,
        arrival: MonotonicInstant,
        over context: ChannelHandlerContext,
        reception: Reception
    ) {
        self.plan = plan
        total = plan.body.count
        self.arrival = arrival
        link = admission.session.link
        sessionStart = admission.session.start.instant
        self.reception = reception
        channel = context.channel
        record = reception.log.begin(
            AccessRecord(
                number: 0,
                connection: connection,
                session: admission.session.name,
                method: head.method,
                path: admission.path,
                query: head.query,
                range: head.range,
                status: plan.head == nil ? 0 : plan.status,
                bytes: 0,
                start: sessionStart.duration(to: arrival),
                sinceOriginStart: reception.start.instant.duration(to: arrival),
                outcome: .pending,
                rule: admission.fault?.index
            )
        )
    }

    /// Starts the response; calls `onEnd` once, when the channel has received all of it.
    func start(_ onEnd: @escaping (ResponsePlan.Ending) -> Void) {
        self.onEnd = onEnd
        let instant = arrival.advanced(by: link.latency(at: arrival) + plan.delay)
        if instant <= reception.clock.now { return sendHead(due: instant) }
        wake(at: instant) { $0.sendHead(due: instant) }
    }

    /// The client closed the connection.
    func abort() {
        guard !isOver else {
            if record.outcome == .hanging { end(.hanging) }
            return
        }
        isOver = true
        leaveLink()
        end(.aborted)
    }

    /// All instants count from the due instant of the head, so that a late thread delays one piece and no other.
    private func sendHead(due instant: MonotonicInstant) {
        guard !isOver else { return }
        ready = instant
        if total > 0, plan.pace == .link {
            let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
            let eventLoop = channel.eventLoop
            flow = link.join(bytes: total, at: instant) { eventLoop.execute { bound.value.pump() } }
        }
        if total == 0 { finish(at: reception.clock.now) }
        if let head = plan.head { channel.write(ByteBuffer(string: head), promise: nil) }
        if total == 0 { return conclude(with: ByteBuffer()) }
        // The head leaves even if the first byte of the body is due later.
        channel.flush()
        pump()
    }

    /// Sends the released bytes that fit into the channel, and schedules the next call for the rest.
    func pump() {
        guard !isOver, ready != nil else { return }
        alarm?.cancel()
        alarm = nil
        let now = reception.clock.now
        let released = released(at: now)
        // Bytes that are released during this write wait for the next piece; otherwise one response could occupy the
        // event loop.
        while !isOver, sent < released {
            // Called again when the channel is writable.
            guard channel.isWritable else { return }
            write(upTo: released, at: now)
        }
        if !isOver { waitForMore(at: now) }
    }

    private func write(upTo released: Int, at now: MonotonicInstant) {
        guard let bytes = plan.body.bytes(at: sent, count: min(released - sent, 65_536)), bytes.readableBytes > 0 else {
            // The file has become shorter than the declared length.
            isOver = true
            leaveLink()
            end(.aborted)
            onEnd?(.close)
            return
        }
        sent += bytes.readableBytes
        if record.firstByte == nil { record.firstByte = sessionStart.duration(to: now) }
        record.bytes = sent
        let isLast = sent == total
        // Logged before the last byte is sent, so that a client with the last byte finds the complete record.
        if isLast {
            leaveLink()
            finish(at: now)
        }
        if isLast { conclude(with: bytes) } else { channel.writeAndFlush(bytes, promise: nil) }
    }

    /// Sends the last bytes and ends the response: immediately if the connection stays open, otherwise when the
    /// kernel has all bytes, because closing discards unwritten bytes.
    private func conclude(with bytes: ByteBuffer) {
        if plan.ending == .keepAlive || plan.ending == .hang {
            channel.writeAndFlush(bytes, promise: nil)
            onEnd?(plan.ending)
            return
        }
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.writeAndFlush(bytes).whenComplete { _ in bound.value.onEnd?(bound.value.plan.ending) }
    }

    /// The number of bytes that exist: all, or those that are produced.
    private func produced(at now: MonotonicInstant) -> Int {
        guard !plan.production.isEmpty, let ready else { return total }
        return min(total, plan.production.last { ready.advanced(by: $0.after) <= now }?.count ?? 0)
    }

    private func released(at now: MonotonicInstant) -> Int { min(produced(at: now), paced(at: now)) }

    private func paced(at now: MonotonicInstant) -> Int {
        switch plan.pace {
        case .link: return flow.map { link.released($0, at: now) ?? total } ?? total
        case .trickle(let bytes, let time):
            guard let ready else { return 0 }
            let pieces = 1 &+ min(ready.duration(to: now).nanoseconds / max(1, time.nanoseconds), .max - 1)
            let (count, overflow) = bytes.multipliedReportingOverflow(by: Int(clamping: pieces))
            return overflow ? total : min(total, count)
        }
    }

    private func waitForMore(at now: MonotonicInstant) {
        if sent >= produced(at: now), let ready,
            let next = plan.production.first(where: { ready.advanced(by: $0.after) > now })
        {
            return wake(at: ready.advanced(by: next.after)) { $0.pump() }
        }
        let next: MonotonicInstant?
        switch plan.pace {
        case .link:
            let settings = reception.configuration
            next = flow.flatMap {
                link.nextPiece(
                    $0,
                    after: sent,
                    at: now,
                    granularity: settings.granularity,
                    piece: min(settings.largestPiece, total - sent)
                )
            }
        case .trickle(let bytes, let time):
            let pieces = Int64(clamping: sent / max(1, bytes))
            let (wait, overflow) = time.nanoseconds.multipliedReportingOverflow(by: pieces)
            next = overflow ? nil : ready?.advanced(by: .nanoseconds(wait))
        }
        // Nil: the link carries nothing until its schedule changes.
        if let next { wake(at: next) { $0.pump() } }
    }

    private func finish(at now: MonotonicInstant) {
        isOver = true
        let time = sessionStart.duration(to: now)
        if record.firstByte == nil { record.firstByte = time }
        if plan.head == nil { record.firstByte = nil }
        record.lastByte = record.firstByte == nil ? nil : time
        switch plan.ending {
        case .keepAlive: end(.complete)
        case .close: end(isShort ? .cut : .complete)
        case .reset: end(.cut)
        case .hang: update(.hanging)
        }
    }

    /// Whether the head declares more bytes than are sent.
    private var isShort: Bool { plan.promised.map { $0 > total } ?? false }

    private func update(_ outcome: AccessRecord.Outcome) {
        record.outcome = outcome
        reception.log.update(record)
    }

    private func end(_ outcome: AccessRecord.Outcome) {
        alarm?.cancel()
        update(outcome)
        reception.configuration.onRequest?(record)
    }

    private func leaveLink() {
        if let flow { link.leave(flow, at: reception.clock.now) }
        flow = nil
    }

    private func wake(at instant: MonotonicInstant, _ body: @escaping (ResponseDelivery) -> Void) {
        let bound = NIOLoopBound((self, body), eventLoop: channel.eventLoop)
        alarm = Alarm(at: instant, on: channel.eventLoop, by: reception.clock) { bound.value.1(bound.value.0) }
    }
}
