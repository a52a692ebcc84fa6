// The process that the lifecycle's tests stop, continue and end.
//
//   LifecycleChild FILE QUEUE [handler] [blocked] [hung] [quick] [collectors] [grace MILLISECONDS]
//
// It emits an event, says 'ready', and waits. With `handler` it has its own SIGTERM handler, which notes its call in
// FILE.handler and ends the process with 7 half a second later; `blocked` blocks all threads that tasks share; `hung`
// delivers to nobody, `quick` delivers after a second, too; `collectors` collects what app and device are like.

import Dispatch
import Foundation
import Instrument
import InstrumentBackends
import InstrumentDurableQueue
import InstrumentSensors
import InstrumentTrackers

struct HungBackend: Backend {
    let name: BackendName = "hung"
    let policy = DeliveryPolicy(maxAge: .seconds(1_000_000), timeout: nil)
    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        while true { sleep(1000) }
    }
}

struct LateBackend: Backend {
    let file: FileBackend
    let name: BackendName = "samples"
    let policy: DeliveryPolicy
    func deliver(_ batch: Batch) async -> DeliveryOutcome { await file.deliver(batch) }
}

final class Quiet: Tracker {
    func begin(in context: TrackerContext) {}
}

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("LifecycleChild: \(message)\n".utf8))
    exit(2)
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fail("too few arguments") }
let options = Set(arguments.dropFirst(3))
let grace = arguments.firstIndex(of: "grace").flatMap { Int(arguments[$0 + 1]) } ?? 5000
let handlerFile = strdup(arguments[1] + ".handler")

if options.contains("handler") {
    signal(SIGTERM) { _ in
        // Like a handler of an app: it records the signal, and the app ends later.
        if let handlerFile { close(open(handlerFile, O_CREAT | O_WRONLY, 0o600)) }
    }
    Thread.detachNewThread {
        while access(arguments[1] + ".handler", F_OK) != 0 { usleep(10_000) }
        usleep(500_000)
        exit(7)
    }
}

// Nothing is delivered but by a flush.
@MainActor
func late(_ file: FileBackend) -> LateBackend {
    LateBackend(file: file, policy: DeliveryPolicy(maxAge: options.contains("quick") ? .seconds(1) : .seconds(600)))
}

do {
    let signals = try SignalLifecycle.install()
    let backend: any Backend =
        options.contains("hung") ? HungBackend() : late(try FileBackend(path: arguments[1]))
    let store = try DurableStore(directory: arguments[2])
    let instrument = Instrument(hub: NoOpHub(), metricalc: nil, backends: [backend], store: store)
    let state = AppStateCollector(sensors: .linux(), sdkVersion: "test")
    let device = DevicePropertiesCollector(LinuxDeviceReader())
    let isCollecting = options.contains("collectors")
    let lifecycle = LifecycleTracker(
        signals,
        flushing: instrument.queue,
        telling: isCollecting ? [state, device] : [],
        backgroundGrace: .milliseconds(grace),
        terminationGrace: .milliseconds(grace)
    )
    let tracker = instrument.add(Quiet())
    if isCollecting {
        instrument.add(state)
        instrument.add(device)
    }
    instrument.add(lifecycle)
    instrument.emit(Action("Hello"), from: tracker)
    if options.contains("blocked") {
        for _ in 0..<64 { Task.detached { while true { sleep(1000) } } }
    }
    FileHandle.standardOutput.write(Data("ready\n".utf8))
    while true { sleep(1000) }
} catch {
    fail("\(error)")
}
