internal import Instrument

extension AppStateCollector {
    /// The sensors that fields come from.
    private static let kinds: [AttributeName: SensorKind] = [
        "batteryLevel": .battery, "batteryState": .battery, "proximityState": .proximity,
        "networkAddresses": .networkAddresses, "location": .location, "deviceOrientation": .orientation,
        "heading": .heading, "motion": .deviceMotion, "accelerometer": .accelerometer, "gyroscope": .gyroscope,
        "magnetometer": .magnetometer,
    ]

    /// The fields of `AppState`; a field is on if the person allows its sensor.
    static func fields(allowedBy choices: SensorChoices) -> PrivacyCatalogue {
        PrivacyCatalogue(
            AppState.declaredFields.fields.map { field in
                kinds[field.name].map { field.turned(on: choices.allows($0)) } ?? field
            }
        )
    }
}
