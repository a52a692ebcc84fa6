package import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The system's calls on a stream socket of this machine. Only reading waits.
package enum UnixSocket {
    /// The result of a read.
    package enum Reading {
        case bytes([UInt8])
        case nothingYet
        case ended(reason: String)
    }

    /// The longest path, without the final zero.
    package static let maxPathLength = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// A connected descriptor, or the reason why the connection failed.
    package static func connect(to path: String) -> Result<Int32, SystemError> {
        let descriptor = socket(AF_UNIX, streamType, 0)
        guard descriptor >= 0 else { return .failure(SystemError(errno)) }
        prepare(descriptor)
        // One that does not accept would keep us waiting.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(maxPathLength)) }
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sysConnect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        if isConnected {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
            return .success(descriptor)
        }
        let failure = SystemError(errno)
        close(descriptor)
        return .failure(failure)
    }

    /// Two ends of one connection: ours, and one for a child.
    package static func pair() -> Result<(ours: Int32, child: Int32), SystemError> {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamType, 0, &ends) == 0 else { return .failure(SystemError(errno)) }
        for end in ends { prepare(end) }
        return .success((ends[0], ends[1]))
    }

    package static func read(_ descriptor: Int32) -> Reading {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count > 0 { return .bytes(Array(chunk.prefix(count))) }
        if count == 0 { return .ended(reason: "closed by the peer") }
        let error = errno
        if error == EAGAIN || error == EWOULDBLOCK || error == EINTR { return .nothingYet }
        return .ended(reason: SystemError(error).description)
    }

    /// Writes as many bytes as the socket takes at once; the number of those, or why the connection broke.
    package static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Result<Int, SystemError> {
        while true {
            let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, sendFlags) }
            if count >= 0 { return .success(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .success(0)
            case let number: return .failure(SystemError(number))
            }
        }
    }

    /// Waits until the socket takes bytes, at most this many milliseconds.
    package static func waitUntilWritable(_ descriptor: Int32, milliseconds: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, milliseconds)
    }

    private static func prepare(_ descriptor: Int32) {
        #if canImport(Darwin)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    // Closed in children from the first moment (Linux, socket(2)): a process that somebody starts meanwhile would
    // otherwise hold this end open, and a started program would not see that this process has ended.
    #if canImport(Glibc)
    private static let streamType = Int32(SOCK_STREAM.rawValue) | Int32(O_CLOEXEC)
    #elseif canImport(Musl)
    private static let streamType = SOCK_STREAM | O_CLOEXEC
    #else
    private static let streamType = SOCK_STREAM
    #endif
    #if canImport(Darwin)
    private static let sendFlags = Int32(MSG_DONTWAIT)
    #else
    private static let sendFlags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
    #endif
}

/// The function, whose name the type takes.
private let sysConnect: @Sendable (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32 = { connect($0, $1, $2) }
