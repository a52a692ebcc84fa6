import Instrument
import InstrumentJSON
import InstrumentSensors

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

    static func appState() -> AppState {
        var state = AppState()
        state.sdkVersion = "1.0"
        state.screenTitles = ["Home", ""]
        state.batteryLevel = 0.5
        state.batteryState = .charging
        state.proximityState = false
        state.networkAddresses = ["192.0.2.7", "2001:db8::7"]
        state.location = location()
        state.applicationState = .active
        state.deviceOrientation = .faceUp
        state.heading = heading()
        state.motion = [motion()]
        var acceleration = Acceleration()
        (acceleration.time, acceleration.acceleration) = (time(3), SensorVector(x: 0, y: -0.5, z: 1))
        var rotation = RotationRate()
        (rotation.time, rotation.rotationRate) = (time(4), SensorVector(x: 1, y: 2, z: 3))
        var field = MagneticField()
        (field.time, field.magneticField) = (time(5), SensorVector(x: 4, y: 5, z: 6))
        (state.accelerometer, state.gyroscope, state.magnetometer) = ([acceleration], [rotation], [field])
        return state
    }

    private static func time(_ milliseconds: Int64) -> WallTime {
        WallTime(milliseconds: Make.wallTime.milliseconds + milliseconds)
    }

    static func location() -> Location {
        var location = Location()
        location.time = time(0)
        (location.latitude, location.longitude, location.horizontalAccuracy) = (52.5, 13.25, 10)
        (location.altitude, location.verticalAccuracy, location.floor) = (34.5, 3, 2)
        (location.speed, location.course) = (1.5, 90)
        return location
    }

    static func heading() -> Heading {
        var heading = Heading()
        heading.time = time(1)
        (heading.magneticHeading, heading.accuracy, heading.trueHeading) = (91, 5, 93.5)
        heading.rawMagneticField = SensorVector(x: 1, y: 2, z: 3)
        return heading
    }

    static func motion() -> DeviceMotion {
        var motion = DeviceMotion()
        motion.time = time(2)
        (motion.roll, motion.pitch, motion.yaw) = (0.1, 0.2, 0.3)
        motion.rotationRate = SensorVector(x: 0.4, y: 0.5, z: 0.6)
        motion.gravity = SensorVector(x: 0, y: 0, z: -1)
        motion.userAcceleration = SensorVector(x: 0.7, y: 0.8, z: 0.9)
        motion.magneticField = SensorVector(x: 20, y: 21, z: 22)
        motion.calibration = .high
        return motion
    }

    /// Each field has its own name as its value, or a distinct number.
    static func deviceProperties() -> DeviceProperties {
        var properties = DeviceProperties()
        var number = 0
        for field in DeviceProperties.wireFields {
            number += 1
            // A field accepts values of its type and ignores others: the last valid value stays.
            field.read(.string(field.name), &properties)
            if field.write(properties, .legacy) == nil { field.read(.int(number), &properties) }
            if field.write(properties, .legacy) == nil { field.read(.bool(true), &properties) }
            if field.write(properties, .legacy) == nil { field.read(.array([.string(field.name)]), &properties) }
        }
        return properties
    }
}
