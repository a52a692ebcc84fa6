internal import Instrument

/// Reads the text of a report: a dictionary of structured fields (RFC 9651), as far as CMCD uses them.
struct CMCDParser {
    /// A key as it was found.
    struct Member {
        let key: String
        let value: CMCDValue
        /// The text of the value; empty for a bare key.
        let found: String
    }

    /// The reason for which reading stopped.
    struct Fault: Error {
        let message: String
        let found: String
        let key: String?
    }

    private let bytes: [UInt8]
    private var place = 0

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// The members in the order of the text, up to the first fault.
    static func read(_ text: String) -> (members: [Member], fault: Fault?) {
        var parser = CMCDParser(text)
        var members: [Member] = []
        do throws(Fault) {
            while let member = try parser.member(isFirst: members.isEmpty) { members.append(member) }
        } catch {
            return (members, error)
        }
        return (members, nil)
    }

    private mutating func member(isFirst: Bool) throws(Fault) -> Member? {
        if !isFirst {
            skipSpaces()
            if place == bytes.count { return nil }
            guard take(UInt8(ascii: ",")) else { throw fault("a comma must stand between two keys", nil) }
        }
        skipSpaces()
        if isFirst, place == bytes.count { throw Fault(message: "a report must have a key", found: "", key: nil) }
        let key = self.text(while: CMCDSyntax.isKeyByte)
        guard CMCDSyntax.isKey(key) else {
            throw fault(
                "a key must begin with a lower-case letter and have lower-case letters, digits, '_', '-', '.'",
                nil
            )
        }
        guard take(UInt8(ascii: "=")) else { return Member(key: key, value: .boolean(true), found: "") }
        let start = place
        let value = try value(of: key)
        return Member(key: key, value: value, found: String(decoding: bytes[start..<place], as: UTF8.self))
    }

    private mutating func value(of key: String) throws(Fault) -> CMCDValue {
        guard take(UInt8(ascii: "(")) else { return try item(of: key) }
        var elements: [CMCDValue.Element] = []
        while true {
            let hadSpace = skipSpaces()
            if take(UInt8(ascii: ")")) { return .list(elements) }
            if place == bytes.count { throw fault("a list must end with ')'", key) }
            if !elements.isEmpty, !hadSpace { throw fault("a space must stand between two elements of a list", key) }
            let value = try item(of: key)
            elements.append(CMCDValue.Element(value, try parameters(of: key)))
        }
    }

    private mutating func parameters(of key: String) throws(Fault) -> [CMCDValue.Parameter] {
        var parameters: [CMCDValue.Parameter] = []
        while take(UInt8(ascii: ";")) {
            skipSpaces()
            let name = self.text(while: CMCDSyntax.isKeyByte)
            guard CMCDSyntax.isKey(name) else { throw fault("a parameter must have a name in lower case", key) }
            let value = take(UInt8(ascii: "=")) ? try item(of: key) : .boolean(true)
            parameters.append(CMCDValue.Parameter(name, value))
        }
        return parameters
    }

    private mutating func item(of key: String) throws(Fault) -> CMCDValue {
        guard place < bytes.count else { throw fault("a value must follow the equals sign", key) }
        switch bytes[place] {
        case UInt8(ascii: "\""): return try string(of: key)
        case UInt8(ascii: "?"):
            place += 1
            if take(UInt8(ascii: "1")) { return .boolean(true) }
            if take(UInt8(ascii: "0")) { return .boolean(false) }
            throw fault("a boolean must be ?0 or ?1", key)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(of: key)
        default:
            let word = self.text(while: CMCDSyntax.isTokenByte)
            guard CMCDSyntax.isToken(word) else {
                throw fault("a value must be a number, a boolean, a string in quotes, a token, or a list", key)
            }
            return .token(word)
        }
    }

    private mutating func string(of key: String) throws(Fault) -> CMCDValue {
        let start = place
        place += 1
        var text: [UInt8] = []
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return .string(String(decoding: text, as: UTF8.self))
            case UInt8(ascii: "\\"):
                guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") || bytes[place] == UInt8(ascii: "\\")
                else {
                    throw fault("in a string, a backslash must stand in front of '\"' or '\\'", key)
                }
                text.append(bytes[place])
                place += 1
            case 0x20..<0x7F: text.append(byte)
            default:
                place -= 1
                throw fault("a string must have printable ASCII characters only; percent-encode others", key)
            }
        }
        place = start
        throw fault("a string must end with a quote", key)
    }

    private mutating func number(of key: String) throws(Fault) -> CMCDValue {
        let start = place
        _ = take(UInt8(ascii: "-"))
        let whole = text(while: \.isDigit)
        var fraction: String?
        if take(UInt8(ascii: ".")) { fraction = text(while: \.isDigit) }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if let fraction {
            guard 1...12 ~= whole.utf8.count, 1...3 ~= fraction.utf8.count, let number = Double(text) else {
                throw Fault(
                    message: "a decimal must have 1 to 12 digits before and 1 to 3 digits behind the point",
                    found: text,
                    key: key
                )
            }
            return .decimal(number)
        }
        guard 1...15 ~= whole.utf8.count, let number = Int(text) else {
            throw Fault(message: "an integer must have 1 to 15 digits", found: text, key: key)
        }
        return .integer(number)
    }

    // MARK: Characters

    private mutating func take(_ byte: UInt8) -> Bool {
        guard place < bytes.count, bytes[place] == byte else { return false }
        place += 1
        return true
    }

    @discardableResult
    private mutating func skipSpaces() -> Bool {
        let start = place
        while place < bytes.count, bytes[place] == 0x20 || bytes[place] == 0x09 { place += 1 }
        return place > start
    }

    private mutating func text(while isIncluded: (UInt8) -> Bool) -> String {
        let start = place
        while place < bytes.count, isIncluded(bytes[place]) { place += 1 }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private func fault(_ message: String, _ key: String?) -> Fault {
        let rest = bytes[place...].prefix(40)
        return Fault(message: message, found: String(decoding: rest, as: UTF8.self), key: key)
    }
}

extension CMCDReport {
    /// Reads the text of a report; nil if the text breaks the syntax. `CMCDValidator` says where and why.
    package init?(_ text: String) {
        let (members, fault) = CMCDParser.read(text)
        if fault != nil { return nil }
        self.init()
        for member in members { self[CMCDKey(member.key)] = member.value }
    }
}
