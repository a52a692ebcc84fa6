import Foundation
import Instrument
import InstrumentBackends
import InstrumentJSON

#if canImport(Glibc)
import Glibc
#endif

/// A plain client for the tests, which knows nothing of the backend's code: requests and their answers, one at a time.
/// Blocks.
final class NATSClient {
    private let descriptor: Int32
    private var bytes: [UInt8] = []

    /// Whether a server introduces itself.
    static func isThere(_ port: UInt16) -> Bool { (try? NATSClient(connectingTo: port)) != nil }

    /// - Parameters:
    ///   - port: the port of the server.
    ///   - options: members of `CONNECT`, such as `"user":"admin","pass":"secret"`.
    ///   - patience: the time limit of an answer, in seconds.
    convenience init(port: UInt16, options: String = "", patience: Int = 600) throws {
        try self.init(connectingTo: port, patience: patience)
        let more = options.isEmpty ? "" : "," + options
        try write("CONNECT {\"verbose\":false,\"headers\":true\(more)}\r\nSUB answers 1\r\nPING\r\n")
        while true {
            let line = try line()
            if line == "PONG" { return }
            if line.hasPrefix("-ERR") { throw NoServer(why: line) }
        }
    }

    private init(connectingTo port: UInt16, patience: Int = 600) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let (descriptor, size) = (descriptor, socklen_t(MemoryLayout<sockaddr_in>.size))
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
        }
        guard isConnected else { throw NoServer(why: "no connection") }
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard try line().hasPrefix("INFO") else { throw NoServer(why: "no INFO") }
    }

    deinit { close(descriptor) }

    /// Sends a request and returns its answer.
    func request(_ subject: String, _ payload: String = "") throws -> JSONValue {
        try write("PUB \(subject) answers \(payload.utf8.count)\r\n\(payload)\r\n")
        return try answer()
    }

    /// Publishes a message without an answer.
    func publish(_ subject: String, _ payload: String) throws {
        try write("PUB \(subject) \(payload.utf8.count)\r\n\(payload)\r\n")
    }

    /// Creates a stream with one subject, in files.
    func createStream(_ subject: String = "samples", _ settings: String = "", replicas: Int = 1) throws {
        let answer = try request(
            "$JS.API.STREAM.CREATE.TEST",
            "{\"name\":\"TEST\",\"subjects\":[\"\(subject)\"],\"storage\":\"file\",\"num_replicas\":\(replicas),\"retention\":\"limits\"\(settings)}"
        )
        if answer["error"] != nil { throw NoServer(why: "\(answer)") }
    }

    struct Stored {
        let subject: String
        let headers: String
        let payload: [UInt8]

        var id: SampleID? {
            headers.components(separatedBy: "Nats-Msg-Id: ").last.flatMap { SampleID(String($0.prefix(36))) }
        }
        /// The number that the tests give their samples.
        var number: Int? {
            guard case .int(let number)? = (try? JSONLines.decode(payload))?.sample.attributes["number"] else {
                return nil
            }
            return number
        }
    }

    /// Every message of the stream, in its order.
    func stored() throws -> [Stored] {
        let state = try request("$JS.API.STREAM.INFO.TEST")["state"]
        guard let first = state?["first_seq"]?.int, let last = state?["last_seq"]?.int, first > 0, first <= last else {
            return []
        }
        let requests = (first...last).map { number in
            let payload = "{\"seq\":\(number)}"
            return "PUB $JS.API.STREAM.MSG.GET.TEST answers \(payload.utf8.count)\r\n\(payload)\r\n"
        }
        var messages: [Stored] = []
        for start in stride(from: 0, to: requests.count, by: 100) {
            let part = requests[start..<min(requests.count, start + 100)]
            try write(part.joined())
            for _ in part {
                let message = try answer()["message"]
                let text = { (name: String) in Data(base64Encoded: message?[name]?.string ?? "") ?? Data() }
                messages.append(
                    Stored(
                        subject: message?["subject"]?.string ?? "",
                        headers: String(decoding: text("hdrs"), as: UTF8.self),
                        payload: Array(text("data"))
                    )
                )
            }
        }
        return messages
    }

    private func answer() throws -> JSONValue {
        while true {
            let line = try line()
            if line == "PING" { try write("PONG\r\n") }
            guard line.hasPrefix("MSG"), let count = line.split(separator: " ").last.flatMap({ Int($0) }) else {
                continue
            }
            while bytes.count < count + 2 { try read() }
            defer { bytes.removeFirst(count + 2) }
            return try JSONValue(parsing: Array(bytes.prefix(count)))
        }
    }

    private func line() throws -> String {
        while true {
            if let end = bytes.firstIndex(of: 0x0A) {
                defer { bytes.removeFirst(end + 1) }
                return String(decoding: bytes[..<max(0, end - 1)], as: UTF8.self)
            }
            try read()
        }
    }

    private func read() throws {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &piece, piece.count, 0)
        guard count > 0 else { throw NoServer(why: "the connection ended") }
        bytes += piece.prefix(count)
    }

    private func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw NoServer(why: "the connection ended") }
            rest = rest.dropFirst(count)
        }
    }
}
