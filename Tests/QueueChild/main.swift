// The process that the torture of the durable queue kills.
//
//   QueueChild emit DIRECTORY DELIVERED PROGRESS RUN SEED   emits until it is killed, and delivers
//   QueueChild drain DIRECTORY DELIVERED                    delivers what is left, prints the ledger

import Foundation
import Instrument
import InstrumentBackends
import InstrumentDurableQueue
import InstrumentHubs
import InstrumentTestKit

/// Delivers to a file, when it is in the mood.
struct MoodyBackend: Backend {
    let file: FileBackend
    let generator: Lock<SeededGenerator>?
    let name: BackendName = "file"
    let policy = DeliveryPolicy(maxCount: 100, maxAge: .zero)

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let mood = generator?.withLock { $0.next() % 8 } ?? 7
        switch mood {
        case 0: return .retry(after: .zero, reason: "busy")
        case 1 where batch.records.count > 1: return .tooLarge(reason: "413")
        case 2:
            // Arrived, but the answer is lost.
            _ = await file.deliver(batch)
            return .retry(after: .zero, reason: "reset")
        default: return await file.deliver(batch)
        }
    }
}

final class ChildTracker: Tracker {
    func begin(in context: TrackerContext) {}
}

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("QueueChild: \(message)\n".utf8))
    exit(2)
}

let arguments = CommandLine.arguments
guard arguments.count >= 4 else { fail("too few arguments") }
let seed = arguments.count > 6 ? UInt64(arguments[6]) ?? 0 : 0
let configuration = DurableConfiguration(segmentSize: 16 << 10, synchronization: .interval(.milliseconds(5)))
let store: DurableStore
let file: FileBackend
do {
    store = try DurableStore(directory: arguments[2], configuration: configuration) { diagnostic in
        FileHandle.standardError.write(Data("\(diagnostic)\n".utf8))
    }
    file = try FileBackend(path: arguments[3])
} catch {
    fail("\(error)")
}
let isEmitting = arguments[1] == "emit"
let backend = MoodyBackend(file: file, generator: isEmitting ? Lock(SeededGenerator(seed: seed)) : nil)
let instrument = Instrument(hub: NoOpHub(), backends: [backend], store: store)

if !isEmitting {
    let isEmpty = await instrument.shutdown(timeout: .seconds(60))
    let ledger = store.ledger(of: "file")
    print(isEmpty, ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dead, ledger.dropped)
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
            let attributes: Attributes = [
                "run": .int(run), "thread": .int(index), "number": .int(number), "text": "abcdefgh",
            ]
            instrument.emit(.ping, from: tracker, attributes: attributes)
            note.storeBytes(of: UInt64(number), as: UInt64.self)
        }
    }.start()
}
while true { sleep(1000) }
