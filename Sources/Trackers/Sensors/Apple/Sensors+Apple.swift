#if canImport(UIKit) && canImport(CoreMotion) && canImport(CoreLocation) && !os(tvOS) && !os(watchOS) && !os(visionOS)
public import Instrument

extension Sensors {
    /// The sensors of a phone or tablet: CoreMotion, CoreLocation and UIKit. Addresses of interfaces are read when
    /// asked for.
    ///
    /// Compiled against declarations of Apple's frameworks on Linux; not run on an Apple platform.
    ///
    /// - Parameters:
    ///   - clock: the clock of readings.
    ///   - choices: the person's choices.
    public static func apple(
        clock: any SchedulingClock = SystemClock(),
        choices: SensorChoices = SensorChoices()
    ) -> Sensors {
        let (motion, place, device) = (MotionSensors(clock: clock), LocationSensors(), HandheldSensors())
        var sensors = Sensors(clock: clock, choices: choices)
        sensors.accelerometer = Sensor(.accelerometer, motion.accelerometer, clock: clock, choices: choices)
        sensors.gyroscope = Sensor(.gyroscope, motion.gyroscope, clock: clock, choices: choices)
        sensors.magnetometer = Sensor(.magnetometer, motion.magnetometer, clock: clock, choices: choices)
        sensors.deviceMotion = Sensor(.deviceMotion, motion.deviceMotion, clock: clock, choices: choices)
        sensors.location = Sensor(.location, place.location, clock: clock, choices: choices)
        sensors.heading = Sensor(.heading, place.heading, clock: clock, choices: choices)
        sensors.battery = Sensor(.battery, device.battery, clock: clock, choices: choices)
        sensors.orientation = Sensor(.orientation, device.orientation, clock: clock, choices: choices)
        sensors.proximity = Sensor(.proximity, device.proximity, clock: clock, choices: choices)
        let addresses = PolledSource(every: .seconds(10), on: clock) {
            SensorUpdate.reading(NetworkInterface.addresses(of: NetworkInterface.all()))
        }
        sensors.networkAddresses = Sensor(.networkAddresses, addresses, clock: clock, choices: choices)
        return sensors
    }
}
#endif
