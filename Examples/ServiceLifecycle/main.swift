// A server that counts its visitors and shuts down on a signal:
//
//   swift run ServerExample samples.ndjson     (stop it with Ctrl-C or SIGTERM)
//
// The group handles the signals and stops the server first; the instrument's service then delivers the samples.

import Foundation
import Instrument
import InstrumentBackends
import InstrumentServiceLifecycle
import InstrumentTrackers
import Logging
import ServiceLifecycle

/// The app's own work; here it only waits for the shutdown.
struct Server: Service {
    let instrument: Instrument
    let visits: TrackerID

    func run() async throws {
        instrument.emit(Action("Visit"), from: visits)
        print("ready")
        fflush(nil)
        try await gracefulShutdown()
        instrument.emit(Action("Farewell"), from: visits)
    }
}

final class Visits: Tracker {
    func begin(in context: TrackerContext) {}
}

let path = CommandLine.arguments.dropFirst().first ?? "samples.ndjson"
// Batches are due after ten minutes, so only a flush delivers samples in this example.
let file = try FileBackend(path: path, configuration: FileConfiguration(policy: DeliveryPolicy(maxAge: .seconds(600))))
let instrument = Instrument(hub: NoOpHub(), metricalc: nil, backends: [file])
let visits = instrument.add(Visits())
var logger = Logger(label: "server")
logger.logLevel = .error

let group = ServiceGroup(
    services: [InstrumentService(instrument), Server(instrument: instrument, visits: visits)],
    gracefulShutdownSignals: [.sigterm, .sigint],
    logger: logger
)
try await group.run()
// The process continues after the group has ended.
let waiting = instrument.queue.ledger.values.reduce(0) { $0 + $1.queued }
print("ended with \(waiting) samples waiting")
await instrument.shutdown(timeout: .seconds(5))
