import Foundation
import LoopbackServers

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A plain blocking socket that sees every byte and when it came. Calls block: use `fetch`, or call them in `blocking`.
final class RawClient {
    /// How the bytes ended.
    enum Ending: Hashable { case complete, closed, reset, silence }

    struct Response: Sendable {
        var head = ""
        var body: [UInt8] = []
        /// How much of the body had come by when, in seconds since the request was sent.
        var arrivals: [(time: Double, bytes: Int)] = []
        var headTime = 0.0
        var ending = Ending.complete

        var status: Int { Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0 }
        var text: String { String(decoding: body, as: UTF8.self) }

        func header(_ name: String) -> String? {
            for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix(name.lowercased() + ":") {
                return line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
            }
            return nil
        }

        /// When the k-th byte of the body had come.
        func time(ofByte count: Int) -> Double? { arrivals.first { $0.bytes >= count }?.time }
    }

    private let descriptor: CInt
    private var buffer: [UInt8] = []
    private let hasFallenSilent: (@Sendable () -> Bool)?

    /// - Parameter hasFallenSilent: whether the server sends nothing more, for servers that keep the connection open:
    ///   then nothing for half a second is the end. Without it, nothing for ten minutes is.
    init(port: Int, silentOnce hasFallenSilent: (@Sendable () -> Bool)? = nil) throws {
        self.hasFallenSilent = hasFallenSilent
        #if canImport(Darwin)
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
        var time = hasFallenSilent == nil ? timeval(tv_sec: 600, tv_usec: 0) : timeval(tv_sec: 0, tv_usec: 500_000)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
    }

    func get(_ target: String, method: String = "GET", headers: String = "", limit: Int = .max) -> Response {
        let host = headers.hasPrefix("Host:") ? "" : "Host: test\r\n"
        send("\(method) \(target) HTTP/1.1\r\n\(host)\(headers)\r\n")
        return receive(method: method, limit: limit)
    }

    /// Reads one response; without `Content-Length` up to the end of the connection, or until `limit` bytes have come.
    func receive(method: String = "GET", limit: Int = .max) -> Response {
        let start = DispatchTime.now().uptimeNanoseconds
        func elapsed() -> Double { Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9 }
        var response = Response()
        let end = Data("\r\n\r\n".utf8)
        while true {
            if let range = Data(buffer).range(of: end) {
                response.head = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
                buffer.removeFirst(range.upperBound)
                response.headTime = elapsed()
                break
            }
            if let ending = fill() {
                response.ending = ending
                return response
            }
        }
        let length =
            method == "HEAD" || response.status == 204 ? 0 : response.header("Content-Length").flatMap(Int.init)
        let wanted = min(length ?? limit, limit)
        while true {
            let taken = min(buffer.count, wanted - response.body.count)
            if taken > 0 {
                response.body += buffer[..<taken]
                buffer.removeFirst(taken)
                response.arrivals.append((elapsed(), response.body.count))
            }
            if response.body.count >= wanted { return response }
            if let ending = fill() {
                response.ending = ending
                return response
            }
        }
    }

    /// The bytes after the response, until the connection ends.
    func rest() -> (bytes: [UInt8], ending: Ending) {
        while true {
            if let ending = fill() { return (buffer, ending) }
        }
    }

    private func fill() -> Ending? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            // Read first: the bytes that the server has already sent arrive within the time.
            let isSilent = hasFallenSilent?() ?? true
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count > 0 {
                buffer += chunk[..<count]
                return nil
            }
            if count == 0 { return .closed }
            if errno == ECONNRESET { return .reset }
            if isSilent { return .silence }
        }
    }
}

/// Sends one request over a separate connection.
func fetch(
    _ port: Int,
    _ target: String,
    method: String = "GET",
    headers: String = "",
    limit: Int = .max,
    silentOnce hasFallenSilent: (@Sendable () -> Bool)? = nil
) async throws -> RawClient.Response {
    try await blocking {
        try RawClient(port: port, silentOnce: hasFallenSilent).get(
            target,
            method: method,
            headers: headers,
            limit: limit
        )
    }
}
