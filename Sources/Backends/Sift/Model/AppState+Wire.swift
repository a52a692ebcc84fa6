internal import InstrumentSensors

/// The state of an app and of its surroundings at an instant, with Sift's names (`ios_app_state`).
extension AppState: WireModel {
    static let wireFields: [WireField<Self>] = [
        .text("sdk_version", \.sdkVersion),
        .texts("window_root_view_controller_titles", \.screenTitles),
        .number("battery_level", \.batteryLevel, within: 0...1),
        .word("battery_state", \.batteryState, prefix: "ui_device_battery_state_"),
        .truth("proximity_state", \.proximityState),
        .texts("network_addresses", \.networkAddresses),
        .object("location", \.location),
        .word("application_state", \.applicationState, prefix: "ui_application_state_", legacy: true),
        .word("device_orientation", \.deviceOrientation, prefix: "ui_device_orientation_", legacy: true),
        .object("heading", \.heading, legacy: true),
        .objects("motion", \.motion),
        .objects("raw_accelerometer", \.accelerometer),
        .objects("raw_gyro", \.gyroscope),
        .objects("raw_magnetometer", \.magnetometer),
    ]
}

extension Location: WireModel {
    static let wireFields: [WireField<Self>] = [
        .number("latitude", \.latitude),
        .number("longitude", \.longitude),
        .time("time", \.time, legacy: true),
        .number("horizontal_accuracy", \.horizontalAccuracy, legacy: true),
        .number("altitude", \.altitude, legacy: true),
        .number("vertical_accuracy", \.verticalAccuracy, legacy: true),
        .integer("floor", \.floor, legacy: true),
        .number("speed", \.speed, within: 0 ... .infinity, legacy: true),
        .number("course", \.course, within: 0 ... .infinity, legacy: true),
    ]

    /// An absent or negative accuracy means that there is no location; the object is empty then. The same holds for the
    /// altitude.
    var sayable: Self {
        guard let accuracy = horizontalAccuracy, accuracy.isFinite, accuracy >= 0 else { return Self() }
        var location = self
        if !(verticalAccuracy.map { $0.isFinite && $0 >= 0 } ?? false) {
            (location.altitude, location.verticalAccuracy) = (nil, nil)
        }
        return location
    }
}

extension Heading: WireModel {
    static let wireFields: [WireField<Self>] =
        [
            .time("time", \.time),
            .number("magnetic_heading", \.magneticHeading),
            .number("accuracy", \.accuracy),
            .number("true_heading", \.trueHeading, within: 0 ... .infinity),
        ] + WireField.vector("raw_magnetic_field", \.rawMagneticField)

    /// The magnetic heading is sent only with an accuracy that is not negative.
    var sayable: Self {
        if let accuracy, accuracy.isFinite, accuracy >= 0 { return self }
        var heading = self
        (heading.magneticHeading, heading.accuracy) = (nil, nil)
        return heading
    }
}

extension DeviceMotion: WireModel {
    static let wireFields: [WireField<Self>] =
        [
            .time("time", \.time),
            .number("attitude_roll", \.roll),
            .number("attitude_pitch", \.pitch),
            .number("attitude_yaw", \.yaw),
            .word(
                "magnetic_field_calibration_accuracy",
                \.calibration,
                prefix: "cm_magnetic_field_calibration_accuracy_"
            ),
        ] + WireField.vector("rotation_rate", \.rotationRate) + WireField.vector("gravity", \.gravity)
        + WireField.vector("user_acceleration", \.userAcceleration)
        + WireField.vector("magnetic_field", \.magneticField)

    /// The magnetic field is sent only if it is calibrated.
    var sayable: Self {
        if calibration != nil { return self }
        var motion = self
        motion.magneticField = SensorVector()
        return motion
    }
}

extension Acceleration: WireModel {
    static let wireFields: [WireField<Self>] =
        [.time("time", \.time)] + WireField.vector("acceleration", \.acceleration)
}

extension RotationRate: WireModel {
    static let wireFields: [WireField<Self>] =
        [.time("time", \.time)] + WireField.vector("rotation_rate", \.rotationRate)
}

extension MagneticField: WireModel {
    static let wireFields: [WireField<Self>] =
        [.time("time", \.time)] + WireField.vector("magnetic_field", \.magneticField)
}
