internal import Instrument

extension AppStateCollector {
    /// The sensors that fields come from.
    private static let kinds: [AttributeName: SensorKind] = [
        "batteryLevel": .battery, "batteryState": .battery, "proximityState": .proximity,
        "networkAddresses": .networkAddresses, "location": .location, "deviceOrientation": .orientation,
        "heading": .heading, "motion": .deviceMotion, "accelerometer": .accelerometer, "gyroscope": .gyroscope,
        "magnetometer": .magnetometer,
    ]

    /// The fields of `AppState`, of which those are on that the person lets be read: one choice, kept in one place.
    static func fields(allowedBy choices: SensorChoices) -> PrivacyCatalogue {
        PrivacyCatalogue(
            AppState.declaredFields.fields.map { field in
                kinds[field.name].map { field.turned(on: choices.allows($0)) } ?? field
            }
        )
    }
}
