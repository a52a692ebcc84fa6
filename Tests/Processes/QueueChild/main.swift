// The process that the torture of the durable queue kills. Its argument is a plan; see ChildPlan.

import Dispatch
import Foundation
import Instrument
import InstrumentBackends
import InstrumentBeacons
import InstrumentDurableQueue
import InstrumentTestKit
import InstrumentTransport
import LoopbackServers
import QueueChildPlan

final class ChildTracker: Tracker {
    func begin(in context: TrackerContext) {}
}

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("QueueChild: \(message)\n".utf8))
    exit(2)
}

guard CommandLine.arguments.count == 2, let plan = try? ChildPlan(argument: CommandLine.arguments[1]) else {
    fail("the argument is no plan")
}
if plan.task == .tearCopy { TornCopy.run(over: plan.directory, count: plan.count ?? 0) }
let report: @Sendable (Diagnostic) -> Void = { diagnostic in
    if diagnostic.kind == .retrying || diagnostic.kind == .deadLetter { return }
    FileHandle.standardError.write(Data("\(diagnostic)\n".utf8))
}
let store: DurableStore
let backends: [any Backend]
let notes = plan.notes.flatMap { ChildNotes(path: $0) }
if plan.notes != nil && notes == nil { fail("cannot map the notes") }
do {
    // The backends first: a store that has none yet keeps nothing.
    backends = try plan.backends.map { backend -> any Backend in
        if plan.beaconAddress != nil {
            let transport = try SystemTransport()
            return BeaconBackend(
                name: BackendName(backend.name),
                transport: transport,
                timeout: .milliseconds(200)
            )
        }
        if let sink = try Sinks.backend(backend) { return sink }
        if backend.target.hasPrefix("http:") { return try ServerBackend(backend) }
        return try PlannedBackend(backend)
    }
    let configuration = DurableConfiguration(
        segmentSize: plan.segmentSize,
        synchronization: .init(plan.synchronization)
    )
    store = try DurableStore(directory: plan.directory, configuration: configuration, report: report)
} catch {
    fail("\(error)")
}
let instrument = Instrument(
    hub: NoOpHub(),
    metricalc: nil,
    backends: backends,
    store: store,
    deliveryClock: HurriedClock(),
    onDiagnostic: report
)
let trackers = (0..<plan.threads).map { _ in instrument.add(ChildTracker()) }
let emission = Emission(plan: plan, instrument: instrument, store: store, notes: notes)
let life = ChildLife(notes: notes, parent: plan.parent)
life.start()

switch plan.task {
case .tearCopy: break
case .emit:
    await emission.run(trackers)
    // The deliveries' clock runs a thousand times as fast.
    await instrument.shutdown(timeout: .seconds(plan.shutdown))
    store.close()
case .drain:
    if plan.count ?? 0 > 0, let tracker = trackers.first { emission.run(line: 0, tracker: tracker) }
    notes?.setReady()
    let isEmpty = await instrument.shutdown(timeout: .seconds(2_000_000))
    do {
        try Drain(plan: plan, store: store).write(isEmpty: isEmpty)
    } catch {
        fail("\(error)")
    }
    store.close()
}
