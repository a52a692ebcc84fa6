extension SiftAppState: WireModel {
    static let fields: [WireField<SiftAppState>] = [
        .text("sdk_version", \.sdkVersion),
        .texts("window_root_view_controller_titles", \.windowRootViewControllerTitles),
        .number("battery_level", \.batteryLevel, within: 0...1),
        .word("battery_state", \.batteryState),
        .truth("proximity_state", \.proximityState),
        .texts("network_addresses", \.networkAddresses),
        .object("location", \.location),
        .word("application_state", \.applicationState, legacy: true),
        .word("device_orientation", \.deviceOrientation, legacy: true),
        .object("heading", \.heading, legacy: true),
        .objects("motion", \.motion),
        .objects("raw_accelerometer", \.rawAccelerometer),
        .objects("raw_gyro", \.rawGyro),
        .objects("raw_magnetometer", \.rawMagnetometer),
    ]
}

extension SiftHeading: WireModel {
    static let fields: [WireField<SiftHeading>] =
        [
            .time("time", \.time),
            .number("magnetic_heading", \.magneticHeading),
            .number("accuracy", \.accuracy),
            .number("true_heading", \.trueHeading, within: 0 ... .infinity),
        ] + WireField.vector("raw_magnetic_field", \.rawMagneticField)

    var sayable: SiftHeading {
        if let accuracy, accuracy.isFinite, accuracy >= 0 { return self }
        var heading = self
        (heading.magneticHeading, heading.accuracy) = (nil, nil)
        return heading
    }
}

extension SiftMotion: WireModel {
    static let fields: [WireField<SiftMotion>] =
        [
            .time("time", \.time),
            .number("attitude_roll", \.attitudeRoll),
            .number("attitude_pitch", \.attitudePitch),
            .number("attitude_yaw", \.attitudeYaw),
            .word("magnetic_field_calibration_accuracy", \.magneticFieldCalibration),
        ] + WireField.vector("rotation_rate", \.rotationRate) + WireField.vector("gravity", \.gravity)
        + WireField.vector("user_acceleration", \.userAcceleration)
        + WireField.vector("magnetic_field", \.magneticField)

    var sayable: SiftMotion {
        if magneticFieldCalibration != nil { return self }
        var motion = self
        motion.magneticField = SiftVector()
        return motion
    }
}

extension SiftAcceleration: WireModel {
    static let fields: [WireField<SiftAcceleration>] =
        [.time("time", \.time)] + WireField.vector("acceleration", \.acceleration)
}

extension SiftRotation: WireModel {
    static let fields: [WireField<SiftRotation>] =
        [.time("time", \.time)] + WireField.vector("rotation_rate", \.rotationRate)
}

extension SiftMagneticField: WireModel {
    static let fields: [WireField<SiftMagneticField>] =
        [.time("time", \.time)] + WireField.vector("magnetic_field", \.magneticField)
}
