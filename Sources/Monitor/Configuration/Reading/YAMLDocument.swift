internal import InstrumentText
internal import Yams

/// Reads YAML into values. Anchors and aliases are refused before anything is expanded.
enum YAMLDocument {
    /// Nesting beyond this is no configuration.
    private static let mostDepth = 32

    static func read(_ bytes: [UInt8], file: String) throws(ConfigurationProblem) -> ConfigurationValue? {
        let start = ConfigurationPlace(file: file, line: 1, column: 1)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationProblem(start, "The file must be encoded in UTF-8; save it as UTF-8.")
        }
        if let place = AnchorScan.first(in: bytes) {
            throw ConfigurationProblem(
                ConfigurationPlace(file: file, line: place.line, column: place.column),
                "Anchors (`&name`) and aliases (`*name`) are not supported; repeat the value, or use `defaults`. "
                    + "Put a text that begins with & or * in quotes."
            )
        }
        if let place = overDeep(bytes, file) { throw ConfigurationProblem(place, depthMessage) }
        do {
            let parser = try Parser(yaml: text)
            guard let node = try parser.singleRoot() else { return nil }
            return try value(node, file, depth: 0)
        } catch let problem as ConfigurationProblem {
            throw problem
        } catch let error as YamlError {
            throw problem(error, text, file)
        } catch {
            throw ConfigurationProblem(start, "The file must be valid YAML.")
        }
    }

    private static let depthMessage = "Values must be nested at most \(mostDepth) deep."

    private static func value(_ node: Node, _ file: String, depth: Int) throws(ConfigurationProblem)
        -> ConfigurationValue
    {
        let place = ConfigurationPlace(file: file, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
        guard depth <= mostDepth else { throw ConfigurationProblem(place, depthMessage) }
        switch node {
        case .scalar(let scalar):
            try refuse(scalar.anchor, place)
            let isPlain = scalar.style == .plain || scalar.style == .any
            let isNull = isPlain && ["", "~", "null"].contains(scalar.string)
            return ConfigurationValue(content: isNull ? .null : .scalar(scalar.string, isPlain: isPlain), place: place)
        case .sequence(let sequence):
            try refuse(sequence.anchor, place)
            var list: [ConfigurationValue] = []
            for element in sequence { list.append(try value(element, file, depth: depth + 1)) }
            return ConfigurationValue(content: .list(list), place: place)
        case .mapping(let mapping):
            try refuse(mapping.anchor, place)
            var members: [ConfigurationValue.Member] = []
            for (key, element) in mapping {
                let keyPlace = ConfigurationPlace(file: file, line: key.mark?.line ?? 1, column: key.mark?.column ?? 1)
                guard case .scalar(let name) = key else {
                    throw ConfigurationProblem(keyPlace, "A key must be a text (found a list or a mapping).")
                }
                let member = try value(element, file, depth: depth + 1)
                members.append(ConfigurationValue.Member(key: name.string, place: keyPlace, value: member))
            }
            return ConfigurationValue(content: .map(members), place: place)
        case .alias: throw ConfigurationProblem(place, "Aliases are not supported; repeat the value.")
        }
    }

    private static func refuse(_ anchor: Anchor?, _ place: ConfigurationPlace) throws(ConfigurationProblem) {
        if anchor != nil { throw ConfigurationProblem(place, "Anchors are not supported; repeat the value.") }
    }

    /// The lines, counted from 1, on which a key stands in a mapping of lines that begins at a mark.
    private static func lines(of key: String, from mark: Mark, in text: String) -> [Int] {
        let indent = String(repeating: " ", count: max(0, mark.column - 1))
        var found: [Int] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard index + 1 >= mark.line else { continue }
            // The first member of an element of a list stands behind its dash.
            var rest = line.utf8.dropFirst(indent.utf8.count)
            let before = line.utf8.prefix(indent.utf8.count)
            let isFirst = index + 1 == mark.line
            if !isFirst, line.utf8.contains(where: { $0 != 0x20 && $0 != 0x0D }), !before.allSatisfy({ $0 == 0x20 }) {
                break
            }
            for quote in ["", "\"", "'"] where rest.starts(with: (quote + key + quote).utf8) {
                rest = rest.dropFirst(key.utf8.count + 2 * quote.utf8.count).drop { $0 == 0x20 }
                if rest.first == UInt8(ascii: ":") { found.append(index + 1) }
                break
            }
        }
        return found
    }

    private static func problem(_ error: YamlError, _ text: String, _ file: String) -> ConfigurationProblem {
        func at(_ mark: Mark, _ message: String) -> ConfigurationProblem {
            let place = ConfigurationPlace(file: file, line: mark.line, column: mark.column)
            return ConfigurationProblem(place, "The file must be valid YAML: \(message). Correct the line.")
        }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return at(mark, problem)
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.prefix(3).map { "`\($0.excerpt())`" }.joined(separator: ", ")
            let second = duplicates.lazy.compactMap { lines(of: $0, from: context.mark, in: text).dropFirst().first }
                .first
            let line = second ?? context.mark.line
            let place = ConfigurationPlace(file: file, line: line, column: context.mark.column)
            return ConfigurationProblem(
                place,
                "A key must appear once in its mapping (found twice: \(names)); remove one."
            )
        default:
            let place = ConfigurationPlace(file: file, line: 1, column: 1)
            return ConfigurationProblem(place, "The file must be valid YAML text without control characters.")
        }
    }
}

// MARK: Refusals before parsing
extension YAMLDocument {
    /// The place at which brackets, or the marks and spaces before a value, are nested too deep for the parser's
    /// recursion.
    private static func overDeep(_ bytes: [UInt8], _ file: String) -> ConfigurationPlace? {
        let limit = 2 * mostDepth
        var (depth, line, column, isAtStart) = (0, 1, 0, true)
        for byte in bytes {
            column += 1
            switch byte {
            case 0x0A: (line, column, isAtStart) = (line + 1, 0, true)
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth = max(0, depth - 1)
            default: break
            }
            if byte != 0x0A, !" -?:\t".utf8.contains(byte) { isAtStart = false }
            if depth > limit || isAtStart && column > limit {
                return ConfigurationPlace(file: file, line: line, column: column)
            }
        }
        return nil
    }
}
