import Foundation

/// An HTTP server on the loopback address that takes everything, looks at nothing, and answers 200.
final class NullServer: Sendable {
    let port: UInt16
    private let listener: Int32

    init?() {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let opened = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(opened, address, length) == 0 && listen(opened, 16) == 0
                    && getsockname(opened, address, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        if !isBound { return nil }
        Thread.detachNewThread {
            while case let connection = accept(opened, nil, nil), connection >= 0 {
                Thread.detachNewThread { Self.serve(connection) }
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    private static func serve(_ connection: Int32) {
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        var head: [UInt8] = []
        var bodyLeft = 0
        while case let count = recv(connection, &piece, piece.count, 0), count > 0 {
            var new = piece[..<count]
            if bodyLeft == 0 {
                head += new
                guard let end = head.firstRange(of: [13, 10, 13, 10]) else { continue }
                let text = String(decoding: head[..<end.lowerBound], as: UTF8.self).lowercased()
                let line = text.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                bodyLeft = line.flatMap { Int($0.dropFirst(15).filter(\.isNumber)) } ?? 0
                new = head[end.upperBound...]
                head = []
            }
            bodyLeft -= new.count
            if bodyLeft <= 0 {
                bodyLeft = 0
                send(connection, answer, answer.count, 0)
            }
        }
        close(connection)
    }
}
