public import Instrument

/// A device's sensors. Sensors that the device does not have report that they are absent.
public struct Sensors: Sendable {
    /// Raw acceleration.
    package var accelerometer: Sensor<Acceleration>
    /// Raw rotation.
    package var gyroscope: Sensor<RotationRate>
    /// The raw magnetic field.
    package var magnetometer: Sensor<MagneticField>
    /// Fused motion.
    package var deviceMotion: Sensor<DeviceMotion>
    /// The position.
    package var location: Sensor<Location>
    /// The heading of the device.
    package var heading: Sensor<Heading>
    /// The battery.
    package var battery: Sensor<Battery>
    /// The orientation of the device.
    package var orientation: Sensor<DeviceOrientation>
    /// Whether something is close to the screen.
    package var proximity: Sensor<Bool>
    /// The addresses of interfaces that are up, without loopback.
    package var networkAddresses: Sensor<[String]>
    /// The person's choices.
    public let choices: SensorChoices

    /// Creates sensors that are all absent. The factory of a platform replaces those that its devices have.
    public init(clock: any SchedulingClock = SystemClock(), choices: SensorChoices = SensorChoices()) {
        self.choices = choices
        accelerometer = Sensor(.accelerometer, AbsentSource(), clock: clock, choices: choices)
        gyroscope = Sensor(.gyroscope, AbsentSource(), clock: clock, choices: choices)
        magnetometer = Sensor(.magnetometer, AbsentSource(), clock: clock, choices: choices)
        deviceMotion = Sensor(.deviceMotion, AbsentSource(), clock: clock, choices: choices)
        location = Sensor(.location, AbsentSource(), clock: clock, choices: choices)
        heading = Sensor(.heading, AbsentSource(), clock: clock, choices: choices)
        battery = Sensor(.battery, AbsentSource(), clock: clock, choices: choices)
        orientation = Sensor(.orientation, AbsentSource(), clock: clock, choices: choices)
        proximity = Sensor(.proximity, AbsentSource(), clock: clock, choices: choices)
        networkAddresses = Sensor(.networkAddresses, AbsentSource(), clock: clock, choices: choices)
    }

    /// Suspends all sources until ``resume()``, for example in the background, to save energy.
    public func suspend() {
        suspendMotion()
        location.suspend()
        heading.suspend()
        battery.suspend()
        orientation.suspend()
        proximity.suspend()
        networkAddresses.suspend()
    }

    /// Resumes the sources that have listeners.
    public func resume() {
        accelerometer.resume()
        gyroscope.resume()
        magnetometer.resume()
        deviceMotion.resume()
        location.resume()
        heading.resume()
        battery.resume()
        orientation.resume()
        proximity.resume()
        networkAddresses.resume()
    }

    private func suspendMotion() {
        accelerometer.suspend()
        gyroscope.suspend()
        magnetometer.suspend()
        deviceMotion.suspend()
    }
}

/// A reading of a battery.
package struct Battery: Hashable, Sendable {
    /// The level, 0 to 1; nil if unknown.
    package var level: Double?
    /// The state.
    package var state: BatteryState

    /// Creates a reading.
    package init(level: Double? = nil, state: BatteryState) { (self.level, self.state) = (level, state) }
}
