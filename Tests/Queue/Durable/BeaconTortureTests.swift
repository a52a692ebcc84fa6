import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import QueueChildPlan
import QueueTorture
import Testing

/// Kills a process that appends and sends beacons of ads, at random moments, while the ad server fails at random.
@Suite("Torture of beacons", .serialized)
struct BeaconTortureTests {
    @Test("No beacon is lost to kill -9; copies have one identifier; beacons of an ad keep their order")
    func kills() async throws {
        let kills = TortureSettings.kills(percent: 10, short: 8)
        let findings = try await offPool {
            var generator = SeededGenerator(seed: TortureSettings.seed)
            let scratch = try Scratch()
            let server = try MoodyAdServer(seed: generator.next())
            var plan = ChildPlan(
                .emit,
                directory: scratch.path + "/queue",
                backends: [BackendPlan("beacons", to: server.address)]
            )
            plan.beaconAddress = server.address
            plan.backends[0].deadLetterFile = scratch.path + "/dead"
            let queue = KilledQueue(plan, files: scratch.path, label: "kills, beacons")
            // Each beacon is one request: threads that never pause would leave thousands for the drain.
            for _ in 0..<kills {
                let running = try queue.start(&generator) { $0.pause = 2_000 }
                try running.process.waitUntilReady(running.notes)
                usleep(UInt32.random(in: 1_000...100_000, using: &generator))
                running.process.kill()
                queue.settle(running)
            }
            server.recover()
            return try queue.drain { _ in server.lines }
        }
        findings.report("kills, beacons")
    }
}

/// An ad server that records beacons, and fails at random until it recovers.
private final class MoodyAdServer: Sendable {
    private struct State {
        var generator: SeededGenerator
        var lines: [[UInt8]] = []
        var isMoody = true
    }

    private let state: Lock<State>
    private let server: TestServer

    var address: String { server.url("/beacon") }
    /// A line for each recorded beacon in order, in the form of the other torture's servers.
    var lines: [[UInt8]] { state.withLock { $0.lines } }

    init(seed: UInt64) throws {
        let state = Lock(State(generator: SeededGenerator(seed: seed)))
        self.state = state
        server = try TestServer { request in state.withLock { Self.answer(request, &$0) } }
    }

    func recover() { state.withLock { $0.isMoody = false } }

    private static func answer(_ request: TestServer.Received, _ state: inout State) -> [TestServer.Step] {
        let (isTaken, steps): (Bool, [TestServer.Step]) =
            switch state.isMoody ? state.generator.next() % 24 : 24 {
            case 0: (false, [.respond("500 Oops")])
            case 1: (false, [.respond("503 Busy")])
            case 2: (false, [.reset])
            case 3: (false, [.send(Array("HTTP/1.1 20".utf8)), .close])
            case 4: (true, [.reset])
            case 5: (true, [.hang])
            default: (true, [.respond("204 No Content")])
            }
        if isTaken, let line = line(request) { state.lines.append(line) }
        return steps
    }

    private static func line(_ request: TestServer.Received) -> [UInt8]? {
        guard let id = request.header("X-Beacon-ID"), let query = request.target.split(separator: "?").last else {
            return nil
        }
        let numbers = query.split(separator: "&").filter { !$0.hasPrefix("cb=") }.map { pair in
            "\"" + pair.replacing("=", with: "\":", maxReplacements: 1)
        }
        return Array("{\"id\":\"\(id)\",\(numbers.joined(separator: ","))}".utf8)
    }
}
