// The process in which nothing is left of Swift's pool.
//
//   PoolChild spinning|blocked memory|DIRECTORY     prints a line for each check, `done`, and ends with 0 if all hold

import Dispatch
import Foundation
import Instrument
import InstrumentDurableQueue
import InstrumentTransport
import LoopbackServers

func fail(_ message: String) -> Never {
    print("FAILED: \(message)")
    fflush(nil)
    exit(1)
}

func check(_ holds: Bool, _ claim: String) {
    if !holds { fail(claim) }
    print(claim)
    fflush(nil)
}

func sample(_ number: Int) -> Sample {
    .event(Event(Action("Numbered"), tracker: TrackerID(number), time: SystemClock().timestamp))
}

guard CommandLine.arguments.count == 3, let kind = Monopoly.Kind(rawValue: CommandLine.arguments[1]) else {
    fail("usage: PoolChild spinning|blocked memory|DIRECTORY")
}
let folder = CommandLine.arguments[2]
if folder != "memory" { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
func store(_ name: String) -> any SampleStore {
    if folder == "memory" { return InMemoryStore() }
    do { return try DurableStore(directory: "\(folder)/\(name)") } catch { fail("no store: \(error)") }
}

// What hangs ends: the parent waits for the end of this process.
Thread.detachNewThread {
    sleep(590)
    fail("it took more than 590 s")
}

let server = try TestServer { _ in [.respond("200 OK")] }
let (url, transport) = (try HTTPURL(server.url()), try SystemTransport())
let hour = Duration.seconds(3600)

// A flush that a task of the pool has called, and cannot resume from.
let pooled = SignallingBackend("pooled", maxAge: hour)
let pooledQueue = BatchQueue(store: store("pooled"), backends: [pooled])
pooledQueue.append([sample(0)])
let (isRunning, mayFlush) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
Task.detached {
    isRunning.signal()
    mayFlush.wait()
    await pooledQueue.flush(timeout: hour)
}
isRunning.wait()

// One thread of the pool is the waiting task's until it flushes.
let monopoly = Monopoly(kind, besides: 1)
mayFlush.signal()
check(monopoly.starves(for: 2), "no thread of the pool is left")
check(pooled.waitForDelivery(), "a flush from a task of the pool delivers")

// By age, with a retry after the back-off; and all that a delivery may do.
let aged = SignallingBackend("aged", maxAge: .milliseconds(50), first: [.retry(after: nil, reason: "busy")]) {
    await Delivery.everything(url, transport)
}
let agedQueue = BatchQueue(store: store("aged"), backends: [aged])
agedQueue.append([sample(1)])
check(aged.waitForDelivery(), "a batch that is due by age is delivered over HTTP, after a back-off")

// A task of the main actor and not the top level of the program: a task that has suspended there resumes on the pool,
// on Linux.
Task { @MainActor in
    // From the main actor, whose thread is not the pool's.
    let flushed = SignallingBackend("flushed", maxAge: hour)
    let flushedQueue = BatchQueue(store: store("flushed"), backends: [flushed])
    flushedQueue.append([sample(2)])
    check(await flushedQueue.flush(timeout: hour), "a flush from the main actor delivers and returns")
    flushedQueue.append([sample(3)])
    check(flushedQueue.flushAndWait(timeout: .seconds(480)), "a flush that blocks its thread delivers and returns")

    // A network that comes back.
    let network = ReachabilitySwitch(isOnline: false)
    let remote = SignallingBackend("remote", maxAge: .milliseconds(10))
    let remoteQueue = BatchQueue(store: store("remote"), backends: [remote], reachability: network)
    remoteQueue.append([sample(4)])
    network.set(isOnline: true)
    check(remote.waitForDelivery(), "a network that comes back is noticed")

    // Deadlines hold.
    let hanging = SignallingBackend("hanging", maxAge: .zero) {
        try? await SystemClock().sleep(for: .seconds(3600))
        return false
    }
    let hangingQueue = BatchQueue(store: store("hanging"), backends: [hanging])
    hangingQueue.append([sample(5)])
    check(await !hangingQueue.shutdown(timeout: .milliseconds(200)), "a shutdown ends at its deadline")
    check(hangingQueue.ledger["hanging"]?.queued == 1, "what a shutdown left is queued")
    check(await flushedQueue.shutdown(timeout: hour), "a shutdown without a backlog returns")
    check(monopoly.starves(for: 0.5), "until now no thread of the pool was free")
    monopoly.end()
    print("done")
    fflush(nil)
    exit(0)
}
dispatchMain()
