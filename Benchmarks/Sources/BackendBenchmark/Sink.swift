import Foundation

/// A listening TCP socket on a free loopback port.
struct LoopbackListener: Sendable {
    let port: UInt16
    private let listener: Int32

    init() throws {
        #if canImport(Glibc)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 4) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard isBound else { throw CocoaError(.fileReadUnknown) }
        port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
    }

    /// Serves each connection on a separate thread, and closes it afterwards.
    func serve(_ body: @escaping @Sendable (Int32) -> Void) {
        Thread.detachNewThread {
            while let connection = accept() {
                Thread.detachNewThread {
                    body(connection)
                    close(connection)
                }
            }
        }
    }

    /// The next connection; nil after an error.
    private func accept() -> Int32? {
        let connection = Foundation.accept(listener, nil, nil)
        if connection < 0 { return nil }
        // Answers are small and must not wait for acknowledgements.
        var isOn: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        return connection
    }
}

/// A TCP server on a loopback port that reads everything and keeps nothing.
final class Sink {
    let port: UInt16

    init() throws {
        let listener = try LoopbackListener()
        port = listener.port
        listener.serve { connection in
            var piece = [UInt8](repeating: 0, count: 1 << 18)
            while recv(connection, &piece, piece.count, 0) > 0 {}
        }
    }
}
