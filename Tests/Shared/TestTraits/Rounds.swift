internal import Foundation

/// How often property tests repeat.
///
/// A quarter of the rounds is what a change has to pass; `make test-long` runs all of them (`TEST_ROUNDS=all`).
package enum Rounds {
    /// Whether all rounds run.
    package static let areAll = ProcessInfo.processInfo.environment["TEST_ROUNDS"] == "all"

    /// The first quarter of the rounds, or all of them.
    package static func of(_ count: Int) -> Int { areAll ? count : max(1, count / 4) }

    /// As many seeds.
    package static func seeds(_ count: Int) -> Range<UInt64> { 0..<UInt64(of(count)) }
}
