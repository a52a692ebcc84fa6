internal import InstrumentXML

/// The node that an operation of an MPD patch names: a path of child elements from the root, each with conditions, and
/// at its end an attribute or the text (the part of XPath 1.0 that ISO/IEC 23009-1, 5.15, uses of RFC 5261, 4.1).
///
/// `/MPD/Period[@id='1']/AdaptationSet[2]/SegmentTemplate/SegmentTimeline/S[1]/@r`
struct MPDSelector: Hashable, Sendable {
    /// A condition of a step; conditions apply in their order.
    enum Condition: Hashable, Sendable {
        /// `[2]`, counted from 1 among the elements that the earlier parts of the step select.
        case position(Int)
        /// `[@id='1']`
        case attribute(String, String)
    }

    /// A child element.
    struct Step: Hashable, Sendable {
        /// The name, without its prefix; nil for any (`*`).
        var name: Substring?
        /// The name as written.
        var writtenName: Substring
        var conditions: [Condition] = []

        /// Whether an element, which has lost the prefix of its document's root, has the name.
        func names(_ element: MarkupElement) -> Bool {
            guard let name else { return true }
            return element.name == name || element.name == writtenName
        }

        /// Whether an element with the name fulfils all conditions.
        ///
        /// - Parameter counts: the elements so far that fulfilled the earlier conditions, for each condition.
        func admits(_ element: MarkupElement, counts: inout [Int]) -> Bool {
            for (place, condition) in conditions.enumerated() {
                switch condition {
                case .position(let wanted):
                    counts[place] += 1
                    if counts[place] != wanted { return false }
                case .attribute(let name, let value): if element[name] != value { return false }
                }
            }
            return true
        }
    }

    /// What is selected of the last element.
    enum Target: Hashable, Sendable {
        case element
        case attribute(String)
        case text
    }

    private(set) var steps: [Step] = []
    private(set) var target = Target.element

    /// Reads a selector; nil if it is longer than `depth` elements, or not of the supported part of XPath.
    init?(_ text: String, depth: Int) {
        var scanner = SelectorScanner(text[...])
        _ = scanner.take("/")
        repeat {
            if scanner.take("@") {
                guard let name = scanner.name() else { return nil }
                target = .attribute(String(name))
            } else if scanner.take("text()") {
                target = .text
            } else {
                guard target == .element, steps.count < depth, let step = scanner.step() else { return nil }
                steps.append(step)
            }
        } while target == .element && scanner.take("/")
        if !scanner.isAtEnd || steps.isEmpty { return nil }
    }
}

/// Reads a selector from its beginning to its end.
private struct SelectorScanner {
    private static let mostConditions = 8
    private var rest: Substring

    init(_ text: Substring) { rest = text }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ mark: String) -> Bool {
        guard rest.hasPrefix(mark) else { return false }
        rest = rest.dropFirst(mark.count)
        return true
    }

    mutating func name() -> Substring? {
        let name = rest.prefix { !"/[]@='\"()*".contains($0) && !$0.isWhitespace }
        guard !name.isEmpty else { return nil }
        rest = rest[name.endIndex...]
        return name
    }

    mutating func step() -> MPDSelector.Step? {
        var step: MPDSelector.Step
        if take("*") {
            step = MPDSelector.Step(name: nil, writtenName: "*")
        } else {
            guard let name = name() else { return nil }
            // An axis (`child::`) or a function is not of the supported part.
            let parts = name.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2, let local = parts.last, !local.isEmpty, !rest.hasPrefix("(") else { return nil }
            step = MPDSelector.Step(name: local, writtenName: name)
        }
        while take("[") {
            guard step.conditions.count < Self.mostConditions, let condition = condition() else { return nil }
            step.conditions.append(condition)
        }
        return step
    }

    private mutating func condition() -> MPDSelector.Condition? {
        skipSpace()
        let condition: MPDSelector.Condition
        if take("@") {
            guard let name = name() else { return nil }
            skipSpace()
            guard take("=") else { return nil }
            skipSpace()
            guard let value = literal() else { return nil }
            condition = .attribute(String(name), value)
        } else {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard let number = Int(digits), number > 0 else { return nil }
            rest = rest[digits.endIndex...]
            condition = .position(number)
        }
        skipSpace()
        return take("]") ? condition : nil
    }

    private mutating func literal() -> String? {
        guard let quote = rest.first, quote == "'" || quote == "\"" else { return nil }
        let inner = rest.dropFirst()
        guard let end = inner.firstIndex(of: quote) else { return nil }
        rest = inner[inner.index(after: end)...]
        return String(inner[..<end])
    }

    private mutating func skipSpace() { rest = rest.drop { $0.isWhitespace } }
}
