import Foundation

/// Numbers that a child process notes in a mapped file, outside the disk under test: they survive `kill -9`.
///
/// A page for the process, and 64 KiB for each thread that emits: how many emits returned, how many samples were
/// refused and which, the longest emit, and a histogram of all emits. One thread writes each part; every number is one
/// aligned word.
package final class ChildNotes: Sendable {
    package static let lineCount = 8
    /// Each octave of nanoseconds has eight buckets.
    package static let bucketCount = 320
    private static let (headSize, lineSize) = (4096, 65_536)
    private static let size = headSize + lineCount * lineSize
    private static let firstRefusal = 8 + bucketCount
    private static let maxRefusals = lineSize / 8 - firstRefusal

    /// The queue's result for a sample.
    package enum Outcome: Sendable {
        case kept
        /// The queue says that it does not have the sample.
        case refused
        /// The queue says that the sample is kept later, if nothing comes between.
        case unsure
    }

    /// A word of a thread's part.
    private enum Word: Int {
        case returned, refusedCount, longest, longestWaits, synchronized
        static let histogram = 8
    }

    private let address: UInt

    /// Creates an empty file.
    package static func create(_ path: String) throws {
        try Data(count: size).write(to: URL(fileURLWithPath: path))
    }

    /// Maps a file; nil if it cannot be mapped.
    package init?(path: String) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let base = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), base != MAP_FAILED
        else { return nil }
        address = UInt(bitPattern: base)
    }

    deinit { munmap(UnsafeMutableRawPointer(bitPattern: address), Self.size) }

    private subscript(offset: Int) -> Int {
        get { UnsafeRawPointer(bitPattern: address)?.load(fromByteOffset: offset, as: Int.self) ?? 0 }
        set {
            UnsafeMutableRawPointer(bitPattern: address)?.storeBytes(of: newValue, toByteOffset: offset, as: Int.self)
        }
    }

    private func offset(_ line: Int, _ word: Int) -> Int { Self.headSize + line * Self.lineSize + 8 * word }

    // MARK: The child's side

    /// Counts turns of a timer in the process: a process that gets no CPU time does not count.
    package func beat() { self[0] += 1 }

    /// Notes that the store is open and the threads are about to start.
    package func setReady() { self[8] = 1 }

    /// Notes that an emit returned, how long it took, and how often its thread waited during the emit.
    package func note(line: Int, number: Int, outcome: Outcome, nanoseconds: Int, waits: Int) {
        if outcome != .kept {
            let count = self[offset(line, Word.refusedCount.rawValue)]
            let noted = outcome == .refused ? number : -number
            if count < Self.maxRefusals { self[offset(line, Self.firstRefusal + count)] = noted }
            self[offset(line, Word.refusedCount.rawValue)] = count + 1
        }
        self[offset(line, Word.histogram + Self.bucket(of: nanoseconds))] += 1
        if nanoseconds > self[offset(line, Word.longest.rawValue)] {
            self[offset(line, Word.longest.rawValue)] = nanoseconds
            self[offset(line, Word.longestWaits.rawValue)] = waits
        }
        // Last: a process that is killed here has returned from one emit more than it says.
        self[offset(line, Word.returned.rawValue)] = number
    }

    /// Notes that the samples up to a number of each thread survive a loss of power.
    package func note(synchronized numbers: [Int]) {
        for (line, number) in numbers.enumerated() { self[offset(line, Word.synchronized.rawValue)] = number }
    }

    private static func bucket(of nanoseconds: Int) -> Int {
        let value = max(8, nanoseconds)
        let octave = Int.bitWidth - 1 - value.leadingZeroBitCount
        return min(bucketCount - 1, (octave - 3) * 8 + (value >> (octave - 3)) - 8)
    }

    /// The upper end of a bucket, in nanoseconds.
    private static func limit(ofBucket bucket: Int) -> Int { (bucket % 8 + 9) << (bucket / 8) }

    // MARK: The test's side

    package var beats: Int { self[0] }
    package var isReady: Bool { self[8] == 1 }

    /// Number of the last sample whose emit returned, for each thread.
    package var returned: [Int] { (0..<Self.lineCount).map { self[offset($0, Word.returned.rawValue)] } }

    /// Number of the last sample of each thread that survives a loss of power.
    package var synchronized: [Int] { (0..<Self.lineCount).map { self[offset($0, Word.synchronized.rawValue)] } }

    /// Numbers of the samples that the store did not promise to keep; nil if there were more than there is room for.
    package func exceptions(line: Int) -> (refused: Set<Int>, unsure: Set<Int>)? {
        let count = self[offset(line, Word.refusedCount.rawValue)]
        if count > Self.maxRefusals { return nil }
        let noted = (0..<count).map { self[offset(line, Self.firstRefusal + $0)] }
        return (Set(noted.filter { $0 > 0 }), Set(noted.filter { $0 < 0 }.map { -$0 }))
    }

    /// How many samples the store did not promise to keep.
    package var refusedCount: Int {
        (0..<Self.lineCount).reduce(0) { $0 + self[offset($1, Word.refusedCount.rawValue)] }
    }

    /// The longest emit of all threads, in nanoseconds, and how often its thread waited during the emit.
    package var longest: (nanoseconds: Int, waits: Int) {
        let all = (0..<Self.lineCount).map { line in
            (self[offset(line, Word.longest.rawValue)], self[offset(line, Word.longestWaits.rawValue)])
        }
        return all.max { $0.0 < $1.0 } ?? (0, 0)
    }

    /// Forgets the longest emits.
    package func resetLongest() {
        for line in 0..<Self.lineCount { self[offset(line, Word.longest.rawValue)] = 0 }
    }

    /// How many emits took how long, over all threads.
    package var histogram: [Int] {
        (0..<Self.bucketCount).map { bucket in
            (0..<Self.lineCount).reduce(0) { $0 + self[offset($1, Word.histogram + bucket)] }
        }
    }

    /// The time within which a share of the emits of a histogram returned, in nanoseconds.
    package static func percentile(_ share: Double, of histogram: [Int]) -> Int {
        let goal = Int((Double(histogram.reduce(0, +)) * share).rounded(.up))
        var sum = 0
        for (bucket, count) in histogram.enumerated() {
            sum += count
            if sum >= goal { return limit(ofBucket: bucket) }
        }
        return 0
    }
}
