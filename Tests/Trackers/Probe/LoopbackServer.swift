import Foundation
import LoopbackServers

/// A server that answers each request with the same steps and closes; films are served in parts.
final class LoopbackServer: Sendable {
    /// The server's action on a connection.
    enum Step: Sendable {
        /// Sends bytes.
        case send(Data)
        /// Sends the part of a body that a `Range` header asks for, all of it without such a header, with the right
        /// head.
        case serve(Data)
        /// Waits until this time after the arrival of the request.
        case waitUntil(Duration)
        /// Sends nothing more and keeps the connection open.
        case hang
    }

    private let server: TestServer

    /// The heads of the requests so far.
    var requests: [String] { server.requests.map(\.head) }
    var port: UInt16 { server.port }
    var address: String { server.url("/film.mp4") }

    init(_ steps: [Step]) throws {
        server = try TestServer { request in steps.flatMap { Self.steps($0, request) } + [.close] }
    }

    /// A port without a listener.
    static func closedPort() throws -> UInt16 { try TestServer.closedPort() }

    static func head(_ status: String, length: Int? = nil, _ more: String = "") -> Step {
        let length = length.map { "Content-Length: \($0)\r\n" } ?? ""
        return .send(Data("HTTP/1.1 \(status)\r\n\(length)\(more)Connection: close\r\n\r\n".utf8))
    }

    private static func steps(_ step: Step, _ request: TestServer.Received) -> [TestServer.Step] {
        switch step {
        case .send(let data): [.send(Array(data))]
        case .waitUntil(let time): [.waitUntil(time)]
        case .hang: [.hang]
        case .serve(let body): serve(body, request).flatMap { steps($0, request) }
        }
    }

    private static func serve(_ body: Data, _ request: TestServer.Received) -> [Step] {
        let range = request.header("Range").flatMap { $0.hasPrefix("bytes=") ? $0.dropFirst(6) : nil }
        let first = range.flatMap { Int($0.prefix { $0 != "-" }) } ?? 0
        let part = body.dropFirst(first)
        let about = "Content-Range: bytes \(first)-\(body.count - 1)/\(body.count)\r\nAccept-Ranges: bytes\r\n"
        return [head(range == nil ? "200 OK" : "206 Partial Content", length: part.count, about), .send(part)]
    }
}
