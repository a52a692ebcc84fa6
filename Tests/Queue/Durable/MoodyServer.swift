import Foundation
import Instrument
import InstrumentCompression
import InstrumentTestKit
import LoopbackServers

/// A server that accepts JSON lines, and fails at random in every way of a server.
final class MoodyServer: Sendable {
    private struct State {
        var generator: SeededGenerator
        var lines: [[UInt8]] = []
        var answers: [String: Int] = [:]
    }

    private let state: Lock<State>
    private let server: TestServer

    var address: String { server.url("/samples") }
    /// The accepted samples in order, including duplicates.
    var lines: [[UInt8]] { state.withLock { $0.lines } }
    /// The number of responses of each kind.
    var answers: [String: Int] { state.withLock { $0.answers } }

    init(seed: UInt64) throws {
        let state = Lock(State(generator: SeededGenerator(seed: seed)))
        self.state = state
        server = try TestServer { request in state.withLock { Self.answer(request, &$0) } }
    }

    private static func answer(_ request: TestServer.Received, _ state: inout State) -> [TestServer.Step] {
        guard let lines = lines(of: request.body) else { return [.respond("400 Bad Request")] }
        let hasCulprit = lines.contains { $0.contains(culprit) }
        let (name, steps): (String, [TestServer.Step])
        switch state.generator.next() % 40 {
        case 0: (name, steps) = ("500", [.respond("500 Oops")])
        case 1: (name, steps) = ("503", [.respond("503 Busy")])
        case 2: (name, steps) = ("429", [.respond("429 Slow down", [], "Retry-After: 2")])
        case 3: (name, steps) = ("401", [.respond("401 Who")])
        case 4: (name, steps) = ("reset", [.reset])
        case 5: (name, steps) = ("hang", [.hang])
        case 6: (name, steps) = ("half head", [.send(Array("HTTP/1.1 20".utf8)), .close])
        case 7 where lines.count > 1: (name, steps) = ("413", [.respond("413 Too large")])
        case _ where hasCulprit: (name, steps) = ("400", [.respond("400 Bad", Array("one of them is bad".utf8))])
        case 8: (name, steps) = ("taken, reset", [.reset])
        case 9: (name, steps) = ("taken, hang", [.hang])
        case 10:
            let half = Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".utf8)
            (name, steps) = ("taken, half answer", [.send(half), .close])
        default: (name, steps) = ("200", [.respond("200 OK")])
        }
        if name == "200" || name.hasPrefix("taken") { state.lines += lines }
        state.answers[name, default: 0] += 1
        return steps
    }

    private static let culprit = Array("\"isCulprit\"".utf8)

    private static func lines(of body: [UInt8]) -> [[UInt8]]? {
        var bytes: [UInt8] = []
        var gunzip = Gunzip()
        guard (try? gunzip.unpack(body) { bytes += $0 }) != nil else { return nil }
        return bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) }
    }
}
