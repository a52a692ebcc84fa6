import Foundation
import Instrument

/// Listens at a socket and runs the script of a test, for behavior that no mpv has.
final class FakePeer: Sendable {
    struct NoSocket: Error {}

    private let listener: Int32
    private let connections = Lock([Int32]())
    /// The received lines of all connections.
    let received = Log<[UInt8]>()
    let accepted = Log<Int32>()

    init(socket path: String) throws {
        #if canImport(Glibc)
        let opened = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let opened = Foundation.socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        listener = opened
        unlink(path)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(100)) }
        let isListening = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(opened, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(opened, 8) == 0
            }
        }
        if !isListening { throw NoSocket() }
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(opened, nil, nil)
                guard connection >= 0, let self else { break }
                connections.withLock { $0.append(connection) }
                accepted.append(connection)
                let received = received
                Thread.detachNewThread {
                    var chunk = [UInt8](repeating: 0, count: 4096)
                    while case let count = recv(connection, &chunk, chunk.count, 0), count > 0 {
                        received.append(Array(chunk.prefix(count)))
                    }
                }
            }
            close(opened)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        drop()
    }

    /// Sends to every connection.
    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        for connection in connections.withLock({ $0 }) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Foundation.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Ends every connection.
    func drop() {
        connections.withLock { connections in
            for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
            connections = []
        }
    }
}
