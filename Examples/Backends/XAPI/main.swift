// Reports a playback to a learning record store with the xAPI Video Profile. Keep the password out of the app's code.

import Foundation
import Instrument
import InstrumentTransport
import InstrumentXAPI
import Shared

let environment = ProcessInfo.processInfo.environment
let account = Statement.Identifier.account(homePage: "https://example.org", name: "person-17")
let backend = XAPIBackend(
    XAPIConfiguration(
        endpoint: try HTTPURL("https://lrs.example.org/xapi"),
        credentials: .basic(
            user: environment["LRS_USER"] ?? "example",
            password: environment["LRS_PASSWORD"] ?? "none"
        )
    ),
    mapping: VideoMapping(viewings: Viewings(viewer: .agent(Statement.Agent(account)))),
    transport: PrintingTransport(answer: "[]")
)
let instrument = Instrument(backends: [backend])
let player = instrument.add(ManualTracker())
instrument.set(.source, to: "https://example.org/film.mp4")
instrument.set(.title, to: "A film")
instrument.set(.duration, to: .seconds(60))
for (action, seconds) in [(Action.streamLoad, 0), (.start, 0), (.pauseBegin, 20), (.pauseFinish, 20), (.end, 60)] {
    var attributes = Attributes()
    attributes[.position] = .seconds(seconds)
    instrument.emit(action, from: player, attributes: attributes)
}
await finish(instrument)
