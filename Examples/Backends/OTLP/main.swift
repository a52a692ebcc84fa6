// Sends a playback to a collector of OpenTelemetry, as logs and metrics.

import Instrument
import InstrumentOTLP
import InstrumentTransport
import Shared

let configuration = OTLPConfiguration(encoding: .json, resource: [OTLPLog.Attribute("service.name", "film-player")])
let backend = try OTLPBackend(
    HTTPURL("http://127.0.0.1:4318"),
    configuration: configuration,
    transport: PrintingTransport()
)
let instrument = Instrument(backends: [backend])
play(on: instrument)
await finish(instrument)
