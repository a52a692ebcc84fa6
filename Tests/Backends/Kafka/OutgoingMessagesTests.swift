import Instrument
import InstrumentBackends
import InstrumentTestKit
import InstrumentText
import Testing

@testable import InstrumentKafka

@Suite("Outgoing messages of Kafka")
struct OutgoingMessagesTests {
    /// What librdkafka receives of each message.
    private func messages(_ part: OutgoingMessages) -> [KafkaMessage] {
        part.values.withBytes { values in
            part.texts.withBytes { texts in
                func text(_ place: Range<Int>) -> String { String(decoding: texts[place], as: UTF8.self) }
                return part.messages.map { message in
                    KafkaMessage(
                        key: message.key.map { text($0) },
                        value: Array(values[message.value]),
                        headers: part.headers[message.headers].map { .init(text($0.name), text($0.value)) }
                    )
                }
            }
        }
    }

    @Test("The messages of a batch are those that the mapping makes one by one", arguments: UInt64(1)...20)
    func batch(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let encoder = LineEncoder()
        for _ in 0..<4 {
            let records = (0..<Int.random(in: 1...40, using: &generator)).map { number in
                var sample = RandomSamples.sample(&generator)
                if case .event(var event) = sample, number % 2 == 0 {
                    event[.playbackId] = ["", "session", "s\u{E9}ance"][number % 3]
                    event[.senderId] = number % 5 == 0 ? "" : "sender"
                    if number % 4 == 0 { event[.monitorLabels] = ["cdn": "north", "": "x", "tier": ""] }
                    if number % 8 == 0 { event[.monitorStream] = "stream \(number)" }
                    sample = .event(event)
                }
                let id = SampleID(log: seed, sequence: UInt64(number))
                return SampleRecord(id: id, sequence: UInt64(number), sample: sample)
            }
            let rest = records[(records.count / 3)...]
            let alone = rest.map { KafkaMapping.message(of: $0) }
            let part = OutgoingMessages(of: rest, encoder)
            #expect(messages(part) == alone)
            #expect(part.messages.map(\.id) == rest.map(\.id))
            let mapped = OutgoingMessages(zip(rest, alone).map { (id: $0.id, message: $1) })
            #expect(messages(mapped) == alone)
        }
        let bare = KafkaMessage(key: nil, value: [], headers: [])
        #expect(messages(OutgoingMessages([(id: SampleID(log: 1, sequence: 1), message: bare)])) == [bare])
    }
}
