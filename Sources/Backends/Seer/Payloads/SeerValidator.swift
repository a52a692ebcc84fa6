package import InstrumentJSON
package import InstrumentXAPI

/// Validates payloads for Seer, and lists every failure. A value without state, which may be used from any thread.
///
/// Keys that no rule names may have any value. Instrumentation follows the rules of activities.
package struct SeerValidator: Hashable, Sendable {
    /// Whether `published` is required on every activity.
    package let isStrict: Bool

    /// Creates a validator; by default `published` is optional.
    package init(isStrict: Bool = false) { self.isStrict = isStrict }

    /// Returns the failures of an activity or instrumentation; empty for a valid one.
    package func failures(inActivity payload: JSONValue) -> [ValidationFailure] {
        var check = SeerCheck(payload: payload)
        check.text(at: ["actor", "id"], .seerActorID)
        check.text(at: ["verb"], .seerVerb)
        check.text(at: ["generator", "appId"], .seerGeneratorAppID)
        check.text(at: ["object", "id"], .seerObjectID)
        check.text(at: ["object", "objectType"], .seerObjectType)
        check.texts(at: "context", .seerContext)
        if isStrict { check.time(at: "published", .seerPublished) }
        return check.failures
    }

    /// Returns the failures of a Tin Can statement; empty for a valid one.
    package func failures(inTinCan payload: JSONValue) -> [ValidationFailure] {
        var check = SeerCheck(payload: payload)
        check.identifier(.seerTinCanIdentifier)
        check.text(at: ["verb", "id"], .seerTinCanVerbID)
        check.text(at: ["object", "id"], .seerTinCanObjectID)
        check.text(at: ["object", "definition", "type"], .seerTinCanDefinitionType)
        check.text(at: ["context", "extensions", "appId"], .seerTinCanAppID)
        return check.failures
    }
}

/// Seer's rules, named after the field that each checks.
extension ValidationRule {
    static let seerPayload = ValidationRule("seer-payload")
    static let seerActorID = ValidationRule("seer-actor-id")
    static let seerVerb = ValidationRule("seer-verb")
    static let seerGeneratorAppID = ValidationRule("seer-generator-app-id")
    static let seerObjectID = ValidationRule("seer-object-id")
    static let seerObjectType = ValidationRule("seer-object-type")
    static let seerContext = ValidationRule("seer-context")
    static let seerPublished = ValidationRule("seer-published")
    static let seerTinCanIdentifier = ValidationRule("seer-tincan-identifier")
    static let seerTinCanVerbID = ValidationRule("seer-tincan-verb-id")
    static let seerTinCanObjectID = ValidationRule("seer-tincan-object-id")
    static let seerTinCanDefinitionType = ValidationRule("seer-tincan-definition-type")
    static let seerTinCanAppID = ValidationRule("seer-tincan-app-id")
}
