internal import InstrumentText

#if os(Linux)
internal import Instrument

#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// One connection to a gpsd, on a separate thread that ends with the connection.
final class GPSDConnection: Sendable {
    enum Event: Sendable {
        case connected
        case line([UInt8])
        /// A line that exceeds gpsd's limit was discarded.
        case overlongLine
        /// The connection ended or failed. The last event.
        case ended
    }

    /// gpsd's lines have at most 10,240 bytes (`GPS_JSON_RESPONSE_MAX`).
    private static let maxLineLength = 1 << 16
    /// Requests reports in JSON (gpsd_json(5)).
    private static let request = #"?WATCH={"enable":true,"json":true};"# + "\n"

    private let address: GPSDAddress
    private let receive: @Sendable (Event) -> Void
    private let signal = WakeSignal()

    init(_ address: GPSDAddress, _ receive: @escaping @Sendable (Event) -> Void) {
        (self.address, self.receive) = (address, receive)
    }

    func start() {
        let isRunning = SensorThread.start { [self] in
            run()
            receive(.ended)
        }
        if !isRunning { receive(.ended) }
    }

    /// Ends the connection; returns immediately.
    func stop() { signal.wake() }

    private func run() {
        guard signal.descriptor >= 0, let socket = openSocket() else { return }
        defer { close(socket) }
        receive(.connected)
        guard sendAll(Array(Self.request.utf8), to: socket) else { return }
        readLines(from: socket)
    }

    /// Connects to the first of the host's addresses that accepts.
    private func openSocket() -> Int32? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, String(address.port), &hints, &first) == 0 else { return nil }
        defer { freeaddrinfo(first) }
        var next = first
        while let info = next?.pointee {
            if let socket = attempt(info) { return socket }
            next = info.ai_next
        }
        return nil
    }

    private func attempt(_ info: addrinfo) -> Int32? {
        let type = info.ai_socktype | Int32(O_NONBLOCK) | Int32(O_CLOEXEC)
        let descriptor = socket(info.ai_family, type, info.ai_protocol)
        guard descriptor >= 0 else { return nil }
        let status = connect(descriptor, info.ai_addr, info.ai_addrlen)
        let isUnderWay = status == 0 || errno == EINPROGRESS
        var (failure, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        if isUnderWay, waitForInput(descriptor, signal, writable: true),
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size) == 0, failure == 0
        {
            return descriptor
        }
        close(descriptor)
        return nil
    }

    private func sendAll(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var left = bytes[...]
        while !left.isEmpty {
            // Prevents SIGPIPE in the app.
            let count = left.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count > 0 {
                left = left.dropFirst(count)
            } else if errno == EAGAIN {
                guard waitForInput(socket, signal, writable: true) else { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    private func readLines(from socket: Int32) {
        var lines = LineSplitter(maxLength: Self.maxLineLength)
        var piece = [UInt8](repeating: 0, count: 1 << 13)
        while waitForInput(socket, signal) {
            let count = recv(socket, &piece, piece.count, 0)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            if count <= 0 { return }
            for line in lines.append(piece.prefix(count)) {
                switch line {
                case .whole(let text): receive(.line(text))
                case .tooLong: receive(.overlongLine)
                }
            }
        }
    }
}
#endif
