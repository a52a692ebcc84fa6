internal import Instrument

/// What collectors report through the chain, in Sift's words. Fields that are not known are left out, one by one.
extension SiftAppState {
    /// The state that the attributes of `AppState` say.
    init(_ state: AppState) {
        self.init()
        sdkVersion = state.sdkVersion
        windowRootViewControllerTitles = state.screenTitles
        batteryLevel = state.batteryLevel
        batteryState = state.batteryState.map(SiftBatteryState.init)
        proximityState = state.proximityState
        networkAddresses = state.networkAddresses
        location = state.location.map(SiftLocation.init)
        applicationState = state.applicationState.map(SiftApplicationState.init)
        deviceOrientation = state.deviceOrientation.map(SiftDeviceOrientation.init)
        heading = state.heading.map(SiftHeading.init)
        motion = (state.motion ?? []).map(SiftMotion.init)
        rawAccelerometer = (state.accelerometer ?? []).map(SiftAcceleration.init)
        rawGyro = (state.gyroscope ?? []).map(SiftRotation.init)
        rawMagnetometer = (state.magnetometer ?? []).map(SiftMagneticField.init)
    }
}

extension SiftBatteryState {
    fileprivate init(_ state: BatteryState) {
        switch state {
        case .unknown: self = .unknown
        case .unplugged: self = .unplugged
        case .charging: self = .charging
        case .full: self = .full
        }
    }
}

extension SiftApplicationState {
    fileprivate init(_ state: ApplicationState) {
        switch state {
        case .active: self = .active
        case .inactive: self = .inactive
        case .background: self = .background
        }
    }
}

extension SiftDeviceOrientation {
    fileprivate init(_ orientation: DeviceOrientation) {
        switch orientation {
        case .unknown: self = .unknown
        case .portrait: self = .portrait
        case .portraitUpsideDown: self = .portraitUpsideDown
        case .landscapeLeft: self = .landscapeLeft
        case .landscapeRight: self = .landscapeRight
        case .faceUp: self = .faceUp
        case .faceDown: self = .faceDown
        }
    }
}

extension SiftVector {
    fileprivate init(_ vector: SensorVector) { self.init(x: vector.x, y: vector.y, z: vector.z) }
}

extension SiftLocation {
    fileprivate init(_ location: Location) {
        self.init()
        time = location.time
        (latitude, longitude) = (location.latitude, location.longitude)
        horizontalAccuracy = location.horizontalAccuracy
        (altitude, verticalAccuracy) = (location.altitude, location.verticalAccuracy)
        floor = location.floor
        (speed, course) = (location.speed, location.course)
    }
}

extension SiftHeading {
    fileprivate init(_ heading: Heading) {
        self.init()
        time = heading.time
        (magneticHeading, accuracy) = (heading.magneticHeading, heading.accuracy)
        trueHeading = heading.trueHeading
        rawMagneticField = SiftVector(heading.rawMagneticField)
    }
}

extension SiftMotion {
    fileprivate init(_ motion: DeviceMotion) {
        self.init()
        time = motion.time
        (attitudeRoll, attitudePitch, attitudeYaw) = (motion.roll, motion.pitch, motion.yaw)
        rotationRate = SiftVector(motion.rotationRate)
        gravity = SiftVector(motion.gravity)
        userAcceleration = SiftVector(motion.userAcceleration)
        magneticField = SiftVector(motion.magneticField)
        switch motion.calibration {
        case .low: magneticFieldCalibration = .low
        case .medium: magneticFieldCalibration = .medium
        case .high: magneticFieldCalibration = .high
        case nil: magneticFieldCalibration = nil
        }
    }
}

extension SiftAcceleration {
    fileprivate init(_ reading: Acceleration) {
        self.init()
        (time, acceleration) = (reading.time, SiftVector(reading.acceleration))
    }
}

extension SiftRotation {
    fileprivate init(_ reading: RotationRate) {
        self.init()
        (time, rotationRate) = (reading.time, SiftVector(reading.rotationRate))
    }
}

extension SiftMagneticField {
    fileprivate init(_ reading: MagneticField) {
        self.init()
        (time, magneticField) = (reading.time, SiftVector(reading.magneticField))
    }
}
