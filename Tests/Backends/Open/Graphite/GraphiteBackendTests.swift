import Instrument
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentGraphite

@Suite("Graphite backend", .ownThread, .serialized, .timeLimit(.minutes(30)))
struct GraphiteBackendTests {
    /// One line for each sample: the path has its identifier.
    private static let byID: @Sendable (SampleRecord) -> GraphitePoint? = { record in
        GraphitePoint(path: ["all", record.id.description], value: 1, time: record.sample.time.wallTime)
    }

    private func backend(_ server: LineServer, timeout: Duration = .seconds(300)) -> GraphiteBackend {
        GraphiteBackend(
            GraphiteAddress(host: "127.0.0.1", port: server.port),
            configuration: GraphiteConfiguration(timeout: timeout, mapping: Self.byID)
        )
    }

    private func identifiers(_ lines: [String]) -> [SampleID] {
        lines.compactMap { line in SampleID(String(line.dropFirst("all.".count).prefix(36))) }
    }

    private func batch(_ range: Range<Int>) -> Batch {
        Batch(records: range.map { Samples.record(Samples.event(.ping), UInt64($0)) })
    }

    @Test("Batches share one connection, which ends with the backend")
    func oneConnection() async throws {
        let server = try LineServer()
        let backend = backend(server)
        for start in 0..<5 { #expect(await backend.deliver(batch(start * 100..<(start + 1) * 100)) == .acknowledged) }
        await server.wait { $0.count == 500 }
        #expect(server.connectionCount == 1)
        await backend.end()
        #expect(identifiers(server.lines) == (0..<500).map { Samples.id($0) })
    }

    @Test("The backend keeps the promises of the backend contract")
    func contract() async throws {
        let server = try LineServer()
        let address = GraphiteAddress(host: "127.0.0.1", port: server.port)
        let mapping = Self.byID
        try await BackendContract.check {
            GraphiteBackend(address, configuration: GraphiteConfiguration(timeout: .seconds(300), mapping: mapping))
        } arrived: {
            // Confirmed by the system, maybe not yet read by the server's thread.
            await server.drain()
            return identifiers(server.lines)
        }
    }

    @Test("A server that is not there, and a host without an address, lead to a retry that names them")
    func unreachable() async throws {
        let port = try TestServer.closedPort()
        let configuration = GraphiteConfiguration(mapping: Self.byID)
        let closed = GraphiteBackend(GraphiteAddress(host: "127.0.0.1", port: port), configuration: configuration)
        guard case .retry(nil, let reason) = await closed.deliver(batch(0..<1)) else { throw Unexpected("") }
        #expect(reason.hasPrefix("127.0.0.1:\(port): the connection failed"))
        let nowhere = GraphiteBackend(GraphiteAddress(host: TestServer.unknownHost), configuration: configuration)
        guard case .retry(nil, let other) = await nowhere.deliver(batch(0..<1)) else { throw Unexpected("") }
        #expect(other.contains(TestServer.unknownHost))
    }

    @Test("A server that does not read leads to a retry after the timeout, and a cancelled delivery to a retry at once")
    func stalledServer() async throws {
        let server = try LineServer { _ in .stall }
        let backend = backend(server, timeout: .milliseconds(300))
        guard case .retry(nil, let reason) = await backend.deliver(batch(0..<50_000)) else { throw Unexpected("") }
        #expect(reason.hasSuffix("the server does not read in time; retry later"))
        let patient = self.backend(server)
        let delivery = Task { await patient.deliver(batch(0..<50_000)) }
        delivery.cancel()
        guard case .retry(nil, let words) = await delivery.value else { throw Unexpected("") }
        #expect(words.contains("cancelled"))
    }

    @Test("A connection that the server closed is replaced before the next batch")
    func closedBetweenBatches() async throws {
        // The first connection ends behind the first batch.
        let length = "all.\(Samples.id(0)) 1 1767225600\n".utf8.count * 10
        let server = try LineServer { number in number == 0 ? .resetAfter(length) : .read }
        let backend = backend(server)
        // On a busy machine the reset may come before the confirmation, or after the next write: then the queue
        // retries.
        _ = await backend.deliver(batch(0..<10))
        await server.waitForEnds(1)
        while await backend.deliver(batch(10..<20)) != .acknowledged {}
        await server.wait { $0.count == 20 }
        #expect(server.connectionCount == 2)
        await backend.end()
    }

    @Test("Every sample is acknowledged, in order and in whole lines, when connections break at random")
    func brokenConnections() async throws {
        var generator = SeededGenerator(seed: .random(in: 0...0xFFFF))
        let sizes = (0..<1000).map { _ in Int(generator.next() % 20_000) }
        let server = try LineServer { number in
            number % 3 == 2 || number >= sizes.count ? .read : .resetAfter(max(1, sizes[number]))
        }
        let configuration = GraphiteConfiguration(
            timeout: .seconds(300),
            // The hurried clock would end a delivery after the sixteenth of a second.
            policy: DeliveryPolicy(maxCount: 100, maxAge: .zero, timeout: nil),
            mapping: { record in
                let number = record.sample.attributes["number"]?.description ?? ""
                return GraphitePoint(path: ["all", number], value: 1, time: record.sample.time.wallTime)
            }
        )
        let address = GraphiteAddress(host: "127.0.0.1", port: server.port)
        let backend = GraphiteBackend(address, configuration: configuration)
        let queue = BatchQueue(backends: [backend], clock: HurriedClock(factor: 1000))
        queue.append((0..<3000).map { Samples.event(.ping, ["number": .int($0)]) })
        #expect(await queue.shutdown(timeout: .seconds(2_000_000)))
        #expect(queue.ledger["graphite"]?.acknowledged == 3000)
        // Every third connection reads to its end, so that the last sample arrives.
        await server.wait { $0.contains("all.2999 1 1767225600") }
        let lines = server.lines
        #expect(lines.allSatisfy { line in line.hasPrefix("all.") && line.hasSuffix(" 1 1767225600") })
        // TCP confirms bytes in the buffer of the server's system, which a reset discards: at most the size of two
        // small buffers.
        var known = Set<String>()
        let first = lines.filter { known.insert($0).inserted }.compactMap { Int($0.dropFirst(4).prefix { $0 != " " }) }
        #expect(first == first.sorted() && first.count > 1500)
        #expect(server.connectionCount >= 3)
    }
}
