import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentSensors

@Suite("Records", .ownThread)
struct RecordTests {
    private func full() -> AppState {
        var state = AppState()
        (state.sdkVersion, state.screenTitles, state.batteryLevel, state.batteryState) = ("1", ["A", "B"], 0.25, .full)
        (state.proximityState, state.networkAddresses) = (true, ["192.0.2.1"])
        var place = Location()
        (place.time, place.latitude, place.longitude) = (WallTime(milliseconds: 1), 48, -11.5)
        (place.horizontalAccuracy, place.floor) = (3, -2)
        state.location = place
        (state.applicationState, state.deviceOrientation) = (.inactive, .faceDown)
        var heading = Heading()
        heading.rawMagneticField = SensorVector(x: 1, y: 2, z: 3)
        state.heading = heading
        var motion = DeviceMotion()
        (motion.roll, motion.calibration) = (0.5, .high)
        state.motion = [motion, DeviceMotion()]
        state.accelerometer = [Acceleration(at: WallTime(milliseconds: 5), SensorVector(x: 0, y: -1, z: 0))]
        state.gyroscope = [RotationRate(at: nil, SensorVector(z: 2))]
        state.magnetometer = [MagneticField(at: nil, SensorVector(x: 30, y: 0, z: 40))]
        return state
    }

    @Test("A record is unchanged after a round trip through attributes")
    func roundTrip() {
        #expect(AppState(full().attributes) == full())
        #expect(AppState(attributeValue: full().attributeValue) == full())
        #expect(AppState(Attributes()) == AppState())
        #expect(AppState().attributes.isEmpty)
    }

    @Test("Only a value outside its range is left out")
    func leftOut() {
        var state = full()
        state.batteryLevel = 1.5
        state.location?.latitude = .nan
        state.location?.speed = -1
        state.location?.altitude = .infinity
        state.accelerometer?[0].acceleration.x = -.infinity
        let read = AppState(state.attributes)
        #expect(read.batteryLevel == nil)
        #expect(read.location?.latitude == nil)
        #expect(read.location?.longitude == -11.5)
        #expect(read.location?.speed == nil)
        #expect(read.location?.altitude == nil)
        #expect(read.accelerometer?[0].acceleration == SensorVector(y: -1, z: 0))
    }

    @Test("A field of the wrong type is left out, and the other fields are kept")
    func wrongTypes() {
        let attributes: Attributes = [
            "batteryLevel": "half", "batteryState": "burning", "screenTitles": ["A", 3],
            "location": ["latitude": 1, "time": "x"],
            "proximityState": true, "accelerometer": [3],
        ]
        var expected = AppState()
        expected.proximityState = true
        var place = Location()
        place.latitude = 1
        expected.location = place
        #expect(AppState(attributes) == expected)
    }

    @Test("Every field has a unique name, and properties return the values that were set")
    func fields() {
        #expect(Set(AppState.fields.map(\.name)).count == AppState.fields.count)
        #expect(DeviceProperties.fields.count == 41)
        #expect(Set((AppState.fields.map(\.name) + DeviceProperties.fields.map(\.name))).count == 54)
        var attributes = Attributes()
        for field in DeviceProperties.fields {
            let value: AttributeValue =
                switch field.kind {
                case .text: .string(field.name)
                case .integer: .int(7)
                case .truth: true
                default: [.string(field.name)]
                }
            attributes.set(value, for: AttributeName(field.name))
        }
        #expect(DeviceProperties(attributes).attributes == attributes)
    }

    @Test("App state and device properties declare every field in the table that names it")
    func tables() {
        #expect(AppState.declaredFields.fields.map(\.name.spelling) == AppState.fields.map(\.name).sorted())
        let properties = DeviceProperties.declaredFields.fields
        #expect(properties.map(\.name.spelling) == DeviceProperties.fields.map(\.name).sorted())
        let off = (AppState.declaredFields.fields + properties).filter { !$0.isOn }.map(\.name.spelling)
        #expect(off == ["accelerometer", "gyroscope", "magnetometer", "motion"])
        let location = AppState.declaredFields["location"]
        #expect(location?.category == .preciseLocation && location?.type == .object && location?.isLinked == true)
        for field in Location.fields { #expect(location?.summary.contains(field.name) == true) }
        #expect(AppState.declaredFields["batteryLevel"]?.type == .number)
        #expect(AppState.declaredFields["motion"]?.type == .list)
        #expect(properties.first { $0.name == "vendorIdentifier" }?.category == .deviceID)
    }
}
