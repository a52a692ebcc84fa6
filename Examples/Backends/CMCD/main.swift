// Sends the events of a playback to a collector of CMCD (version 2, event mode).

import Instrument
import InstrumentCMCDBackend
import InstrumentTransport
import Shared

let backend = try CMCDBackend(HTTPURL("https://collector.example.org/cmcd"), transport: PrintingTransport())
let instrument = Instrument(backends: [backend])
play(on: instrument)
await finish(instrument)
