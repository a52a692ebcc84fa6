public import Instrument

extension Action {
    /// An address of an ad is to be called. Our addition; no tracker emits it, ``Beacons`` appends it to the queue.
    public static let adBeacon = Action("AdBeacon")
}

extension AttributeKey where Value == String {
    /// The address of a beacon with its macros filled in. May identify a person.
    package static var adBeaconUrl: Self { "adBeaconUrl" }
    /// The event that a beacon reports: `impression`, `start`, `error` and so on.
    package static var adBeaconEvent: Self { "adBeaconEvent" }
    /// The playback of an ad, within which beacons keep their order.
    package static var adBeaconGroup: Self { "adBeaconGroup" }
}

extension AttributeKey where Value == Int {
    /// The calendar time at which a beacon that fails is given up, in milliseconds since 1970.
    package static var adBeaconExpiry: Self { "adBeaconExpiry" }
}

extension PrivacyCatalogue {
    /// The fields of beacons.
    public static let beacons: PrivacyCatalogue = [
        FieldDeclaration(
            .adBeaconUrl,
            "Address of an ad server that is called for an event of an ad",
            .advertisingData,
            for: [.thirdPartyAdvertising]
        ),
        FieldDeclaration(.adBeaconEvent, "Event of an ad", .advertisingData, for: [.thirdPartyAdvertising]),
        FieldDeclaration(.adBeaconGroup, "Playback of an ad", .advertisingData, for: [.thirdPartyAdvertising]),
        FieldDeclaration(
            .adBeaconExpiry,
            "Time at which a beacon expires",
            .advertisingData,
            for: [.thirdPartyAdvertising]
        ),
    ]
}

extension ServiceName {
    /// The ad servers that ``BeaconBackend`` calls. No other service's backend receives beacons.
    public static let beacons: Self = "beacons"
}
