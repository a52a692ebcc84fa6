internal import InstrumentJSON

/// Accepts statements that certainly have no findings, from their bytes, without creating values.
///
/// Most statements of a log are of one form: an agent with an account or a mailbox, an activity, a result, a context.
/// The judge knows only this form. All other statements are in doubt, also valid ones: ``Checker`` decides about them,
/// and ``Checker`` alone lists findings.
struct StatementJudge {
    /// An accepted statement.
    struct Accepted {
        /// The identifier as it stands in the text; nil without one.
        let id: String?
    }

    private let version: XAPIVersion
    private var scanner: JSONScanner
    private var id: String?

    /// Judges a text that is one statement; nil if in doubt.
    static func accept(_ bytes: [UInt8], version: XAPIVersion) -> Accepted? {
        bytes.withUnsafeBufferPointer { bytes in
            guard let scanner = JSONScanner(bytes) else { return nil }
            var judge = StatementJudge(version: version, scanner: scanner)
            guard judge.statement(), judge.scanner.isAtEnd() else { return nil }
            return Accepted(id: judge.id)
        }
    }

    private init(version: XAPIVersion, scanner: JSONScanner) { (self.version, self.scanner) = (version, scanner) }

    // MARK: Objects

    /// The members of an object, as a set of positions in a list of keys.
    private struct Found {
        private(set) var bits: UInt32 = 0

        mutating func insert(_ position: Int) -> Bool {
            let bit: UInt32 = 1 << UInt32(position)
            defer { bits |= bit }
            return bits & bit == 0
        }

        func has(_ position: Int) -> Bool { bits & (1 << UInt32(position)) != 0 }
        /// The number of members at the first `count` positions.
        func count(amongFirst count: Int) -> Int { (bits & ((1 << UInt32(count)) - 1)).nonzeroBitCount }
    }

    /// Takes an object that has at least one member, only known ones, and each once; `member` takes the values.
    @inline(__always)
    private mutating func object(
        _ keys: KnownKeys,
        _ member: (inout StatementJudge, _ position: Int) -> Bool
    ) -> Found? {
        var found = Found()
        let isGood = scanner.take(UInt8(ascii: "{"))
        guard isGood else { return nil }
        repeat {
            guard let name = scanner.text(), scanner.take(UInt8(ascii: ":")), let key = keys.position(of: name.bytes),
                found.insert(key), member(&self, key)
            else { return nil }
        } while scanner.take(UInt8(ascii: ","))
        return scanner.take(UInt8(ascii: "}")) ? found : nil
    }

    private static let ofStatement = KnownKeys(
        "actor",
        "verb",
        "object",
        "id",
        "result",
        "context",
        "timestamp",
        "stored",
        "authority",
        "version"
    )

    private mutating func statement() -> Bool {
        let found = object(Self.ofStatement) { judge, position in
            switch position {
            case 0, 8: judge.agent()
            case 1: judge.verb()
            case 2: judge.activity()
            case 3: judge.statementID()
            case 4: judge.result()
            case 5: judge.context()
            case 6, 7: judge.time()
            default: judge.statementVersion()
            }
        }
        return found?.count(amongFirst: 3) == 3
    }

    private mutating func statementID() -> Bool {
        guard let text = plainText(), UUIDFormat.isValid(text.bytes) else { return false }
        id = text.string
        return true
    }

    private mutating func statementVersion() -> Bool {
        guard let text = plainText() else { return false }
        return Self.commonVersions.position(of: text.bytes).map { $0 < (version == .v2 ? 3 : 2) } ?? false
    }

    private static let commonVersions = KnownKeys("1.0.3", "1.0.0", "2.0.0")

    private static let ofAgent = KnownKeys("account", "mbox", "mbox_sha1sum", "openid", "name", "objectType")

    /// An agent: exactly one of the identifiers, which are the first four keys.
    private mutating func agent() -> Bool {
        let found = object(Self.ofAgent) { judge, position in
            switch position {
            case 0: judge.account()
            case 1: judge.plainText().map { MailboxFormat.isValid($0.string) } ?? false
            case 2: judge.plainText().map { Hexadecimal.isText($0.string, lengths: [40]) } ?? false
            case 3: judge.iri()
            case 4: judge.scanner.text() != nil
            default: judge.word("Agent")
            }
        }
        return found?.count(amongFirst: 4) == 1
    }

    private static let ofAccount = KnownKeys("homePage", "name")

    private mutating func account() -> Bool {
        let found = object(Self.ofAccount) { judge, position in
            position == 0 ? judge.iri() : judge.scanner.text().map { !$0.bytes.isEmpty } ?? false
        }
        return found?.count(amongFirst: 2) == 2
    }

    private static let ofVerb = KnownKeys("id", "display")

    /// A verb that does not void a statement.
    private mutating func verb() -> Bool {
        let found = object(Self.ofVerb) { judge, position in
            position == 0 ? judge.verbID() : judge.languageMap()
        }
        return found?.has(0) ?? false
    }

    private static let voided = KnownKeys("http://adlnet.gov/expapi/verbs/voided")

    private mutating func verbID() -> Bool {
        guard let text = plainText(), IRIFormat.isValid(ascii: text.bytes) else { return false }
        return Self.voided.position(of: text.bytes) == nil
    }

    private static let ofActivity = KnownKeys("id", "definition", "objectType")

    private mutating func activity() -> Bool {
        let found = object(Self.ofActivity) { judge, position in
            switch position {
            case 0: judge.iri()
            case 1: judge.definition()
            default: judge.word("Activity")
            }
        }
        return found?.has(0) ?? false
    }

    private static let ofDefinition = KnownKeys("name", "description", "type", "moreInfo", "extensions")

    private mutating func definition() -> Bool {
        object(Self.ofDefinition) { judge, position in
            switch position {
            case 0, 1: judge.languageMap()
            case 2, 3: judge.iri()
            default: judge.extensions()
            }
        } != nil
    }

    private static let ofResult = KnownKeys("extensions", "success", "completion", "response", "duration")

    private mutating func result() -> Bool {
        object(Self.ofResult) { judge, position in
            switch position {
            case 0: judge.extensions()
            case 1, 2: judge.scanner.truth()
            case 3: judge.scanner.text() != nil
            default: judge.plainText().map { DurationFormat.isValid($0.string) } ?? false
            }
        } != nil
    }

    private static let ofContext = KnownKeys(
        "extensions",
        "registration",
        "contextActivities",
        "language",
        "platform",
        "revision"
    )

    private mutating func context() -> Bool {
        object(Self.ofContext) { judge, position in
            switch position {
            case 0: judge.extensions()
            case 1: judge.plainText().map { UUIDFormat.isValid($0.bytes) } ?? false
            case 2: judge.contextActivities()
            case 3: judge.plainText().map { LanguageTagFormat.isPlain($0.bytes) } ?? false
            default: judge.scanner.text() != nil
            }
        } != nil
    }

    private static let contextKinds = KnownKeys("category", "grouping", "parent", "other")

    private mutating func contextActivities() -> Bool {
        object(Self.contextKinds) { judge, _ in
            if judge.scanner.next() != UInt8(ascii: "[") { return judge.activity() }
            return judge.activities()
        } != nil
    }

    private mutating func activities() -> Bool {
        guard scanner.take(UInt8(ascii: "[")) else { return false }
        if scanner.take(UInt8(ascii: "]")) { return true }
        repeat {
            guard activity() else { return false }
        } while scanner.take(UInt8(ascii: ","))
        return scanner.take(UInt8(ascii: "]"))
    }

    // MARK: Values

    private mutating func plainText() -> JSONScanner.Text? {
        guard let text = scanner.text(), text.isPlain else { return nil }
        return text
    }

    private mutating func iri() -> Bool { plainText().map { IRIFormat.isValid(ascii: $0.bytes) } ?? false }

    private mutating func time() -> Bool {
        guard let text = plainText() else { return false }
        return TimestampFormat.isCommon(text.bytes) || TimestampFormat.isValid(text.string, version: version)
    }

    private mutating func word(_ word: StaticString) -> Bool {
        guard let text = plainText(), text.bytes.count == word.utf8CodeUnitCount else { return false }
        for place in text.bytes.indices where text.bytes[place] != word.utf8Start[place] { return false }
        return true
    }

    /// At least one text, under language tags of the plain form.
    private mutating func languageMap() -> Bool {
        members { judge, name in LanguageTagFormat.isPlain(name) && judge.scanner.text() != nil } ?? 0 > 0
    }

    /// Any values under IRIs.
    private mutating func extensions() -> Bool {
        members { judge, name in IRIFormat.isValid(ascii: name) && judge.scanner.value() } != nil
    }

    /// Objects with more members are in doubt, because each name is compared with all before it.
    private static let mostMembers = 16

    /// Takes an object with any plain names, each once; `member` takes the values. Returns the number of members.
    private mutating func members(
        _ member: (inout StatementJudge, UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Int? {
        guard scanner.take(UInt8(ascii: "{")) else { return nil }
        if scanner.take(UInt8(ascii: "}")) { return 0 }
        return withUnsafeTemporaryAllocation(of: UnsafeBufferPointer<UInt8>.self, capacity: Self.mostMembers) { names in
            var count = 0
            repeat {
                guard count < Self.mostMembers, let name = plainText()?.bytes, scanner.take(UInt8(ascii: ":")) else {
                    return nil
                }
                for index in 0..<count where Self.areEqual(names[index], name) { return nil }
                names.initializeElement(at: count, to: name)
                count += 1
                guard member(&self, name) else { return nil }
            } while scanner.take(UInt8(ascii: ","))
            return scanner.take(UInt8(ascii: "}")) ? count : nil
        }
    }

    private static func areEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        // From the end, because addresses of extensions begin alike.
        for place in left.indices.reversed() where left[place] != right[place] { return false }
        return true
    }
}
