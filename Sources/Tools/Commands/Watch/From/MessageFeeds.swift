internal import Instrument
internal import InstrumentBackends
internal import InstrumentJSON
internal import InstrumentKafka
internal import InstrumentMonitor
internal import InstrumentMonitorRuntime
internal import InstrumentNATS

/// Samples of a topic of Kafka.
final class KafkaFeed: SampleFeed {
    let name: String
    private let reader: KafkaReader
    private let position: FeedPosition?
    private let intake = Lock(SampleIntake())
    private let kept = Lock<[Int32: Int64]>([:])

    init(_ endpoint: KafkaEndpoint, name: String, since start: FeedStart, position: FeedPosition?) throws {
        (self.name, self.position) = (name, position)
        let known = position?.read().flatMap { Self.offsets($0) }
        let usual: KafkaStart = if case .since(let time) = start { .since(time) } else { .latest }
        reader = try KafkaReader(endpoint, from: known.map { .offsets($0) } ?? usual)
    }

    func next() async throws(SampleFeedError) -> SampleBatch {
        do throws(KafkaError) {
            let messages = try await reader.next()
            return intake.withLock { $0.batch(of: messages.values, isCaughtUp: messages.isAtEnd) }
        } catch {
            throw SampleFeedError(error.description)
        }
    }

    func keepPosition() async {
        let offsets = reader.offsets
        let isNew = kept.withLock { kept in
            defer { kept = offsets }
            return kept != offsets
        }
        guard isNew, !offsets.isEmpty else { return }
        let members = offsets.map { ("\($0.key)", JSONValue.int(Int($0.value))) }
        position?.write(.object(Dictionary(members) { first, _ in first }))
    }

    func close() async { await reader.close() }

    private static func offsets(_ json: JSONValue) -> [Int32: Int64]? {
        guard case .object(let members) = json, !members.isEmpty else { return nil }
        var offsets: [Int32: Int64] = [:]
        for (partition, offset) in members {
            guard let partition = Int32(partition), partition >= 0, let offset = offset.int, offset >= -2 else {
                return nil
            }
            offsets[partition] = Int64(offset)
        }
        return offsets
    }
}

/// Samples of a subject of NATS.
final class NATSFeed: SampleFeed {
    let name: String
    private let reader: NATSReader
    private let position: FeedPosition?
    private let intake = Lock(SampleIntake())
    private let kept = Lock<UInt64?>(nil)

    init(_ endpoint: NATSEndpoint, name: String, since start: FeedStart, position: FeedPosition?) throws {
        (self.name, self.position) = (name, position)
        let known = (position?.read()?["sequence"]?.int).flatMap { UInt64(exactly: $0) }
        let usual: NATSStart = if case .since(let time) = start { .since(time) } else { .latest }
        reader = try NATSReader(endpoint, from: known.map { .behind($0) } ?? usual)
    }

    func next() async throws(SampleFeedError) -> SampleBatch {
        do throws(NATSError) {
            let messages = try await reader.next()
            return intake.withLock { $0.batch(of: messages.values, isCaughtUp: messages.isAtEnd) }
        } catch {
            throw SampleFeedError(error.description)
        }
    }

    func keepPosition() async {
        guard let sequence = reader.sequence else { return }
        let isNew = kept.withLock { kept in
            defer { kept = sequence }
            return kept != sequence
        }
        if isNew { position?.write(["sequence": .int(Int(clamping: sequence))]) }
    }

    func close() async { await reader.close() }
}
