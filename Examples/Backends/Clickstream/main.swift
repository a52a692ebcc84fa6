// Logs two events of an app, with common attributes.

import Instrument
import InstrumentClickstream
import InstrumentTransport
import Shared

final class Shop: ClickstreamDelegate {
    let environment: ClickstreamEnvironment
    let userAgent = "Shop/1.0"
    var metadata: Attributes { ["language": "de"] }

    init() throws {
        environment = ClickstreamEnvironment("staging", endpoint: try HTTPURL("https://events.example.org/v1/actions"))
    }
}

let instrument = Instrument()
let clickstream = try Clickstream.configure(with: Shop(), on: instrument, transport: PrintingTransport())
clickstream.logEvent("Search", variables: ["words": 3])
clickstream.logEvent("Purchase", variables: ["articles": 2, "language": "en"])
await finish(instrument)
