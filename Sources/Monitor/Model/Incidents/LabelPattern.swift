/// A regular expression that is matched in linear time: a silence of a client must not stop the monitor.
///
/// Literals, `.`, `[a-z]`, `[^a-z]`, `( )`, `|`, `*`, `+`, `?` and `\` before a character, over Unicode scalars; the
/// whole text must match. The states of the automaton are advanced together (Thompson, "Regular Expression Search
/// Algorithm", 1968).
package struct LabelPattern: Hashable, Sendable {
    private enum Step: Hashable, Sendable {
        case any
        case scalar(Unicode.Scalar)
        case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)
        /// Continues at both places.
        case split(Int, Int)
        case jump(Int)
        case match
    }

    /// The longest expression, in scalars.
    package static let mostScalars = 200
    private static let mostDepth = 20

    private var steps: [Step] = []

    /// Reads an expression; nil for another syntax, or one that is too long.
    package init?(_ text: String) {
        let scalars = Array(text.unicodeScalars)
        guard scalars.count <= Self.mostScalars else { return nil }
        var parser = Parser(scalars: scalars)
        guard let steps = parser.alternatives(depth: 0), parser.position == scalars.count else { return nil }
        self.steps = steps + [.match]
    }

    /// Whether the whole text matches.
    package func matches(_ text: String) -> Bool {
        var states: Set<Int> = []
        add(0, to: &states)
        for scalar in text.unicodeScalars {
            var next: Set<Int> = []
            for state in states where accepts(scalar, at: state) { add(state + 1, to: &next) }
            if next.isEmpty { return false }
            states = next
        }
        return states.contains(steps.count - 1)
    }

    private func accepts(_ scalar: Unicode.Scalar, at state: Int) -> Bool {
        switch steps[state] {
        case .any: true
        case .scalar(let expected): scalar == expected
        case .set(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
        case .split, .jump, .match: false
        }
    }

    /// Adds a state and those that are reached without a scalar.
    private func add(_ first: Int, to states: inout Set<Int>) {
        var pending = [first]
        while let state = pending.popLast() {
            guard states.insert(state).inserted else { continue }
            switch steps[state] {
            case .split(let one, let other): pending += [other, one]
            case .jump(let target): pending.append(target)
            case .any, .scalar, .set, .match: break
            }
        }
    }

    /// Compiles an expression to steps with places that are relative until they are put together.
    private struct Parser {
        let scalars: [Unicode.Scalar]
        var position = 0

        private var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

        mutating func alternatives(depth: Int) -> [Step]? {
            guard depth <= LabelPattern.mostDepth, var left = sequence(depth: depth) else { return nil }
            while current == "|" {
                position += 1
                guard let right = sequence(depth: depth) else { return nil }
                let end = left.count + right.count + 2
                left =
                    [.split(1, left.count + 2)] + Self.moved(left, by: 1) + [.jump(end)]
                    + Self.moved(right, by: left.count + 2)
            }
            return left
        }

        private mutating func sequence(depth: Int) -> [Step]? {
            var steps: [Step] = []
            while let scalar = current, scalar != "|", scalar != ")" {
                guard var atom = atom(scalar, depth: depth) else { return nil }
                if let mark = current, ["*", "+", "?"].contains(mark) {
                    position += 1
                    // A mark behind a mark has no meaning in all dialects.
                    if let next = current, ["*", "+", "?"].contains(next) { return nil }
                    switch mark {
                    case "*":
                        atom = [.split(1, atom.count + 2)] + Self.moved(atom, by: 1) + [.jump(0)]
                    case "+": atom += [.split(0, atom.count + 1)]
                    default: atom = [.split(1, atom.count + 1)] + Self.moved(atom, by: 1)
                    }
                }
                steps += Self.moved(atom, by: steps.count)
            }
            return steps
        }

        private mutating func atom(_ scalar: Unicode.Scalar, depth: Int) -> [Step]? {
            position += 1
            switch scalar {
            case ".": return [.any]
            case "(":
                guard let inner = alternatives(depth: depth + 1), current == ")" else { return nil }
                position += 1
                return inner
            case "[": return set().map { [$0] }
            case "\\":
                guard let escaped = escaped() else { return nil }
                return [.scalar(escaped)]
            case "*", "+", "?", "{", "}", "]", "^", "$": return nil
            default: return [.scalar(scalar)]
            }
        }

        /// A character behind `\`: letters and digits have a meaning in other dialects, and are refused.
        private mutating func escaped() -> Unicode.Scalar? {
            guard let scalar = current, !scalar.properties.isAlphabetic, scalar.properties.numericType == nil else {
                return nil
            }
            position += 1
            return scalar
        }

        private mutating func set() -> Step? {
            var ranges: [ClosedRange<Unicode.Scalar>] = []
            let isNegated = current == "^"
            if isNegated { position += 1 }
            while let scalar = current, scalar != "]" {
                guard let low = element(scalar) else { return nil }
                var high = low
                if current == "-", position + 1 < scalars.count, scalars[position + 1] != "]" {
                    position += 1
                    guard let last = current, let end = element(last) else { return nil }
                    high = end
                }
                guard low <= high else { return nil }
                ranges.append(low...high)
            }
            guard current == "]", !ranges.isEmpty else { return nil }
            position += 1
            return .set(ranges, isNegated: isNegated)
        }

        private mutating func element(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
            position += 1
            return scalar == "\\" ? escaped() : scalar
        }

        private static func moved(_ steps: [Step], by offset: Int) -> [Step] {
            steps.map { step in
                switch step {
                case .split(let one, let other): .split(one + offset, other + offset)
                case .jump(let target): .jump(target + offset)
                case .any, .scalar, .set, .match: step
                }
            }
        }
    }
}
