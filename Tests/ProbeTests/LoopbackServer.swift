import Dispatch
import Foundation
import Instrument

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A server on the loopback address that answers each connection as it is told to, and is gone when it is let go of or
/// after half a minute.
final class LoopbackServer: Sendable {
    /// What it does with a connection.
    enum Step: Sendable {
        /// Sends bytes.
        case send(Data)
        /// Sends the part of a body that a `Range` header asks for, all of it if there is none, with the right head.
        case serve(Data)
        /// Waits until so long after the connection was accepted.
        case waitUntil(Duration)
        /// Sends nothing more and keeps the connection open.
        case hang
    }

    let port: UInt16
    private let listener: Int32
    private let connections = Lock([Int32]())
    private let seen = Lock([String]())
    private let steps: [Step]
    private static let life: Duration = .seconds(30)

    /// The heads of the requests so far.
    var requests: [String] { seen.withLock { $0 } }
    var address: String { "http://127.0.0.1:\(port)/film.mp4" }

    init(_ steps: [Step]) throws {
        self.steps = steps
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
                bind(opened, address, length) == 0 && listen(opened, 8) == 0
                    && getsockname(opened, address, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        if !isBound { throw FixtureError(message: "no loopback socket: \(errno)") }
        let accepting = listener
        DispatchQueue(label: "loopback").async { [weak self] in
            while true {
                let connection = accept(accepting, nil, nil)
                guard connection >= 0 else { break }
                guard let self else {
                    close(connection)
                    break
                }
                connections.withLock { $0.append(connection) }
                answer(connection)
            }
            // Whoever accepts closes, so that the number cannot be another server's by then.
            close(accepting)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in connections.withLock({ $0 }) { shutdown(connection, Int32(SHUT_RDWR)) }
    }

    /// A port on which nobody listens.
    static func closedPort() throws -> UInt16 { try LoopbackServer([]).port }

    static func head(_ status: String, length: Int? = nil, _ more: String = "") -> Step {
        let length = length.map { "Content-Length: \($0)\r\n" } ?? ""
        return .send(Data("HTTP/1.1 \(status)\r\n\(length)\(more)Connection: close\r\n\r\n".utf8))
    }

    private func answer(_ connection: Int32) {
        let (steps, seen) = (steps, seen)
        let accepted = SystemClock().now
        DispatchQueue(label: "loopback.connection").async { [weak self] in
            let request = Self.readHead(connection)
            seen.withLock { $0.append(request) }
            for step in steps { Self.perform(step, connection, request, accepted) }
            self?.connections.withLock { connections in connections.removeAll { $0 == connection } }
            close(connection)
        }
    }

    private static func readHead(_ connection: Int32) -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.suffix(4) != [13, 10, 13, 10], recv(connection, &byte, 1, 0) == 1 { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func perform(_ step: Step, _ connection: Int32, _ request: String, _ accepted: MonotonicInstant) {
        switch step {
        case .send(let data): send(data, to: connection)
        case .serve(let body): serve(body, request, connection)
        case .waitUntil(let time): wait(until: accepted.advanced(by: time))
        case .hang:
            var byte: UInt8 = 0
            var limit = timeval(tv_sec: Int(life.components.seconds), tv_usec: 0)
            setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            _ = recv(connection, &byte, 1, 0)
        }
    }

    private static func serve(_ body: Data, _ request: String, _ connection: Int32) {
        let range = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("range: bytes=") }
        let first = range.flatMap { Int($0.dropFirst(13).prefix { $0 != "-" }) } ?? 0
        let part = body.dropFirst(first)
        let status = range == nil ? "200 OK" : "206 Partial Content"
        let about = "Content-Range: bytes \(first)-\(body.count - 1)/\(body.count)\r\nAccept-Ranges: bytes\r\n"
        perform(head(status, length: part.count, about), connection, request, MonotonicInstant(nanoseconds: 0))
        send(part, to: connection)
    }

    private static func send(_ data: Data, to connection: Int32) {
        #if canImport(Glibc)
        let flags = Int32(MSG_NOSIGNAL)
        #else
        let flags: Int32 = 0
        #endif
        data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = sendBytes(connection, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, flags)
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    private static func wait(until instant: MonotonicInstant) {
        let left = SystemClock().now.duration(to: instant)
        if left > .zero { usleep(UInt32(left / .microseconds(1))) }
    }
}

/// The system's `send`, which the server's own hides.
private func sendBytes(_ socket: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(socket, bytes, count, flags)
}
