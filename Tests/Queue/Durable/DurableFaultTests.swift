import Foundation
import Instrument
import InstrumentBackends
import InstrumentDurableQueue
import InstrumentTestKit
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

/// Posts JSON lines to a server.
private struct PostingBackend: Backend {
    let url: HTTPURL
    let transport: SystemTransport
    let name: BackendName = "server"
    let policy = DeliveryPolicy(maxAge: .milliseconds(10))

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        do throws(HTTPError) {
            let response = try await transport.send(HTTPRequest(.post, url, body: JSONLines.encode(batch.records)))
            return DeliveryOutcome(response, now: SystemClock().wallTime)
        } catch {
            return DeliveryOutcome(error)
        }
    }
}

private final class SilentTracker: Tracker {
    func begin(in context: TrackerContext) {}
}

/// These tests need the wall clock, because they check that a real request keeps a deadline. The bounds are wide.
@Suite("Faults around the durable queue", .ownThread)
struct DurableFaultTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func run(against address: String, emitting count: Int, timeout: Duration) async throws -> Bool {
        let store = try DurableStore(directory: scratch.path)
        let backend = PostingBackend(url: try HTTPURL(address), transport: try SystemTransport())
        let instrument = Instrument(hub: NoOpHub(), metricalc: nil, backends: [backend], store: store)
        let tracker = instrument.add(SilentTracker())
        for number in 0..<count { instrument.emit(.ping, from: tracker, attributes: ["number": .int(number)]) }
        let isEmpty = await instrument.shutdown(timeout: timeout)
        store.close()
        return isEmpty
    }

    @Test("A process ends in time when the server is down or hangs; the next run delivers everything")
    func serverDown() async throws {
        let clock = SystemClock()
        let closed = "http://127.0.0.1:\(try TestServer.closedPort())/"
        let hanging = try TestServer { _ in [.hang] }
        for address in [closed, hanging.url()] {
            let load = MachineLoad()
            let elapsed = try await withTaskExecutorPreference(OwnThread()) {
                let start = clock.now
                let isEmpty = try await run(against: address, emitting: 50, timeout: .milliseconds(300))
                #expect(!isEmpty)
                return start.duration(to: clock.now)
            }
            #expect(elapsed >= .milliseconds(300))
            if load.allowsJudging("the end of a run whose server is down") { #expect(elapsed < .seconds(25)) }
        }
        let up = try TestServer { _ in [.respond("200 OK")] }
        #expect(try await run(against: up.url(), emitting: 0, timeout: .seconds(1800)))
        let lines = up.requests.flatMap { $0.body.split(separator: UInt8(ascii: "\n")) }
        let numbers = try lines.map { try JSONLines.decode(Array($0)).sample.attributes[AttributeKey<Int>("number")] }
        #expect(numbers == Array(0..<50) + Array(0..<50))
    }

    @Test("Opening a store fails and names the directory when it is not writable or not a directory")
    func unwritable() throws {
        let file = scratch.path + "/file"
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        for path in ["/proc/instrument-queue", file, file + "/below"] {
            #expect {
                _ = try DurableStore(directory: path)
            } throws: { error in
                (error as? QueueError)?.code == .storeFailed && "\(error)".contains(path)
            }
        }
    }

    @Test("Samples of a run with a wrong calendar are delivered in order by the next run")
    func calendarSteps() throws {
        var numbers: [Int] = []
        for (run, step) in [0, 86_400 * 3650, -86_400 * 7300].enumerated() {
            let clock = VirtualClock()
            clock.stepWallTime(by: .seconds(step))
            let store = try DurableStore(directory: scratch.path)
            store.attach("one")
            for number in 0..<10 {
                let attributes: Attributes = ["number": .int(run * 10 + number)]
                let event = Event(.ping, tracker: TrackerID(0), time: clock.timestamp, attributes: attributes)
                _ = try store.append([.event(event)])
                numbers.append(run * 10 + number)
                clock.advance(by: .seconds(1))
            }
            store.close()
        }
        let store = try DurableStore(directory: scratch.path)
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == numbers)
        #expect(store.ledger(of: "one").dropped == 0)
    }
}
