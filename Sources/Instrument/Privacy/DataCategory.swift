/// The category of a field's data.
///
/// The kinds are those that Apple's privacy manifests know; an open set, since that list grows.
///
/// Source: Apple, "Describing data use in privacy manifests" (`NSPrivacyCollectedDataType`).
public struct DataCategory: Hashable, Sendable, CustomStringConvertible {
    /// The name, as it stands behind `NSPrivacyCollectedDataType` in a manifest.
    public let description: String
    /// Creates a kind.
    public init(_ description: String) { self.description = description }

    /// A name.
    public static let name = DataCategory("Name")
    /// An address for e-mail.
    public static let emailAddress = DataCategory("EmailAddress")
    /// A place, to 3 decimal places of a degree or finer.
    public static let preciseLocation = DataCategory("PreciseLocation")
    /// A place, more coarsely.
    public static let coarseLocation = DataCategory("CoarseLocation")
    /// An account, or another identifier of a person.
    public static let userID = DataCategory("UserID")
    /// An identifier of a device or an installation.
    public static let deviceID = DataCategory("DeviceID")
    /// Actions in a game.
    public static let gameplayContent = DataCategory("GameplayContent")
    /// Use of the app: plays, taps, views.
    public static let productInteraction = DataCategory("ProductInteraction")
    /// Which ads were seen.
    public static let advertisingData = DataCategory("AdvertisingData")
    /// Other data on how something is used.
    public static let otherUsageData = DataCategory("OtherUsageData")
    /// Crashes.
    public static let crashData = DataCategory("CrashData")
    /// How fast and well something works: start times, stalls, bit rates, battery.
    public static let performanceData = DataCategory("PerformanceData")
    /// Other data that explains what does not work.
    public static let otherDiagnosticData = DataCategory("OtherDiagnosticData")
    /// Data of no other category.
    public static let otherDataTypes = DataCategory("OtherDataTypes")
}

/// A purpose of collecting a field; an open set.
///
/// Source: Apple, "Describing data use in privacy manifests" (`NSPrivacyCollectedDataTypePurposes`).
public struct DataPurpose: Hashable, Sendable, CustomStringConvertible {
    /// The name, as it stands behind `NSPrivacyCollectedDataTypePurpose` in a manifest.
    public let description: String
    /// Creates a purpose.
    public init(_ description: String) { self.description = description }

    /// To learn how the app is used and how well it works.
    public static let analytics = DataPurpose("Analytics")
    /// To make the app work: signing in, fighting fraud, staying up.
    public static let appFunctionality = DataPurpose("AppFunctionality")
    /// To show a person what suits them.
    public static let productPersonalization = DataPurpose("ProductPersonalization")
    /// To advertise for the developer's own things.
    public static let developerAdvertising = DataPurpose("DeveloperAdvertising")
    /// To show others' ads, or to share with those who do.
    public static let thirdPartyAdvertising = DataPurpose("ThirdPartyAdvertising")
    /// Data of no other category.
    public static let other = DataPurpose("Other")
}
