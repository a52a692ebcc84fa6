public import Instrument

/// A device's sensors. Those that it does not have are there, too, and say that they are absent.
public struct Sensors: Sendable {
    /// Raw acceleration.
    public var accelerometer: Sensor<Acceleration>
    /// Raw rotation.
    public var gyroscope: Sensor<RotationRate>
    /// The raw magnetic field.
    public var magnetometer: Sensor<MagneticField>
    /// Fused motion.
    public var deviceMotion: Sensor<DeviceMotion>
    /// The position.
    public var location: Sensor<Location>
    /// Where the device points.
    public var heading: Sensor<Heading>
    /// The battery.
    public var battery: Sensor<Battery>
    /// How the device is held.
    public var orientation: Sensor<DeviceOrientation>
    /// Whether something is close to the screen.
    public var proximity: Sensor<Bool>
    /// The addresses of interfaces that are up, without loopback.
    public var networkAddresses: Sensor<[String]>
    /// What the person lets be read.
    public let choices: SensorChoices

    /// Creates the sensors of these sources; by default all are absent. Single sources may be exchanged afterwards.
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

    /// Spares energy, for example in the background: no source runs until ``resume()``.
    public func suspend() {
        suspendMotion()
        location.suspend()
        heading.suspend()
        battery.suspend()
        orientation.suspend()
        proximity.suspend()
        networkAddresses.suspend()
    }

    /// Lets those run that are listened to.
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

/// What a battery says.
public struct Battery: Hashable, Sendable {
    /// How full it is, 0 to 1; nil if it does not say.
    public var level: Double?
    /// What it does.
    public var state: BatteryState

    /// Creates a reading.
    public init(level: Double? = nil, state: BatteryState) { (self.level, self.state) = (level, state) }
}
