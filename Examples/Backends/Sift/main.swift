// Appends an event of a person. Keep account and key out of the app's code.

import Foundation
import Instrument
import InstrumentSift
import InstrumentTransport
import Shared

let environment = ProcessInfo.processInfo.environment
let credentials = SiftCredentials(
    accountID: environment["SIFT_ACCOUNT"] ?? "example",
    beaconKey: environment["SIFT_KEY"] ?? "none"
)
let instrument = Instrument()
let sift = Sift(on: instrument, credentials: credentials, transport: PrintingTransport())
sift.userID = "person-17"
sift.append(
    SiftEvent(time: SystemClock().wallTime, type: "Purchase", path: "/shop", fields: ["currency": "EUR"])
)
await finish(instrument)
