import CKafka.Mock
import Instrument
import InstrumentBackends
import InstrumentKafka
import LoopbackServers
import TestTraits
import Testing

@Suite("Reading a topic of Kafka", .ownThread, .timeLimit(.minutes(30)))
struct KafkaReaderTests {
    private func produce(_ numbers: Range<Int>, to cluster: MockCluster) async throws {
        let backend = try KafkaBackend(cluster.endpoint())
        #expect(await backend.deliver(SessionSamples.batch(numbers, sessions: 7)) == .acknowledged)
        await backend.end()
    }

    /// Reads until `count` messages have come, or the reader has been at the end for long.
    private func read(_ reader: KafkaReader, _ count: Int) async throws -> [Int] {
        var numbers: [Int] = []
        var ends = 0
        while numbers.count < count, ends < 200 {
            let messages = try await reader.next()
            if messages.values.isEmpty, messages.isAtEnd { ends += 1 }
            for value in messages.values {
                guard case .int(let number)? = try JSONLines.decode(value).sample.attributes["number"] else { continue }
                numbers.append(number)
            }
        }
        return numbers
    }

    @Test("A reader returns what is produced after its beginning, from all partitions, and says when it is at the end")
    func latest() async throws {
        let cluster = try MockCluster()
        try await produce(0..<20, to: cluster)
        let reader = try KafkaReader(cluster.endpoint(), from: .latest)
        // The beginning is that of the first call.
        #expect(try await reader.next().values.isEmpty)
        try await produce(20..<400, to: cluster)
        #expect(try await read(reader, 380).sorted() == Array(20..<400))
        var isAtEnd = false
        while !isAtEnd { isAtEnd = try await reader.next().isAtEnd }
        await reader.close()
    }

    @Test("Another reader continues at the offsets of an earlier one, and misses nothing")
    func offsets() async throws {
        let cluster = try MockCluster()
        try await produce(0..<50, to: cluster)
        let first = try KafkaReader(cluster.endpoint(), from: .offsets([:]))
        #expect(try await read(first, 50).count == 50)
        let known = first.offsets
        #expect(known.count == cluster.partitions && known.values.reduce(0, +) == 50)
        await first.close()
        try await produce(50..<90, to: cluster)
        let second = try KafkaReader(cluster.endpoint(), from: .offsets(known))
        #expect(try await read(second, 40).sorted() == Array(50..<90))
        await second.close()
    }

    @Test("Brokers that stop are an error, and the reader continues behind what it has returned")
    func outage() async throws {
        let cluster = try MockCluster()
        try await produce(0..<30, to: cluster)
        let reader = try KafkaReader(cluster.endpoint(), from: .offsets([:]))
        #expect(try await read(reader, 30).count == 30)
        for broker in 1...3 { cluster.setBroker(broker, isDown: true) }
        var error: KafkaError?
        while error == nil {
            do throws(KafkaError) { _ = try await reader.next() } catch let failure { error = failure }
        }
        #expect(error?.description.contains("no broker answers") == true)
        for broker in 1...3 { cluster.setBroker(broker, isDown: false) }
        try await produce(30..<60, to: cluster)
        var numbers: [Int] = []
        while numbers.count < 30 {
            do { numbers += try await read(reader, 30 - numbers.count) } catch { continue }
        }
        #expect(numbers.sorted() == Array(30..<60))
        await reader.close()
    }

    @Test("A topic that does not exist is an error that says what to do")
    func unknownTopic() async throws {
        let cluster = try MockCluster()
        cluster.setTopicError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        let reader = try KafkaReader(cluster.endpoint(), from: .latest)
        await #expect(throws: KafkaError.self) { _ = try await reader.next() }
    }

    @Test("A password without encryption is refused")
    func plainPassword() throws {
        let endpoint = try KafkaEndpoint("127.0.0.1:9/samples?sasl=plain", login: ("user", "secret"))
        #expect(throws: KafkaError.self) { _ = try KafkaReader(endpoint, from: .latest) }
    }
}
