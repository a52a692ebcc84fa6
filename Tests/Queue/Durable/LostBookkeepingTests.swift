import Foundation
import Instrument
import LoopbackServers
import Testing

@testable import InstrumentDurableQueue

/// The bookkeeping is missing, completely or in part, but the segments are complete: every waiting sample arrives.
@Suite("Lost bookkeeping")
struct LostBookkeepingTests {
    enum Loss: String, CaseIterable, Sendable {
        case deleted, emptied, emptiedWithJournal, deletedWithJournal, journalEmptied, journalDeleted, indexEmptied

        var endings: [String] {
            switch self {
            case .deleted, .emptied: [""]
            case .emptiedWithJournal, .deletedWithJournal: ["", "-wal", "-shm"]
            case .journalEmptied, .journalDeleted: ["-wal", "-shm"]
            case .indexEmptied: ["-shm"]
            }
        }

        var isDeletion: Bool { rawValue.lowercased().contains("delete") }

        func apply(to bookkeeping: String) throws {
            for ending in endings {
                let file = bookkeeping + ending
                if isDeletion {
                    try? FileManager.default.removeItem(atPath: file)
                } else if FileManager.default.fileExists(atPath: file) {
                    try Data().write(to: URL(fileURLWithPath: file), options: [])
                }
            }
        }
    }

    @Test(
        "Every sample arrives when the bookkeeping's files are emptied or deleted",
        arguments: Loss.allCases,
        [false, true]
    )
    func lost(_ loss: Loss, isClosed: Bool) throws {
        let scratch = try Scratch()
        var store: DurableStore? = try DurableStore(directory: scratch.path)
        store?.attach("one")
        for number in 0..<2000 { _ = try store?.append([NumberedSamples.sample(number)]) }
        try store?.synchronize()
        // The copy of a directory in use has files of different instants.
        store?.settleFiles()
        if isClosed { store?.close() }
        // The files of a killed process, because a store that ends normally closes its database.
        let left = scratch.path + "-left"
        defer { try? FileManager.default.removeItem(atPath: left) }
        try FileManager.default.copyItem(atPath: scratch.path, toPath: left)
        store = nil
        let folder = try #require(
            FileManager.default.contentsOfDirectory(atPath: left).first { $0.hasSuffix(".queue") }
        )
        try loss.apply(to: "\(left)/\(folder)/bookkeeping.sqlite")
        let again = try DurableStore(directory: left)
        again.attach("one")
        let numbers = NumberedSamples.numbers(NumberedSamples.drain(again))
        let isWhole = numbers == Array(0..<2000)
        #expect(isWhole, "\(numbers.count) of 2000 samples arrived")
        let ledger = again.ledger(of: "one")
        #expect(ledger.emitted == ledger.settled && ledger.dropped == 0)
    }
}
