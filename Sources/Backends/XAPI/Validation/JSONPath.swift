internal import Instrument
internal import InstrumentText

/// Where in a JSON document something is: `$.actor.member[0].mbox`, `$.result.extensions['https://example.org/a b']`.
///
/// A chain of steps: going a step further costs the same at any depth and behind names of any length. The text is made
/// when somebody reads it.
struct JSONPath: CustomStringConvertible {
    private indirect enum Node {
        case root
        case name(String, in: Node)
        case index(Int, in: Node)
    }

    static var root: JSONPath { JSONPath(node: .root) }

    private let node: Node

    static func / (path: JSONPath, name: String) -> JSONPath { JSONPath(node: .name(name, in: path.node)) }

    subscript(index: Int) -> JSONPath { JSONPath(node: .index(index, in: node)) }

    var description: String {
        var (steps, node): ([String], Node) = ([], node)
        while true {
            switch node {
            case .root: return "$" + steps.reversed().joined()
            case .name(let name, let outer):
                steps.append(Self.step(name))
                node = outer
            case .index(let index, let outer):
                steps.append("[\(index)]")
                node = outer
            }
        }
    }

    /// What is at the path, as a sentence begins with it: `` `mbox` ``, `` `member[0]` ``, "The statement".
    var subject: String {
        switch node {
        case .root: "The statement"
        case .name(let name, _): "`\(Self.shortened(name))`"
        case .index(let index, .name(let name, _)): "`\(Self.shortened(name))[\(index)]`"
        case .index(let index, _): "The element \(index)"
        }
    }

    /// The same place seen from another one that it lies in; nil if it does not.
    func relative(to place: JSONPath) -> JSONPath? {
        let (outer, whole) = (place.steps, steps)
        guard whole.count >= outer.count, zip(outer, whole).allSatisfy({ $0 == $1 }) else { return nil }
        return whole.dropFirst(outer.count).reduce(.root) { path, step in
            switch step {
            case .name(let name): path / name
            case .index(let index): path[index]
            }
        }
    }

    private enum Step: Hashable { case name(String), index(Int) }

    /// From the outside in.
    private var steps: [Step] {
        var (steps, node): ([Step], Node) = ([], node)
        while true {
            switch node {
            case .root: return steps.reversed()
            case .name(let name, let outer):
                steps.append(.name(name))
                node = outer
            case .index(let index, let outer):
                steps.append(.index(index))
                node = outer
            }
        }
    }

    private static func step(_ name: String) -> String {
        let short = shortened(name)
        return isWord(short) ? "." + short : "['" + escaped(short) + "']"
    }

    /// A name that is longer than any real one is cut: otherwise each failure behind it would repeat it whole.
    private static func shortened(_ name: String) -> String {
        name.utf8.count <= longestName ? name : String(name.unicodeScalars.prefix(longestName)) + "…"
    }

    private static let longestName = 512

    private static func isWord(_ name: String) -> Bool {
        guard let first = name.utf8.first else { return false }
        return !first.isDigit && name.utf8.allSatisfy(isOfWord)
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        byte.isDigit || byte == UInt8(ascii: "_")
            || byte.isLetter
    }

    /// A path stays on its line and in its column.
    private static func escaped(_ name: String) -> String {
        name.unicodeScalars.map { scalar in
            switch scalar {
            case "'", "\\": "\\\(scalar)"
            case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                "\\u" + scalar.value.padded(4, radix: 16)
            default: String(scalar)
            }
        }.joined()
    }
}
