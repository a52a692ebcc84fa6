import Instrument
import InstrumentJSON

@testable import InstrumentSift

/// An event in which nothing is missing.
enum FullEvent {
    static func make() -> SiftEvent {
        var event = SiftEvent(
            time: Make.wallTime,
            type: "AppStateIOS",
            path: "/home",
            userID: "person-17",
            fields: ["language": "日本語 😀", "quote": "\"\\\n\u{0}"]
        )
        event.installationID = "6F9619FF-8B86-4011-B42D-00CF4FC964FF"
        event.metrics = ["value": "250"]
        event.legacyDeviceProperties = ["device_model": "old"]
        event.appState = appState()
        event.deviceProperties = deviceProperties()
        return event
    }

    static func appState() -> SiftAppState {
        var state = SiftAppState()
        state.sdkVersion = "1.0"
        state.windowRootViewControllerTitles = ["Home", ""]
        state.batteryLevel = 0.5
        state.batteryState = .charging
        state.proximityState = false
        state.networkAddresses = ["192.0.2.7", "2001:db8::7"]
        state.location = location()
        state.applicationState = .active
        state.deviceOrientation = .faceUp
        state.heading = heading()
        state.motion = [motion()]
        var acceleration = SiftAcceleration()
        (acceleration.time, acceleration.acceleration) = (time(3), SiftVector(x: 0, y: -0.5, z: 1))
        var rotation = SiftRotation()
        (rotation.time, rotation.rotationRate) = (time(4), SiftVector(x: 1, y: 2, z: 3))
        var field = SiftMagneticField()
        (field.time, field.magneticField) = (time(5), SiftVector(x: 4, y: 5, z: 6))
        (state.rawAccelerometer, state.rawGyro, state.rawMagnetometer) = ([acceleration], [rotation], [field])
        return state
    }

    private static func time(_ milliseconds: Int64) -> WallTime {
        WallTime(milliseconds: Make.wallTime.milliseconds + milliseconds)
    }

    static func location() -> SiftLocation {
        var location = SiftLocation()
        location.time = time(0)
        (location.latitude, location.longitude, location.horizontalAccuracy) = (52.5, 13.25, 10)
        (location.altitude, location.verticalAccuracy, location.floor) = (34.5, 3, 2)
        (location.speed, location.course) = (1.5, 90)
        return location
    }

    static func heading() -> SiftHeading {
        var heading = SiftHeading()
        heading.time = time(1)
        (heading.magneticHeading, heading.accuracy, heading.trueHeading) = (91, 5, 93.5)
        heading.rawMagneticField = SiftVector(x: 1, y: 2, z: 3)
        return heading
    }

    static func motion() -> SiftMotion {
        var motion = SiftMotion()
        motion.time = time(2)
        (motion.attitudeRoll, motion.attitudePitch, motion.attitudeYaw) = (0.1, 0.2, 0.3)
        motion.rotationRate = SiftVector(x: 0.4, y: 0.5, z: 0.6)
        motion.gravity = SiftVector(x: 0, y: 0, z: -1)
        motion.userAcceleration = SiftVector(x: 0.7, y: 0.8, z: 0.9)
        motion.magneticField = SiftVector(x: 20, y: 21, z: 22)
        motion.magneticFieldCalibration = .high
        return motion
    }

    /// Each field has its own name as its value, or a number of its own.
    static func deviceProperties() -> SiftDeviceProperties {
        var properties = SiftDeviceProperties()
        var number = 0
        for field in SiftDeviceProperties.fields {
            number += 1
            // A field takes what is of its type and leaves out the rest: the last that fits stays.
            field.read(.string(field.name), &properties)
            if field.write(properties, .legacy) == nil { field.read(.int(number), &properties) }
            if field.write(properties, .legacy) == nil { field.read(.bool(true), &properties) }
            if field.write(properties, .legacy) == nil { field.read(.array([.string(field.name)]), &properties) }
        }
        return properties
    }
}
