import Foundation
import Instrument

#if canImport(Glibc)
import Glibc
#endif

/// A client that sends and reads what a test says, and nothing else.
final class RawClient: Sendable {
    private let descriptor: Int32

    init(port: Int) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let target = descriptor
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(target, $0, length) == 0 }
        }
        struct Refused: Error {}
        if !isConnected { throw Refused() }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads until `isComplete` holds or the server closes.
    func read(until isComplete: (String) -> Bool = { _ in false }) -> String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if isComplete(text) { return text }
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { return text }
            bytes += piece.prefix(count)
        }
    }

    /// Sends a GET and reads the whole answer.
    static func get(_ path: String, port: Int, _ headers: String...) throws -> (status: Int, head: String, body: String)
    {
        let client = try RawClient(port: port)
        let more = headers.map { $0 + "\r\n" }.joined()
        let host = headers.contains { $0.hasPrefix("Host:") } ? "" : "Host: 127.0.0.1\r\n"
        client.send("GET \(path) HTTP/1.1\r\n\(host)\(more)Connection: close\r\n\r\n")
        let answer = client.read()
        let end = answer.range(of: "\r\n\r\n")
        let head = end.map { String(answer[..<$0.lowerBound]) } ?? answer
        return (
            Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0, head,
            end.map { String(answer[$0.upperBound...]) } ?? ""
        )
    }
}
