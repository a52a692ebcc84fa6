internal import Instrument
package import InstrumentText

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A connected TCP socket that never blocks; waiting is `poll`. Used by one thread at a time.
package struct TCPSocket: Sendable {
    private let descriptor: Int32
    private let peer: String

    // MARK: Connecting

    /// Connects to the first of the host's addresses that accepts.
    package static func connect(to address: HostPort, _ patience: Patience) -> Result<TCPSocket, SocketError> {
        var hints = addrinfo()
        hints.ai_socktype = streamType
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, String(address.port), &hints, &first) == 0 else {
            return .failure(SocketError("\(address): the host's name cannot be found; check the name"))
        }
        defer { freeaddrinfo(first) }
        var failure = SocketError("\(address): the host has no address; check the name")
        var next = first
        while let info = next?.pointee {
            switch attempt(info, "\(address)", patience) {
            case .success(let socket): return .success(socket)
            case .failure(let error): failure = error
            }
            next = info.ai_next
        }
        return .failure(failure)
    }

    private static func attempt(
        _ info: addrinfo,
        _ peer: String,
        _ patience: Patience
    ) -> Result<TCPSocket, SocketError> {
        let descriptor = sysSocket(info.ai_family, info.ai_socktype | closingFlag, info.ai_protocol)
        guard descriptor >= 0 else { return .failure(error("cannot open a socket", peer, errno)) }
        let socket = TCPSocket(descriptor: descriptor, peer: peer)
        socket.prepare()
        if sysConnect(descriptor, info.ai_addr, info.ai_addrlen) == 0 { return .success(socket) }
        var failure = errno
        if failure == EINPROGRESS {
            guard socket.wait(for: POLLOUT, patience) else {
                socket.close()
                return .failure(
                    SocketError("\(peer): the server does not accept the connection in time; check that it runs")
                )
            }
            var size = socklen_t(MemoryLayout<Int32>.size)
            if getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size) != 0 { failure = errno }
            if failure == 0 { return .success(socket) }
        }
        socket.close()
        return .failure(error("the connection failed; check that the server runs", peer, failure))
    }

    private func prepare() {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        var isOn: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, size)
        #if canImport(Darwin)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, size)
        #endif
    }

    // MARK: Using

    /// Whether the server has not closed the connection. What a server sends is not read by anybody and thrown away.
    package var isOpen: Bool { look() == nil }

    /// Writes all bytes into the system's buffers.
    package func write(_ bytes: [UInt8], _ patience: Patience) -> Result<Void, SocketError> {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Self.sendFlags) }
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            let failure = errno
            if failure == EINTR { continue }
            guard failure == EAGAIN || failure == EWOULDBLOCK else {
                return .failure(Self.error("the connection broke", peer, failure))
            }
            guard wait(for: POLLOUT, patience) else {
                return .failure(SocketError("\(peer): the server does not read in time; retry later"))
            }
        }
        return .success(())
    }

    /// Waits until the peer's system has confirmed all that was written, then looks whether the connection still
    /// stands.
    package func waitUntilConfirmed(_ patience: Patience) -> Result<Void, SocketError> {
        var pause = 1
        while unconfirmedCount > 0 {
            guard let time = patience.next(atMost: pause) else {
                return .failure(SocketError("\(peer): the server does not read in time; retry later"))
            }
            pause = min(pause * 2, 20)
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, time) > 0, let error = look() { return .failure(error) }
        }
        if let error = look() { return .failure(error) }
        return .success(())
    }

    package func close() { _ = sysClose(descriptor) }

    /// The descriptor, which the caller closes in place of this socket, with reads that wait.
    package consuming func takeBlockingDescriptor() -> Int32 {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        return descriptor
    }

    /// Writes as many bytes as the system's buffer takes at once; returns their number.
    package func writeSome(_ bytes: ArraySlice<UInt8>) -> Result<Int, SocketError> {
        while true {
            let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Self.sendFlags) }
            if count >= 0 { return .success(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .success(0)
            case let failure: return .failure(Self.error("the connection broke", peer, failure))
            }
        }
    }

    /// Reads what has come, at most `limit` bytes; empty if nothing has.
    package func readSome(_ limit: Int) -> Result<[UInt8], SocketError> {
        while true {
            var failure: Int32 = 0
            var isAtEnd = false
            let piece = [UInt8](unsafeUninitializedCapacity: limit) { buffer, size in
                let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                if count < 0 { failure = errno }
                isAtEnd = count == 0
                size = max(0, count)
            }
            if isAtEnd { return .failure(SocketError("\(peer): the server closed the connection; retry later")) }
            switch failure {
            case 0, EAGAIN, EWOULDBLOCK: return .success(piece)
            case EINTR: continue
            default: return .failure(Self.error("the connection broke", peer, failure))
            }
        }
    }

    /// Waits until the socket can be read, or also written; false if the time is up or the task was cancelled.
    package func waitUntilReady(toWrite: Bool, _ patience: Patience) -> Bool {
        wait(for: toWrite ? POLLIN | POLLOUT : POLLIN, patience)
    }

    /// Bytes that the peer's system has not confirmed; 0 where the system does not say.
    private var unconfirmedCount: Int32 {
        var count: Int32 = 0
        #if canImport(Darwin)
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? count : 0
        #else
        // SIOCOUTQ of tcp(7).
        return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? count : 0
        #endif
    }

    /// Reads what came; why the connection has ended, or nil while it stands.
    private func look() -> SocketError? {
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &piece, piece.count, 0)
            if count > 0 { continue }
            if count == 0 { return SocketError("\(peer): the server closed the connection; retry later") }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return nil
            case let failure: return Self.error("the connection broke", peer, failure)
            }
        }
    }

    private func wait(for events: Int32, _ patience: Patience) -> Bool {
        while let time = patience.next() {
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            if poll(&entry, 1, time) > 0 { return true }
        }
        return false
    }

    private static func error(_ what: String, _ peer: String, _ number: Int32) -> SocketError {
        SocketError("\(peer): \(what) (\(SystemError(number)))")
    }

    #if canImport(Glibc)
    private static let streamType = Int32(SOCK_STREAM.rawValue)
    #else
    private static let streamType = SOCK_STREAM
    #endif
    // Closed in children from the first moment (Linux, socket(2)).
    #if canImport(Darwin)
    private static let closingFlag: Int32 = 0
    private static let sendFlags: Int32 = 0
    #else
    private static let closingFlag = Int32(O_CLOEXEC)
    private static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif
}

/// The functions, whose names the type takes.
private let sysConnect: @Sendable (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32 = { connect($0, $1, $2) }
private let sysSocket: @Sendable (Int32, Int32, Int32) -> Int32 = { socket($0, $1, $2) }
private let sysClose: @Sendable (Int32) -> Int32 = { close($0) }
