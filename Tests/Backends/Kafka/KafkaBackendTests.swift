import CKafka.Mock
import Instrument
import InstrumentBackends
import InstrumentKafka
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@Suite("Kafka backend", .ownThread, .timeLimit(.minutes(30)))
struct KafkaBackendTests {
    /// Long enough for a busy machine.
    private static let patience = Duration.seconds(300)

    private func backend(
        _ cluster: MockCluster,
        timeout: Duration = patience,
        _ change: (inout KafkaConfiguration) -> Void = { _ in }
    ) throws -> KafkaBackend {
        var configuration = KafkaConfiguration(timeout: timeout)
        change(&configuration)
        return try KafkaBackend(cluster.endpoint(), configuration: configuration)
    }

    private func numbers(_ messages: [MockCluster.Message]) throws -> [Int] {
        try messages.map { message in
            guard case .int(let number)? = try JSONLines.decode(message.value).sample.attributes["number"] else {
                throw NoCluster()
            }
            return number
        }
    }

    @Test("The backend keeps the promises of the backend contract")
    func contract() async throws {
        let cluster = try MockCluster(partitions: 1)
        try await BackendContract.check {
            try backend(cluster)
        } arrived: {
            try cluster.messages().compactMap(\.id)
        }
    }

    @Test("A message has the session as its key, the sample's JSON as its value, and identifier and schema as headers")
    func message() async throws {
        let cluster = try MockCluster()
        let backend = try backend(cluster)
        var other = Event(.start, tracker: TrackerID(1), time: SessionSamples.time(9))
        other[.senderId] = "sender-1"
        let metric = Metric(.startTime, 850, tracker: TrackerID(1), time: SessionSamples.time(9), attributes: [:])
        let records = [
            SessionSamples.record(1, session: "session-1"),
            SampleRecord(id: SessionSamples.id(2), sequence: 2, sample: .event(other)),
            SampleRecord(id: SessionSamples.id(3), sequence: 3, sample: .metric(metric)),
        ]
        #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        let messages = try cluster.messages().sorted { $0.headers["id"] ?? "" < $1.headers["id"] ?? "" }
        let expected = records.sorted { $0.id.description < $1.id.description }
        #expect(try messages.map { try JSONLines.decode($0.value) } == expected)
        #expect(messages.allSatisfy { !$0.value.contains(UInt8(ascii: "\n")) })
        let keys = Dictionary(uniqueKeysWithValues: messages.map { ($0.id, $0.key) })
        #expect(
            keys == [SessionSamples.id(1): "session-1", SessionSamples.id(2): "sender-1", SessionSamples.id(3): nil]
        )
        let headers = messages.first { $0.id == SessionSamples.id(3) }?.headers
        #expect(
            headers == ["id": SessionSamples.id(3).description, "schema": "instrument-sample/1", "type": "metric"]
        )
        await backend.end()
    }

    @Test("Headers name the stream, the location and the labels of a monitor")
    func monitorHeaders() async throws {
        let cluster = try MockCluster()
        let backend = try backend(cluster)
        let attributes: Attributes = [
            "monitorStream": "news hd", "monitorLocation": "Zürich", "monitorLabels": ["cdn": "alpha", "id": "7"],
        ]
        let event = Event(.start, tracker: TrackerID(1), time: SessionSamples.time(9), attributes: attributes)
        let record = SampleRecord(id: SessionSamples.id(1), sequence: 1, sample: .event(event))
        #expect(await backend.deliver(Batch(records: [record])) == .acknowledged)
        let message = try #require(try cluster.messages().first)
        #expect(
            message.headers == [
                "id": record.id.description, "schema": "instrument-sample/1", "type": "event", "stream": "news hd",
                "location": "Zürich", "label.cdn": "alpha", "label.id": "7",
            ]
        )
        #expect(try JSONLines.decode(message.value) == record)
        await backend.end()
    }

    @Test("The messages of a session are in one partition in their order, and sessions use all partitions")
    func order() async throws {
        let cluster = try MockCluster()
        let backend = try backend(cluster)
        for start in 0..<10 {
            let batch = SessionSamples.batch(start * 200..<(start + 1) * 200, sessions: 50)
            #expect(await backend.deliver(batch) == .acknowledged)
        }
        let messages = try cluster.messages()
        #expect(Set(messages.map(\.partition)).count == cluster.partitions)
        for (session, messages) in Dictionary(grouping: messages, by: \.key) {
            #expect(Set(messages.map(\.partition)).count == 1)
            let numbers = try numbers(messages)
            #expect(numbers == (0..<2000).filter { "session-\($0 % 50)" == session })
        }
    }

    @Test("A mapping replaces the message of a sample, or leaves the sample out")
    func mapping() async throws {
        let cluster = try MockCluster()
        let backend = try backend(cluster) { configuration in
            configuration.mapping = { record in
                record.sequence == 1 ? nil : KafkaMessage(key: "key", value: Array("value".utf8))
            }
        }
        #expect(await backend.deliver(SessionSamples.batch(0..<2)) == .acknowledged)
        #expect(await backend.deliver(SessionSamples.batch(1..<2)) == .acknowledged)
        let messages = try cluster.messages()
        #expect(messages.map(\.value) == [Array("value".utf8)])
        #expect(messages.map(\.key) == ["key"] && messages.map(\.headers) == [[:]])
    }

    // MARK: Failures

    @Test("A message that is larger than the limit becomes a dead letter, and the rest of the batch arrives")
    func largeMessage() async throws {
        let cluster = try MockCluster()
        let backend = try backend(cluster) { $0.maxMessageBytes = 2000 }
        let large = SessionSamples.record(5, session: "s", text: String(repeating: "x", count: 4000))
        let batch = Batch(records: SessionSamples.batch(0..<5).records + [large] + SessionSamples.batch(6..<10).records)
        guard case .acknowledgedExcept(let refused) = await backend.deliver(batch) else { throw NoCluster() }
        #expect(Array(refused.keys) == [large.id])
        #expect(refused[large.id]?.contains("MSG_SIZE_TOO_LARGE") == true)
        #expect(Set(try numbers(cluster.messages())) == Set(0..<10).subtracting([5]))
    }

    @Test("The queue finds the message that brokers refuse, and only that message becomes a dead letter")
    func refusedMessage() async throws {
        let cluster = try MockCluster(partitions: 1)
        // The hurried clock would end a delivery after the sixteenth of a second.
        let policy = DeliveryPolicy(maxCount: 16, maxAge: .zero, timeout: nil)
        let backend = RefusedSampleBackend(backend: try backend(cluster) { $0.policy = policy }, cluster: cluster)
        let queue = BatchQueue(backends: [backend], clock: HurriedClock())
        queue.append((0..<16).map { SessionSamples.event($0, session: "s") })
        #expect(await queue.shutdown(timeout: .seconds(2_000_000)))
        let ledger = try #require(queue.ledger["kafka"])
        #expect((ledger.acknowledged, ledger.dead, ledger.queued) == (15, 1, 0))
        #expect(Set(try numbers(cluster.messages())) == Set(1..<16))
    }

    @Test(
        "An error of the topic or the login leads to a long back-off",
        arguments: [RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED]
    )
    func unauthorized(error: rd_kafka_resp_err_t) async throws {
        let cluster = try MockCluster()
        let backend = try backend(cluster)
        cluster.failProducing(error)
        guard case .unauthorized(let reason) = await backend.deliver(SessionSamples.batch(0..<1)) else {
            throw NoCluster()
        }
        #expect(reason.contains("AUTHORIZATION_FAILED"))
        #expect(await backend.deliver(SessionSamples.batch(0..<1)) == .acknowledged)
    }

    @Test("Temporary errors of brokers do not reach the queue, and each message arrives once")
    func temporaryErrors() async throws {
        let cluster = try MockCluster()
        let backend = try backend(cluster)
        cluster.failProducing(
            RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
            RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR
        )
        #expect(await backend.deliver(SessionSamples.batch(0..<300, sessions: 7)) == .acknowledged)
        let found = try numbers(cluster.messages()).sorted()
        #expect(found == Array(0..<300), "\(found.count) messages, \(Set(found).count) different ones")
    }

    @Test("Messages follow the leader of a partition")
    func leaderChange() async throws {
        let cluster = try MockCluster()
        let backend = try backend(cluster)
        for round in 0..<6 {
            for partition in 0..<cluster.partitions { cluster.setLeader(of: partition, to: round % 3 + 1) }
            let batch = SessionSamples.batch(round * 50..<(round + 1) * 50, sessions: 5)
            #expect(await backend.deliver(batch) == .acknowledged)
        }
        #expect(try numbers(cluster.messages()).sorted() == Array(0..<300))
    }

    @Test("Brokers that are down lead to a retry that names the connection, and the samples arrive once brokers are up")
    func brokersDown() async throws {
        let cluster = try MockCluster(brokers: 1)
        cluster.setBroker(1, isDown: true)
        let backend = try backend(cluster, timeout: .seconds(2))
        var reason = ""
        // On a busy machine, the messages may time out before the client has tried to connect.
        while !reason.contains("127.0.0.1") {
            guard case .retry(nil, let words) = await backend.deliver(SessionSamples.batch(0..<10)) else {
                throw NoCluster()
            }
            reason = words
        }
        #expect(reason.contains("_MSG_TIMED_OUT") && !reason.contains("after"))
        // The same words again, so that the queue reports them once.
        #expect(await backend.deliver(SessionSamples.batch(0..<10)) == .retry(after: nil, reason: reason))
        cluster.setBroker(1, isDown: false)
        while await backend.deliver(SessionSamples.batch(0..<10)) != .acknowledged {}
        #expect(Set(try numbers(cluster.messages())) == Set(0..<10))
        await backend.end()
    }

    @Test("A cancelled delivery returns at once, and the next attempt does not produce its messages again")
    func cancellation() async throws {
        let cluster = try MockCluster(brokers: 1)
        cluster.setBroker(1, isDown: true)
        let backend = try backend(cluster)
        for _ in 0..<3 {
            let delivery = Task { await backend.deliver(SessionSamples.batch(0..<10)) }
            try await Task.sleep(for: .milliseconds(100))
            delivery.cancel()
            guard case .retry(nil, let reason) = await delivery.value else { throw NoCluster() }
            #expect(reason == "the delivery was cancelled" || reason.hasPrefix("no broker answers: "))
        }
        cluster.setBroker(1, isDown: false)
        while await backend.deliver(SessionSamples.batch(0..<12)) != .acknowledged {}
        #expect(try numbers(cluster.messages()) == Array(0..<12))
    }

    @Test("A batch that is larger than the buffer is delivered whole")
    func smallBuffer() async throws {
        let cluster = try MockCluster()
        let backend = try backend(cluster) { $0.maxBufferedBytes = 1 << 10 }
        #expect(await backend.deliver(SessionSamples.batch(0..<500, sessions: 9)) == .acknowledged)
        #expect(try numbers(cluster.messages()).sorted() == Array(0..<500))
    }

    @Test("A slow broker delays a delivery and loses nothing")
    func slowBroker() async throws {
        let cluster = try MockCluster()
        for broker in 1...3 { cluster.setRoundTrip(of: broker, milliseconds: 500) }
        let backend = try backend(cluster)
        #expect(await backend.deliver(SessionSamples.batch(0..<100, sessions: 9)) == .acknowledged)
        for broker in 1...3 { cluster.setRoundTrip(of: broker, milliseconds: 0) }
        #expect(try numbers(cluster.messages()).sorted() == Array(0..<100))
    }

    @Test("Deliveries that wait for brokers leave the threads of Swift's pool free")
    func pool() async throws {
        let cluster = try MockCluster(brokers: 1)
        cluster.setBroker(1, isDown: true)
        let backends = try (0..<32).map { _ in try backend(cluster) }
        let deliveries = backends.map { backend in Task.detached { await backend.deliver(SessionSamples.batch(0..<3)) }
        }
        let answers = await withTaskGroup(of: Int.self) { group in
            for number in 0..<100 { group.addTask { await Task.detached { number }.value } }
            return await group.reduce(0, +)
        }
        #expect(answers == 4950)
        cluster.setBroker(1, isDown: false)
        for delivery in deliveries { #expect(await delivery.value == .acknowledged) }
        #expect(try cluster.messages().count == 96)
    }

    #if os(Linux)
    @Test("A broker whose certificate is not trusted leads to a long back-off", .enabled(if: TLSServer.isPossible))
    func untrusted() async throws {
        let server = try TLSServer()
        let security = KafkaSecurity(tls: TLSFiles())
        let endpoint = try KafkaEndpoint(brokers: ["localhost:\(server.port)"], topic: "samples", security: security)
        let backend = try KafkaBackend(endpoint, configuration: KafkaConfiguration(timeout: .seconds(2)))
        // On a busy machine the time may be up before the handshake.
        while true {
            switch await backend.deliver(SessionSamples.batch(0..<1)) {
            case .retry: continue
            case .unauthorized(let reason):
                #expect(reason.contains("certificate"))
                return
            default: throw NoCluster()
            }
        }
    }
    #endif
}

/// Has the brokers refuse every record batch of a delivery that contains the first sample: a broker refuses a record
/// batch as a whole, and the client decides which messages are in one.
private struct RefusedSampleBackend: Backend {
    let backend: KafkaBackend
    let cluster: MockCluster

    var name: BackendName { backend.name }
    var policy: DeliveryPolicy { backend.policy }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        if batch.records.contains(where: { $0.sequence == 0 }) {
            cluster.failProducing(RD_KAFKA_RESP_ERR_INVALID_RECORD, times: batch.records.count)
        }
        let outcome = await backend.deliver(batch)
        cluster.endFailures()
        return outcome
    }

    func end() async { await backend.end() }
}
