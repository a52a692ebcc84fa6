// Sends a playback to New Relic's Event and Metric API in Europe. Keep the license key out of the app's code.

import Foundation
import Instrument
import InstrumentNewRelic
import InstrumentTransport
import Shared

let key = ProcessInfo.processInfo.environment["NEW_RELIC_KEY"] ?? "none"
let endpoint = try NewRelicEndpoint(accountID: "1234567", region: .eu)
let instrument = Instrument(backends: [try NewRelicBackend(endpoint, key: key, transport: PrintingTransport())])
play(on: instrument)
await finish(instrument)
