import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentOTLP

@Suite("Log records of OTLP that are written without being made")
struct OTLPDirectTests {
    @Test("The bytes are those of the mapping's records", arguments: UInt64(1)...20)
    func bytes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let records = (0..<60).map { number in
            var sample = RandomSamples.sample(&generator)
            if case .event(var event) = sample, number % 2 == 0 {
                event[.source] = ["https://user:word@media.example.org/a?key=1#part", "plain"][number % 4 / 2]
                if number % 4 == 0 { event[.monitorLabels] = ["cdn": "north", "": "x", "tier": ""] }
                sample = .event(event)
            }
            if number % 7 == 0, case .event(let event) = sample {
                var error = Event(.error, tracker: event.tracker, time: event.time, attributes: event.attributes)
                error[.isFatal] = number % 2 == 0
                sample = .event(error)
            }
            return SampleRecord(
                id: SampleID(log: seed, sequence: UInt64(number)),
                sequence: UInt64(number),
                sample: sample
            )
        }
        let messages = OTLPMessages(resource: [.init("service.name", "tests")])
        let mappings = [
            OTLPMapping(), OTLPMapping(omitted: [AttributeKey<String>.source.name]),
            OTLPMapping(omitted: ["monitorLabels"]),
        ]
        for mapping in mappings {
            let logs = records.compactMap { if case .log(let log)? = mapping($0) { log } else { nil } }
            #expect(messages.protobuf(ofEventsIn: records, mapping) == messages.protobuf(of: logs))
        }
    }
}
