import Foundation

/// The plan of a child process of the torture tests, which the test passes to the child as its only argument.
package struct ChildPlan: Codable, Sendable {
    package enum Task: String, Codable, Sendable {
        /// Emits and delivers until `count` is reached, or until the process is killed.
        case emit
        /// Emits `count` samples, delivers everything that is in the queue, and prints a ``DrainReport``.
        case drain
        /// Copies `count` bytes to the file `directory`, which ends in the middle of the copy: the system ends the
        /// process there.
        case tearCopy
    }

    package enum Synchronization: Codable, Hashable, Sendable {
        case never
        case count(Int)
        case interval(milliseconds: Int)
    }

    package var task: Task
    /// The queue's directory.
    package var directory: String
    package var backends: [BackendPlan]
    /// The file of ``ChildNotes``; required for ``Task/emit``.
    package var notes: String?
    /// Tells the samples of one process from those of another.
    package var run = 0
    /// Threads that emit.
    package var threads = 2
    /// Samples of each thread; nil emits until the process is killed.
    package var count: Int?
    /// Delay between two emits of a thread, in microseconds.
    package var pause = 0
    /// Every sample whose number is a multiple is larger than a half of the staging area; nil without such samples.
    package var largeMultiple: Int?
    package var synchronization = Synchronization.interval(milliseconds: 5)
    package var segmentSize = 16 << 10
    /// Whether a thread synchronizes the store again and again, and notes what that covered.
    package var synchronizes = false
    /// Whether samples survive a loss of power some time after they were emitted.
    package var isSynchronizing: Bool { synchronizes || synchronization != .never }
    /// The address of an ad server: the threads append beacons of ads for it instead of events.
    package var beaconAddress: String?
    /// The time in which the process delivers the remaining samples after the last emit, in milliseconds.
    package var shutdown = 20_000
    /// The test process, with which the child ends.
    package private(set) var parent: Int32 = getpid()

    package init(_ task: Task, directory: String, backends: [BackendPlan]) {
        self.task = task
        self.directory = directory
        self.backends = backends
    }

    /// Reads the plan back.
    package init(argument: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(argument.utf8))
    }

    /// The plan as the child's argument.
    package func argument() throws -> String { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
}

/// A backend of a child process.
package struct BackendPlan: Codable, Sendable {
    package var name: String
    /// A file, or the address of a server.
    package var target: String
    /// Seeds the failures of a file; nil never fails.
    package var seed: UInt64?
    /// Time that a delivery takes, in microseconds.
    package var slowness = 0
    /// The backend delivers nothing.
    package var isOffline = false
    /// The backend refuses samples whose number is a multiple: they become dead letters.
    package var refusedMultiple: Int?
    /// Where a drain writes the backend's dead letters.
    package var deadLetterFile: String

    package init(_ name: String, to target: String, seed: UInt64? = nil) {
        self.name = name
        self.target = target
        self.seed = seed
        deadLetterFile = target + ".dead"
    }
}

/// The content of a queue after a drain, as the child prints it.
package struct DrainReport: Codable, Sendable {
    package struct Sums: Codable, Sendable {
        package var emitted: Int
        package var acknowledged: Int
        package var queued: Int
        package var dead: Int
        /// Dropped samples by the name of the reason.
        package var drops: [String: Int]

        package init(emitted: Int, acknowledged: Int, queued: Int, dead: Int, drops: [String: Int]) {
            self.emitted = emitted
            self.acknowledged = acknowledged
            self.queued = queued
            self.dead = dead
            self.drops = drops
        }
    }

    /// Whether everything left the queue.
    package var isEmpty: Bool
    /// By the backend's name.
    package var ledgers: [String: Sums]

    package init(isEmpty: Bool, ledgers: [String: Sums]) {
        self.isEmpty = isEmpty
        self.ledgers = ledgers
    }
}
