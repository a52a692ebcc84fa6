// Writes a playback to a database of InfluxDB. Keep the password out of the app's code.

import Foundation
import Instrument
import InstrumentInflux
import InstrumentTransport
import Shared

let password = ProcessInfo.processInfo.environment["INFLUX_PASSWORD"] ?? "none"
let endpoint = try InfluxEndpoint(
    url: HTTPURL("http://127.0.0.1:8086"),
    database: "media",
    credentials: .basic(user: "writer", password: password)
)
let configuration = InfluxConfiguration(compresses: false)
let backend = try InfluxBackend(endpoint, configuration: configuration, transport: PrintingTransport())
let instrument = Instrument(backends: [backend])
play(on: instrument)
await finish(instrument)
