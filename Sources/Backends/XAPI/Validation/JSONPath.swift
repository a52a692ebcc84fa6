internal import Instrument
internal import InstrumentText

/// A place in a JSON document: `$.actor.member[0].mbox`, `$.result.extensions['https://example.org/a b']`.
///
/// A chain of steps: one more step costs the same at any depth and after names of any length. The text is only
/// made when it is read.
package struct JSONPath: CustomStringConvertible {
    private indirect enum Node {
        case root
        case name(String, in: Node)
        case index(Int, in: Node)
    }

    package static var root: JSONPath { JSONPath(node: .root) }

    private let node: Node

    package static func / (path: JSONPath, name: String) -> JSONPath { JSONPath(node: .name(name, in: path.node)) }

    package subscript(index: Int) -> JSONPath { JSONPath(node: .index(index, in: node)) }

    package var description: String {
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

    /// The thing at the path, as the subject of a sentence: `` `mbox` ``, `` `member[0]` ``, "The statement".
    var subject: String {
        switch node {
        case .root: "The statement"
        case .name(let name, _): "`\(Excerpt.name(name))`"
        case .index(let index, .name(let name, _)): "`\(Excerpt.name(name))[\(index)]`"
        case .index(let index, _): "Element \(index)"
        }
    }

    /// The path from another place that contains this one; nil if that place does not contain it.
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

    /// The steps, the outermost first.
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

    /// A name longer than any real one is cut: otherwise each failure below it would repeat it whole.
    private static func shortened(_ name: String) -> String {
        name.excerpt(toBytes: longestName)
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

    /// A path stays on its line and in its column, and a terminal interprets nothing in it.
    private static func escaped(_ name: String) -> String {
        name.unicodeScalars.map { Excerpt.escaped($0, quote: "'") }.joined()
    }
}
