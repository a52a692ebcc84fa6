// The process that the torture of the durable queue kills.
//
//   QueueChild emit DIRECTORY TARGET PROGRESS RUN SEED   emits until it is killed, and delivers
//   QueueChild drain DIRECTORY TARGET [DEAD]             delivers what is left, prints the ledger, writes dead letters
//
// TARGET is a file, or the address of a server.

import Foundation
import Instrument
import InstrumentBackends
import InstrumentDurableQueue
import InstrumentHubs
import InstrumentTestKit
import InstrumentTransport
import LoopbackServers

final class ChildTracker: Tracker {
    func begin(in context: TrackerContext) {}
}

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("QueueChild: \(message)\n".utf8))
    exit(2)
}

let arguments = CommandLine.arguments
guard arguments.count >= 4 else { fail("too few arguments") }
let (isEmitting, target) = (arguments[1] == "emit", arguments[3])
let seed = arguments.count > 6 ? UInt64(arguments[6]) ?? 0 : 0
let configuration = DurableConfiguration(segmentSize: 16 << 10, synchronization: .interval(.milliseconds(5)))
let store: DurableStore
let backend: any Backend
do {
    store = try DurableStore(directory: arguments[2], configuration: configuration) { diagnostic in
        FileHandle.standardError.write(Data("\(diagnostic)\n".utf8))
    }
    if target.hasPrefix("http:") {
        backend = ServerBackend(url: try HTTPURL(target), transport: try SystemTransport())
    } else {
        let generator = isEmitting ? Lock(SeededGenerator(seed: seed)) : nil
        backend = MoodyBackend(file: try FileBackend(path: target), generator: generator)
    }
} catch {
    fail("\(error)")
}
let instrument = Instrument(hub: NoOpHub(), backends: [backend], store: store, deliveryClock: HurriedClock())

if !isEmitting {
    let isEmpty = await instrument.shutdown(timeout: .seconds(2_000_000))
    let ledger = store.ledger(of: "samples")
    print(isEmpty, ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dead, ledger.dropped)
    if arguments.count > 4 {
        let letters = store.deadLetters(of: "samples").map(\.record)
        guard FileManager.default.createFile(atPath: arguments[4], contents: Data(JSONLines.encode(letters))) else {
            fail("cannot write \(arguments[4])")
        }
    }
    store.close()
    exit(0)
}

// What returned from `emit` is noted in a mapped file, which survives the kill as the queue does.
let progress = open(arguments[4], O_RDWR)
guard let notes = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, progress, 0), notes != MAP_FAILED else {
    fail("no progress file")
}
let trackers = [instrument.add(ChildTracker()), instrument.add(ChildTracker())]
let run = Int(arguments[5]) ?? 0
let address = UInt(bitPattern: notes)
for (index, tracker) in trackers.enumerated() {
    Thread {
        guard let note = UnsafeMutableRawPointer(bitPattern: address + UInt(8 * index)) else { return }
        var number = 0
        while true {
            number += 1
            var attributes: Attributes = [
                "run": .int(run), "thread": .int(index), "number": .int(number), "text": "abcdefgh",
            ]
            // What a server will never take.
            if number % 500 == 0 { attributes["isCulprit"] = true }
            instrument.emit(.ping, from: tracker, attributes: attributes)
            note.storeBytes(of: UInt64(number), as: UInt64.self)
        }
    }.start()
}
while true { sleep(1000) }
