// Publishes a playback to a stream of JetStream: NATS=127.0.0.1:4222/samples swift run NATSExample. The stream must
// exist. Without NATS the program prints the messages.

import Foundation
import Instrument
import InstrumentNATS
import Shared

let address = ProcessInfo.processInfo.environment["NATS"]
let backend: any Backend =
    if let address {
        try NATSBackend(NATSEndpoint(address))
    } else {
        Preview("nats") { String(decoding: NATSMapping.message(of: $0).payload, as: UTF8.self) }
    }
let instrument = Instrument(backends: [backend])
play(on: instrument)
await finish(instrument)
