import Instrument
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import InstrumentXAPI
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentSeer

@Suite("The Seer client", .ownThread)
struct SeerClientTests {
    @Test("Each type is sent to its endpoint below the base address, with the client's token")
    func endpoints() async throws {
        let service = try SeerService()
        let listener = try Listener(service)
        for payload in [Given.activity("a"), Given.instrumentation("i"), Given.tinCan("t")] {
            let response = await listener.report(payload)
            #expect(response.isSuccess && !response.isQueued)
            #expect(response.requestType == payload.kind)
        }
        #expect(service.requests.map(\.path) == ["/api/sactivity", "/api/sinstrumentation", "/api/tincan"])
        #expect(service.requests[0].body == Given.activity("a").json.bytes)
        #expect(service.tokens == 1)
        #expect(listener.responses.map(\.event) == [.activityReport, .instrumentationReport, .tinCanReport])
        #expect(listener.all.filter { $0.event == .tokenFetch }.map(\.isSuccess) == [true])
    }

    @Test("Endpoints can be added and listed by name; base and path are joined by one slash")
    func addedEndpoints() async throws {
        let service = try SeerService()
        let listener = try Listener(service) { configuration in
            configuration.endpoints.addEndpoint("other/activity", name: .activity)
            configuration.endpoints.addEndpoint("/mine", name: "mine")
        }
        #expect(listener.client.endpoints["mine"] == "/mine")
        #expect(listener.client.endpoints[.tinCanBatch] == "/tincan/batch")
        _ = await listener.report(Given.activity("a"))
        #expect(service.requests.map(\.path) == ["/api/other/activity"])
    }

    @Test("The defaults are those of the service")
    func defaults() throws {
        var configuration = SeerConfiguration(baseURL: try HTTPURL("https://seer.example.org"))
        #expect(configuration.autoReportQueue)
        #expect(!configuration.receiveQueuedItemResponses)
        #expect(configuration.removeOldItemsWhenFullDB)
        #expect(configuration.maxBatchBytes == 102_400)
        #expect(configuration.maxQueueBytes == 10_485_760)
        for (bytes, isTaken) in [(1023, false), (1024, true), (1_048_576, true), (1_048_577, false), (-1, false)] {
            let before = configuration.maxBatchBytes
            #expect(configuration.setMaxBatchBytes(bytes) == isTaken)
            #expect(configuration.maxBatchBytes == (isTaken ? bytes : before))
        }
        #expect(SeerError.Code.queueFull.number == 9)
        #expect(SeerError.Code.diskFull.number == 10)
        var dumped = ""
        dump(SeerCredentials(clientID: "id", clientSecret: "the-secret", apiKey: "the-key"), to: &dumped)
        #expect(!dumped.contains("the-"))
    }

    @Test("An expired token is replaced before sending; a 401 fetches one token and retries")
    func tokens() async throws {
        let service = try SeerService()
        let clock = VirtualClock()
        let listener = try Listener(service, clock: clock)
        service.setTokens(expiry: 60)
        #expect(await listener.report(Given.activity("1")).isSuccess)
        #expect(await listener.report(Given.activity("2")).isSuccess)
        #expect(service.tokens == 1)
        clock.advance(by: .seconds(61))
        #expect(await listener.report(Given.activity("3")).isSuccess)
        #expect(service.tokens == 2)
        service.answer("401 Unauthorized")
        #expect(await listener.report(Given.activity("4")).isSuccess)
        #expect(service.tokens == 3)
        #expect(service.arrived == ["1", "2", "3", "4"])
        service.answer("401 Unauthorized", "401 Unauthorized")
        let response = await listener.report(Given.activity("5"))
        #expect(response.error?.code == .unauthorized && response.isQueued)
        #expect(service.tokens == 4)
    }

    @Test("Without a token no payload is lost, and refused credentials are reported")
    func noToken() async throws {
        let service = try SeerService()
        let listener = try Listener(service)
        service.setTokens(status: "400 Bad Request")
        let started = await withCheckedContinuation { continuation in
            listener.client.startSession { continuation.resume(returning: $0) }
        }
        #expect(started.event == .sessionStart && started.error?.code == .unauthorized)
        let response = await listener.report(Given.activity("1"))
        #expect(response.isQueued && !response.isSuccess)
        #expect(listener.client.queuedCount == 1)
        service.setTokens()
        #expect(await listener.reportQueue().isSuccess)
        #expect(service.arrived == ["1"])
        #expect(!"\(listener.all)".contains("the-secret"))
    }

    @Test("An invalid payload has its failures as response, and is neither sent nor queued")
    func invalid() async throws {
        let service = try SeerService()
        let listener = try Listener(service)
        let payload = SeerPayload(.activity, json: ["verb": ""])
        let response = await listener.report(payload)
        #expect(response.error?.code == .invalidPayload)
        #expect(response.error?.description.contains("seer-verb at $.verb") == true)
        #expect(listener.client.queue(payload).error?.code == .invalidPayload)
        #expect(listener.client.queuedCount == 0 && service.requests.isEmpty)
    }

    @Test("A report without a network is queued and sent before the next one of its type, in order")
    func offline() async throws {
        let service = try SeerService()
        let listener = try Listener(service)
        service.setDown(true)
        for id in ["1", "2"] {
            let response = await listener.report(Given.activity(id))
            #expect(response.isQueued && response.error?.code == .unavailable)
        }
        service.setDown(false)
        #expect(await listener.report(Given.tinCan("t")).isSuccess)
        #expect(listener.client.queuedCount == 2)
        #expect(await listener.report(Given.activity("3")).isSuccess)
        #expect(service.arrived == ["t", "1", "2", "3"])
        #expect(listener.client.queuedCount == 0 && listener.client.queuedBytes == 0)
    }

    @Test("A payload queued after a report is not sent before it")
    func queuedLater() async throws {
        let service = try SeerService()
        let listener = try Listener(service)
        listener.client.queue(Given.activity("1"))
        listener.client.report(Given.activity("2"))
        listener.client.queue(Given.activity("3"))
        #expect(await listener.report(Given.activity("4")).isSuccess)
        #expect(service.arrived == ["1", "2", "3", "4"])
    }

    @Test("A refused payload becomes a dead letter, alone or in a batch; the others arrive")
    func refused() async throws {
        let service = try SeerService()
        let listener = try Listener(service)
        service.refuse("7")
        #expect(await listener.report(Given.activity("7")).error?.code == .refused)
        for number in 0..<20 { listener.client.queue(Given.activity("\(number)")) }
        let response = await listener.reportQueue()
        #expect(response.isSuccess)
        #expect(Set(service.arrived) == Set((0..<20).filter { $0 != 7 }.map { "\($0)" }))
        #expect(service.arrived.count == 19)
        #expect(listener.client.deadLetters.map(\.reason) == ["HTTP 400", "HTTP 400"])
        #expect(listener.client.queuedCount == 0)
    }

    @Test("A refused payload that cannot be kept as a dead letter says so")
    func refusedOnFullDisk() async throws {
        let service = try SeerService()
        let disk = SmallDisk()
        let listener = try Listener(service, store: disk)
        service.refuse("7")
        disk.failures.withLock { $0 = 1 }
        let error = await listener.report(Given.activity("7")).error
        #expect(error?.code == .refused)
        #expect(error?.description.contains("the disk is full") == true, "\(String(describing: error))")
        #expect(listener.client.deadLetters.isEmpty)
    }

    @Test("Request numbers are unique and rise, also across restarts")
    func requestIDs() async throws {
        let service = try SeerService()
        let home = Home()
        var last: SeerRequestID = 0
        for _ in 0..<3 {
            let listener = try Listener(service, memory: home.memory)
            for _ in 0..<5 {
                let id = listener.client.queue(Given.activity("a")).requestID
                #expect(id > last)
                last = id
            }
        }
    }

    @Test("Delegate, observer, completion and sequence receive each response exactly once, in any combination")
    func manners() async throws {
        let service = try SeerService()
        let listener = try Listener(service)
        let delegate = Delegate()
        listener.client.delegate = delegate
        let stream = listener.client.responses
        let completed = Lock<[SeerResponse]>([])
        let ids = [
            listener.client.report(Given.activity("a")) { response in completed.withLock { $0.append(response) } },
            listener.client.report(SeerPayload(.tinCan, json: [:])) { response in
                completed.withLock { $0.append(response) }
            },
            listener.client.queue(Given.tinCan("t")) { response in completed.withLock { $0.append(response) } }
                .requestID,
            listener.client.startSession { response in completed.withLock { $0.append(response) } },
        ]
        let last = await listener.reportQueue()
        var streamed: [SeerResponse] = []
        for await response in stream {
            streamed.append(response)
            if response.requestID == last.requestID { break }
        }
        #expect(Set(streamed) == Set(listener.all) && streamed.count == listener.all.count)
        #expect(delegate.heard.withLock { $0 } == listener.all)
        for id in ids {
            #expect(completed.withLock { $0 }.filter { $0.requestID == id }.count == 1)
            #expect(listener.all.filter { $0.requestID == id }.count == 1)
        }
        #expect(
            Set(listener.all.map(\.event)).isSuperset(of: [.tokenFetch, .sessionStart, .queueReport, .queuedBatch])
        )
    }

    @Test("The queue is reported at session start and in the background when configured")
    func automatic() async throws {
        for isAutomatic in [true, false] {
            let service = try SeerService()
            let listener = try Listener(service) { $0.autoReportQueue = isAutomatic }
            listener.client.queue(Given.activity("1"))
            listener.client.startSession()
            for phase in LifecyclePhase.allCases { listener.client.enter(phase) }
            _ = await listener.report(Given.tinCan("t"))
            #expect(service.arrived == (isAutomatic ? ["1", "t"] : ["t"]))
            #expect(listener.client.queuedCount == (isAutomatic ? 0 : 1))
            #expect(listener.responses.filter { $0.event == .queueReport }.count == (isAutomatic ? 2 : 0))
        }
    }
}

private final class Delegate: SeerDelegate {
    let heard = Lock<[SeerResponse]>([])
    func seerDidRespond(_ response: SeerResponse) { heard.withLock { $0.append(response) } }
}
