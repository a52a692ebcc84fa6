/// An Apple privacy manifest (`PrivacyInfo.xcprivacy`) of what a catalogue declares.
///
/// ```swift
/// let text = PrivacyManifest(instrument.catalogue).propertyList
/// ```
///
/// Fields that are off by default are in it, too: a manifest says what an app may collect. Where the app sets `userId`,
/// every field of a sample is linked to that person: then say so with `isLinked`.
///
/// Source: Apple, "Privacy manifest files", "Describing data use in privacy manifests" and "Describing use of required
/// reason API".
public struct PrivacyManifest: Hashable, Sendable {
    /// An API whose use has to be explained.
    public struct AccessedAPI: Hashable, Sendable {
        /// Behind `NSPrivacyAccessedAPICategory`.
        package let category: String
        /// Apple's codes of the reasons.
        package let reasons: [String]

        /// Creates an API from what stands behind `NSPrivacyAccessedAPICategory`, and Apple's codes of the reasons.
        public init(_ category: String, reasons: [String]) {
            self.category = category
            self.reasons = reasons
        }

        /// What Instrument itself uses: the clock that counts from the system's start, to measure the time between
        /// events (35F9.1), and the size of the app's files in the app's container (C617.1).
        public static let ofInstrument = [
            AccessedAPI("FileTimestamp", reasons: ["C617.1"]), AccessedAPI("SystemBootTime", reasons: ["35F9.1"]),
        ]
    }

    /// The collected data.
    package var catalogue: PrivacyCatalogue
    /// Whether all of it is linked to a person, because samples carry who they are.
    package var isLinked: Bool
    /// Domains of those who track people with the data; empty where nobody does.
    package var trackingDomains: [String]
    /// APIs whose use has to be explained.
    package var accessedAPIs: [AccessedAPI]

    /// Creates a manifest; by default nobody tracks.
    public init(
        _ catalogue: PrivacyCatalogue,
        isLinked: Bool = false,
        trackingDomains: [String] = [],
        accessedAPIs: [AccessedAPI] = AccessedAPI.ofInstrument
    ) {
        self.catalogue = catalogue
        self.isLinked = isLinked
        self.trackingDomains = trackingDomains
        self.accessedAPIs = accessedAPIs
    }

    /// The manifest as an XML property list.
    public var propertyList: String {
        let root = PropertyList.dictionary([
            ("NSPrivacyTracking", .flag(!trackingDomains.isEmpty)),
            ("NSPrivacyTrackingDomains", .array(trackingDomains.map(PropertyList.text))),
            ("NSPrivacyCollectedDataTypes", .array(collected)),
            ("NSPrivacyAccessedAPITypes", .array(accessedAPIs.map(Self.accessed))),
        ])
        return root.document
    }

    /// One entry for each kind of data: linked if one of its fields is, for the purposes of all of them.
    private var collected: [PropertyList] {
        let byCategory = Dictionary(grouping: catalogue.fields, by: \.category)
        return byCategory.sorted { $0.key.description < $1.key.description }.map { category, fields in
            let purposes = Set(fields.flatMap(\.purposes)).map(\.description).sorted()
            return .dictionary([
                ("NSPrivacyCollectedDataType", .text("NSPrivacyCollectedDataType" + category.description)),
                ("NSPrivacyCollectedDataTypeLinked", .flag(isLinked || fields.contains(where: \.isLinked))),
                ("NSPrivacyCollectedDataTypeTracking", .flag(!trackingDomains.isEmpty)),
                (
                    "NSPrivacyCollectedDataTypePurposes",
                    .array(purposes.map { .text("NSPrivacyCollectedDataTypePurpose" + $0) })
                ),
            ])
        }
    }

    private static func accessed(_ api: AccessedAPI) -> PropertyList {
        .dictionary([
            ("NSPrivacyAccessedAPIType", .text("NSPrivacyAccessedAPICategory" + api.category)),
            ("NSPrivacyAccessedAPITypeReasons", .array(api.reasons.map(PropertyList.text))),
        ])
    }
}
