import Foundation

/// The duration and the seed of the torture.
///
/// A short form runs with every test. `make torture` sets `TORTURE_KILLS`, which selects the long form; `TORTURE_SEED`
/// repeats a failure, and `TORTURE_FAULTS` selects the system calls that fail.
package enum TortureSettings {
    private static let environment = ProcessInfo.processInfo.environment
    /// Kills of the long form, over all tests that kill.
    package static let kills = environment["TORTURE_KILLS"].flatMap { Int($0) }
    package static let seed = environment["TORTURE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))
    /// The file for all failures.
    package static let failureFile = environment["TORTURE_FAILURES"]
    /// Only the failing calls whose description has this prefix, such as `open 7 EIO`.
    package static let faults = environment["TORTURE_FAULTS"]
    package static var isLong: Bool { kills != nil }

    /// A share of the long form's kills, or the kills of the short form.
    package static func kills(percent: Int, short: Int) -> Int { kills.map { max(1, $0 * percent / 100) } ?? short }

    /// Progress of the long form.
    package static func progress(_ text: @autoclosure () -> String) {
        // Not by `print`, which buffers lines.
        if isLong { FileHandle.standardError.write(Data("torture: \(text())\n".utf8)) }
    }
}
