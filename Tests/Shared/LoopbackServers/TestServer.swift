internal import Foundation
internal import Instrument

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An HTTP/1.1 server on the loopback address that answers as its handler says, keeps connections open, keeps the
/// received requests, and stops when it is released.
package final class TestServer: Sendable {
    /// A request as it came.
    package struct Received: Sendable {
        package var head: String
        package var body: [UInt8]
        /// Which connection it came over: 0, 1 …
        package var connection: Int

        /// The request's target: path and query.
        package var target: String { head.split(separator: " ").dropFirst().first.map(String.init) ?? "" }

        package func header(_ name: String) -> String? {
            let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            return line.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
    }

    /// The server's next action on a connection.
    package enum Step: Sendable {
        case send([UInt8])
        case wait(Duration)
        /// Waits until so long after the request had come.
        case waitUntil(Duration)
        /// Sends nothing more until the client disconnects.
        case hang
        /// Sends zeros until the client disconnects, with a pause after each piece.
        ///
        /// The pause lets a client come to the end of what there is. On Linux URLSession reads until then, on the one
        /// queue that all sessions of a process share: without a pause every request of the process waits.
        case sendWithoutEnd(pause: Duration = .milliseconds(1))
        /// Ends the connection as if the machine had failed.
        case reset
        case close
    }

    package typealias Handler = @Sendable (Received) -> [Step]

    package let port: UInt16
    private let listener: Int32
    private let handler: Handler
    private let open = Lock([Int32]())
    private let seen = Lock([Received]())
    private let accepted = Lock(0)
    private struct Observers {
        var ended: (@Sendable () -> Void)?
    }

    private let observers = Lock(Observers())

    package var requests: [Received] { seen.withLock { $0 } }
    package var connectionCount: Int { accepted.withLock { $0 } }
    /// Calls `action` whenever a connection has ended.
    package func onEnd(_ action: @escaping @Sendable () -> Void) { observers.withLock { $0.ended = action } }
    package func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// A server that sends `greeting` before it is asked for anything.
    package init(greeting: [UInt8] = [], _ handler: @escaping Handler) throws {
        self.handler = handler
        #if canImport(Glibc)
        let opened = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let opened = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        listener = opened
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(opened, address, length) == 0 && listen(opened, 512) == 0
                    && getsockname(opened, address, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        if !isBound { throw NoServer(why: "no loopback socket: \(errno)") }
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(opened, nil, nil)
                guard connection >= 0 else { break }
                guard let self else {
                    close(connection)
                    break
                }
                serve(connection, greeting)
            }
            // The accepting thread closes the socket, so that its number cannot belong to another server.
            close(opened)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        open.withLock { for connection in $0 { shutdown(connection, Int32(SHUT_RDWR)) } }
    }

    private func serve(_ connection: Int32, _ greeting: [UInt8]) {
        open.withLock { $0.append(connection) }
        let number = accepted.withLock { count in
            defer { count += 1 }
            return count
        }
        let (open, seen, observers, handler) = (open, seen, observers, handler)
        Thread.detachNewThread {
            let stream = Stream(connection)
            if !greeting.isEmpty { _ = stream.perform(.send(greeting)) }
            while let request = stream.readRequest(number) {
                seen.withLock { $0.append(request) }
                stream.cameAt = SystemClock().now
                if !handler(request).allSatisfy(stream.perform) { break }
            }
            open.withLock { open in
                open.removeAll { $0 == connection }
                close(connection)
            }
            observers.withLock { $0.ended }?()
        }
    }
}

/// Why there is no server.
package struct NoServer: Error {
    package let why: String
    package init(why: String) { self.why = why }
}

extension TestServer.Step {
    /// A whole response that keeps the connection.
    package static func respond(_ status: String, _ body: [UInt8] = [], _ more: String...) -> Self {
        let lines = more.map { $0 + "\r\n" }.joined()
        return .send(Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\n\(lines)\r\n".utf8) + body)
    }
}

/// A connection, read and written by one thread.
private final class Stream {
    private let connection: Int32
    private var buffer: [UInt8] = []
    /// When the request that is answered had come.
    var cameAt = SystemClock().now

    init(_ connection: Int32) {
        self.connection = connection
        var limit = timeval(tv_sec: 900, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var isOn: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    func readRequest(_ number: Int) -> TestServer.Received? {
        let blank: [UInt8] = [13, 10, 13, 10]
        var searched = 0
        while true {
            if let range = buffer[searched...].firstRange(of: blank) {
                let head = String(decoding: buffer[..<range.upperBound], as: UTF8.self)
                buffer.removeSubrange(..<range.upperBound)
                var request = TestServer.Received(head: head, body: [], connection: number)
                let length = request.header("Content-Length").flatMap(Int.init) ?? 0
                while buffer.count < length { if !readMore() { return nil } }
                request.body = Array(buffer.prefix(length))
                buffer.removeFirst(length)
                return request
            }
            searched = max(0, buffer.count - 3)
            if !readMore() { return nil }
        }
    }

    private func readMore() -> Bool {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(connection, &piece, piece.count, 0)
        guard count > 0 else { return false }
        buffer += piece.prefix(count)
        return true
    }

    /// False once the connection has ended.
    func perform(_ step: TestServer.Step) -> Bool {
        switch step {
        case .send(let bytes): return write(bytes)
        case .wait(let time):
            usleep(UInt32(time / .microseconds(1)))
            return true
        case .waitUntil(let time):
            let left = SystemClock().now.duration(to: cameAt.advanced(by: time))
            if left > .zero { usleep(UInt32(left / .microseconds(1))) }
            return true
        case .hang:
            _ = readMore()
            return false
        case .sendWithoutEnd(let pause):
            let zeros = [UInt8](repeating: 48, count: 1 << 16)
            while write(zeros) { usleep(UInt32(pause / .microseconds(1))) }
            return false
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
            return false
        case .close: return false
        }
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        #if canImport(Glibc)
        let flags = Int32(MSG_NOSIGNAL)
        #else
        let flags: Int32 = 0
        #endif
        return bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = send(connection, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, flags)
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }
}
