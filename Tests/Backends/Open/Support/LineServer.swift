import Foundation
import Instrument
import LoopbackServers

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A TCP server on the loopback address that collects lines, and behaves on each connection as its plan says.
final class LineServer: Sendable {
    /// The server's action on a connection.
    enum Behavior: Sendable {
        case read
        /// Resets the connection after this number of bytes.
        case resetAfter(Int)
        /// Accepts the connection and reads nothing until the server is released.
        case stall
    }

    let port: UInt16
    private let listener: Int32
    private let plan: @Sendable (Int) -> Behavior
    private let received = Lock([UInt8]())
    private let connections = Lock([Int32]())
    private let accepted = Lock(0)
    private let ended = Lock(0)
    private let changes = Lock([CheckedContinuation<Void, Never>]())

    /// All whole lines, in the order in which they came.
    var lines: [String] {
        let text = String(decoding: received.withLock { $0 }, as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
    var connectionCount: Int { accepted.withLock { $0 } }

    init(port wished: UInt16 = 0, _ plan: @escaping @Sendable (Int) -> Behavior = { _ in .read }) throws {
        self.plan = plan
        #if canImport(Glibc)
        let opened = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let opened = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        listener = opened
        var isOn: Int32 = 1
        setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        // Small, so that a server that does not read stops its client soon.
        var room: Int32 = 4096
        setsockopt(opened, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wished.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(opened, address, length) == 0 && listen(opened, 64) == 0
                    && getsockname(opened, address, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        if !isBound { throw NoServer(why: "no loopback socket: \(errno)") }
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(opened, nil, nil)
                guard connection >= 0, let self else { break }
                serve(connection)
            }
            close(opened)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        connections.withLock { for connection in $0 { shutdown(connection, Int32(SHUT_RDWR)) } }
    }

    /// Returns once the lines satisfy a condition.
    func wait(until isReached: @escaping @Sendable ([String]) -> Bool) async {
        await waitForChange { isReached(self.lines) }
    }

    /// Returns once every byte that the system has received is in ``lines``.
    func drain() async { await waitForChange { !self.isPending } }

    /// Returns once this number of connections has ended.
    func waitForEnds(_ count: Int) async { await waitForChange { self.ended.withLock { $0 } >= count } }

    /// Returns once a condition is true that only the threads of the connections make true.
    private func waitForChange(until isReached: () -> Bool) async {
        while !isReached() {
            await withCheckedContinuation { continuation in
                changes.withLock { $0.append(continuation) }
                // The change may have come before the continuation.
                if isReached() { changed() }
            }
        }
    }

    private var isPending: Bool {
        received.withLock { _ in
            connections.withLock { connections in
                connections.contains { connection in
                    var count: Int32 = 0
                    return ioctl(connection, UInt(FIONREAD), &count) == 0 && count > 0
                }
            }
        }
    }

    private func changed() {
        let waiting = changes.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func serve(_ connection: Int32) {
        let number = accepted.withLock { count in
            defer { count += 1 }
            return count
        }
        connections.withLock { $0.append(connection) }
        let behavior = plan(number)
        let (received, connections, ended) = (received, connections, ended)
        if case .stall = behavior { return }
        Thread.detachNewThread { [weak self] in
            var left = Int.max
            if case .resetAfter(let count) = behavior { left = count }
            let piece = [UInt8](repeating: 0, count: 1 << 14)
            while left > 0 {
                var entry = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
                guard poll(&entry, 1, -1) >= 0 else { break }
                // Bytes leave the system's buffer and arrive here in one step, so that `drain` misses none in between.
                let (limit, buffer) = (min(piece.count, left), piece)
                let (count, filled) = received.withLock { bytes in
                    var buffer = buffer
                    let count = recv(connection, &buffer, limit, Int32(MSG_DONTWAIT))
                    if count > 0 { bytes += buffer.prefix(count) }
                    return (count, count > 0)
                }
                guard filled else { break }
                left -= count
                self?.changed()
            }
            if left == 0 {
                // The cut line is no line.
                received.withLock { bytes in
                    while let last = bytes.last, last != UInt8(ascii: "\n") { bytes.removeLast() }
                }
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
            }
            connections.withLock { $0.removeAll { $0 == connection } }
            close(connection)
            ended.withLock { $0 += 1 }
            self?.changed()
        }
    }
}
