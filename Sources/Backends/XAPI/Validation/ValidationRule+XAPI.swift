internal import InstrumentText

/// The rules for statements, numbered as in ADL's conformance requirements
/// (github.com/adlnet/xapi-lrs-conformance-requirements).
extension ValidationRule {
    private static func xapi(_ number: Int) -> ValidationRule {
        ValidationRule("XAPI-" + number.padded(5))
    }

    // Data 2.2: formatting.
    static let nullOrEmpty = xapi(1)
    static let actorMissing = xapi(3)
    static let verbMissing = xapi(4)
    static let objectMissing = xapi(5)
    static let wrongType = xapi(6)
    static let keyCase = xapi(8)
    static let valueCase = xapi(9)
    static let notAllowed = xapi(10)
    static let wellFormed = xapi(14)
    static let keyTwice = xapi(21)
    /// RFC 8259 section 8.1, on which xAPI rests: JSON is UTF-8 without a byte order mark.
    static let byteOrderMark = ValidationRule("json-byte-order-mark")
    static let utf8 = ValidationRule("json-utf-8")
    /// RFC 8259 sections 6 and 9: limits of the reader.
    static let nesting = ValidationRule("json-nesting")
    static let numberRange = ValidationRule("json-number-range")
    /// More findings than are listed.
    static let tooMany = ValidationRule("too-many-findings")

    // Data 2.3 and 2.4: the statement.
    static let voiding = xapi(17)
    static let timestamp = xapi(22)
    static let stored = xapi(23)
    static let authority = xapi(24)
    static let attachments = xapi(25)
    static let statementID = xapi(27)
    static let statementIDType = xapi(28)

    // Data 2.4.2: actors.
    static let actorObjectType = xapi(31)
    static let objectTypeType = xapi(32)
    static let actorName = xapi(33)
    static let agentIdentifier = xapi(34)
    static let memberOutsideGroup = xapi(35)
    static let groupMembers = xapi(36)
    static let groupIdentifier = xapi(37)
    static let mbox = xapi(38)
    static let mboxSHA1Sum = xapi(39)
    static let openID = xapi(40)
    static let account = xapi(41)
    static let accountHomePage = xapi(42)
    static let accountName = xapi(43)

    // Data 2.4.3: verbs.
    static let verbID = xapi(44)
    static let verbDisplay = xapi(45)

    // Data 2.4.4: objects.
    static let objectType = xapi(46)
    static let activityID = xapi(47)
    static let activityDefinition = xapi(48)
    static let interactionType = xapi(49)
    static let correctResponses = xapi(50)
    static let steps = xapi(51)
    static let target = xapi(52)
    static let source = xapi(53)
    static let scale = xapi(54)
    static let choices = xapi(55)
    static let definitionName = xapi(56)
    static let definitionExtensions = xapi(57)
    static let componentID = xapi(58)
    static let definitionDescription = xapi(59)
    static let definitionType = xapi(60)
    static let definitionMoreInfo = xapi(61)
    static let componentDescription = xapi(62)
    static let componentObject = xapi(63)
    static let interactionTypeMissing = xapi(64)
    static let componentsOfType = ValidationRule("interaction-components-of-type")
    static let agentObjectType = xapi(65)
    static let subStatement = xapi(66)
    static let subStatementAuthority = xapi(67)
    static let subStatementVersion = xapi(68)
    static let subStatementStored = xapi(69)
    static let subStatementID = xapi(70)
    static let subStatementNested = xapi(71)
    static let statementRefID = xapi(72)
    static let statementObjectType = xapi(73)

    // Data 2.4.5: results.
    static let success = xapi(74)
    static let completion = xapi(75)
    static let response = xapi(76)
    static let duration = xapi(77)
    static let resultExtensions = xapi(78)
    static let score = xapi(79)
    static let scoreMax = xapi(80)
    static let scoreMin = xapi(81)
    static let scoreRaw = xapi(82)
    static let scoreScaled = xapi(83)

    // Data 2.4.6: contexts. The requirements give number 87 twice, to registration and to instructor.
    static let revisionOfActivity = xapi(84)
    static let platformOfActivity = xapi(85)
    static let contextActivities = xapi(86)
    static let registration = xapi(87)
    static let instructor = xapi(87)
    static let team = xapi(88)
    static let revision = xapi(89)
    static let platform = xapi(90)
    static let language = xapi(91)
    static let contextStatement = xapi(92)
    static let contextActivitiesKey = xapi(93)
    static let contextActivity = xapi(94)
    static let contextActivitiesEmpty = xapi(95)
    static let contextExtensions = ValidationRule("context-extensions")
    static let contextAgents = ValidationRule("context-agents")
    static let contextGroups = ValidationRule("context-groups")
    static let relevantTypes = ValidationRule("relevant-types")

    // Data 2.4.9 to 2.4.11: authority, version, attachments.
    static let authorityGroup = xapi(98)
    static let authorityConsumer = ValidationRule("authority-oauth-consumer")
    static let statementVersion = xapi(101)
    static let attachmentLength = xapi(102)
    static let attachmentSHA2 = xapi(103)
    static let attachmentFileURL = xapi(104)
    static let attachmentContentType = xapi(105)
    static let attachmentDisplay = xapi(106)
    static let attachmentUsageType = xapi(107)
    static let attachmentDescription = ValidationRule("attachment-description")

    // Data 4: extensions, language maps, times.
    static let extensionKey = xapi(118)
    static let languageTag = xapi(121)
    static let timestampFormat = xapi(123)
    static let durationFormat = xapi(124)
}
