import Foundation

/// A server of NATS on a loopback port that confirms every message and keeps none. It speaks what a publisher needs:
/// `INFO`, `PONG`, and a `MSG` for each `HPUB` or `PUB` with a reply subject.
final class NullNATS {
    let port: UInt16

    init() throws {
        let listener = try LoopbackListener()
        port = listener.port
        listener.serve(Self.serve)
    }

    private static func serve(_ connection: Int32) {
        send(
            Array("INFO {\"server_id\":\"null\",\"headers\":true,\"max_payload\":1048576,\"jetstream\":true}\r\n".utf8),
            connection
        )
        var (bytes, start, sequence) = ([UInt8](), 0, 0)
        var piece = [UInt8](repeating: 0, count: 1 << 18)
        while case let count = recv(connection, &piece, piece.count, 0), count > 0 {
            bytes.removeFirst(start)
            start = 0
            bytes += piece[..<count]
            var answers: [UInt8] = []
            while let end = bytes[start...].firstIndex(of: 0x0A) {
                let words = bytes[start..<end].dropLast().split(separator: 0x20)
                let name = words.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
                if name == "PING" { answers += Array("PONG\r\n".utf8) }
                guard name == "HPUB" || name == "PUB" else {
                    start = end + 1
                    continue
                }
                let size = words.last.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
                guard bytes.count >= end + 1 + size + 2 else { break }
                start = end + 1 + size + 2
                sequence += 1
                let confirmation = "{\"stream\":\"NULL\",\"seq\":\(sequence)}"
                answers += Array("MSG ".utf8)
                answers += words[2]
                answers += Array(" 1 \(confirmation.utf8.count)\r\n\(confirmation)\r\n".utf8)
            }
            send(answers, connection)
        }
    }

    private static func send(_ bytes: [UInt8], _ connection: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }
}
