// Reports a playback to Seer, as Tin Can statements. Keep the client's identifier and secret out of the app's code.

import Foundation
import Instrument
import InstrumentSeer
import InstrumentTransport
import InstrumentXAPI
import Shared

let environment = ProcessInfo.processInfo.environment
let account = Statement.Identifier.account(homePage: "https://example.org", name: "person-17")
let mapping = SeerMapping(appID: "example", viewings: Viewings(viewer: .agent(Statement.Agent(account))))
let backend = SeerBackend(
    SeerConfiguration(baseURL: try HTTPURL("https://seer.example.org")),
    credentials: SeerCredentials(
        clientID: environment["SEER_CLIENT"] ?? "example",
        clientSecret: environment["SEER_SECRET"] ?? "none"
    ),
    // The first request fetches a token.
    transport: PrintingTransport(answer: #"{"access_token":"example","expires_in":3600}"#),
    mapping: { mapping($0) }
)
let instrument = Instrument(backends: [backend])
let player = instrument.add(ManualTracker())
instrument.set(.source, to: "https://example.org/film.mp4")
for action in [Action.streamLoad, .start, .end] { instrument.emit(action, from: player) }
await finish(instrument)
