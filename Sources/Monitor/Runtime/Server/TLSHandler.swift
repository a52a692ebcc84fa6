internal import Instrument
internal import InstrumentTLS
internal import NIOCore

/// TLS in front of the HTTP server's handlers. Used only on its event loop.
///
/// The time for a handshake is that of a request, which ``ServerConnection`` measures from the first moment: a client
/// that sends its handshake slowly is disconnected, and gives way to others before.
final class TLSHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// No byte has come.
        case begins
        case handshake
        case open
        case closed
    }

    /// The one reply for a client that speaks plain HTTP.
    private static let plainReply =
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 37\r\n"
        + "Connection: close\r\n\r\nthis port speaks https; use https://\n"

    private let engine: TLSEngine
    private var state = State.begins

    init(_ context: TLSContext) throws { engine = try TLSEngine(accepting: context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        guard let first = buffer.readableBytesView.first else { return }
        switch state {
        case .closed: return
        // A record of TLS begins with its type, which is no letter; a request with the letters of its method.
        case .begins where first.isLetter:
            state = .closed
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.plainReply)), promise: nil)
            return context.close(promise: nil)
        case .begins: state = .handshake
        case .handshake, .open: break
        }
        engine.receive(Array(buffer.readableBytesView))
        do {
            if state == .handshake, try engine.continueHandshake() { state = .open }
            send(context)
            guard state == .open else { return }
            let bytes = try engine.decrypt()
            // Answers of TLS itself, such as new keys.
            send(context)
            if !bytes.isEmpty { context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: bytes))) }
        } catch {
            // The other side learns why, as far as TLS says it.
            send(context)
            state = .closed
            context.close(promise: nil)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard state == .open else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        do {
            try engine.encrypt(Array(unwrapOutboundIn(data).readableBytesView))
            context.write(wrapOutboundOut(ByteBuffer(bytes: engine.takeOutgoing())), promise: promise)
        } catch {
            promise?.fail(error)
            state = .closed
            context.close(promise: nil)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if state == .open {
            state = .closed
            engine.shutDown()
            send(context)
        }
        context.close(mode: mode, promise: promise)
    }

    private func send(_ context: ChannelHandlerContext) {
        let bytes = engine.takeOutgoing()
        if !bytes.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil) }
    }
}
