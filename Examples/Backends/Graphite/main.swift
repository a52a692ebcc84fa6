// Writes the metrics of a playback to Graphite: GRAPHITE=127.0.0.1:2003 swift run GraphiteExample.
// Without GRAPHITE the program prints the points.

import Foundation
import Instrument
import InstrumentGraphite
import Shared

let mapping = GraphiteMapping(prefix: ["video"], sendsEvents: true)
let address = ProcessInfo.processInfo.environment["GRAPHITE"].flatMap { GraphiteAddress($0) }
let backend: any Backend =
    if let address {
        GraphiteBackend(address, configuration: GraphiteConfiguration { mapping($0) })
    } else {
        Preview("graphite") { record in
            mapping(record).map { "\($0.path.joined(separator: ".")) \($0.value)" }
        }
    }
let instrument = Instrument(backends: [backend])
play(on: instrument)
await finish(instrument)
