// Produces a playback to a topic: KAFKA=127.0.0.1:9092/samples swift run KafkaExample.
// Without KAFKA the program prints the messages.

import Foundation
import Instrument
import InstrumentKafka
import Shared

let address = ProcessInfo.processInfo.environment["KAFKA"]
let backend: any Backend =
    if let address {
        try KafkaBackend(KafkaEndpoint(address))
    } else {
        Preview("kafka") { record in
            let message = KafkaMapping.message(of: record)
            return "\(message.key ?? "no key"): \(String(decoding: message.value, as: UTF8.self))"
        }
    }
let instrument = Instrument(backends: [backend])
play(on: instrument)
await finish(instrument)
