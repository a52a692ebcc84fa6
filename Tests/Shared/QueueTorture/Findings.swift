import Foundation
import Testing

/// The findings of a part of the torture. A value, because parts run on threads without a current test.
package struct Findings: Sendable {
    package private(set) var failures: [String] = []
    package private(set) var counts: [(name: String, count: Int)] = []

    package init() {}

    package mutating func fail(_ text: String) { failures.append(text) }

    package mutating func count(_ name: String, _ count: Int = 1) {
        if let index = counts.firstIndex(where: { $0.name == name }) {
            counts[index].count += count
        } else {
            counts.append((name, count))
        }
    }

    package static func += (left: inout Self, right: Self) {
        left.failures += right.failures
        for (name, count) in right.counts { left.count(name, count) }
    }

    /// Prints one line with the counts, and makes each failure an issue of the current test.
    package func report(_ part: String) {
        let counts = counts.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
        print("torture: \(part), seed \(TortureSettings.seed): \(counts), \(failures.count) failures")
        if let file = TortureSettings.failureFile {
            let text = failures.map { "\(part): \($0)\n" }.joined()
            try? text.write(toFile: "\(file)-\(part.filter(\.isLetter))", atomically: true, encoding: .utf8)
        }
        for failure in failures.prefix(20) { Issue.record("\(part), seed \(TortureSettings.seed): \(failure)") }
        if failures.count > 20 { Issue.record("\(part): \(failures.count - 20) more failures") }
    }
}
