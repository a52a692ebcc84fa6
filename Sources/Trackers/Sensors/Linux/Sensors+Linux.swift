#if os(Linux)
public import Instrument

extension Sensors {
    /// The sensors of a Linux machine: Industrial I/O, power supplies, network interfaces, and a gpsd if its address is
    /// given.
    ///
    /// Fused motion is absent, because the kernel has only the three raw sensors.
    ///
    /// - Parameters:
    ///   - gpsd: the address of a gpsd; nil without one.
    ///   - clock: the clock of readings.
    ///   - choices: the person's choices.
    public static func linux(
        gpsd: GPSDAddress? = nil,
        clock: any SchedulingClock = SystemClock(),
        choices: SensorChoices = SensorChoices()
    ) -> Sensors {
        linux(root: "/", gpsd: gpsd, clock: clock, choices: choices)
    }

    /// The sensors of the machine whose `/sys` is below `root`, with the network interfaces that `interfaces` lists.
    package static func linux(
        root: String,
        gpsd: GPSDAddress? = nil,
        clock: any SchedulingClock = SystemClock(),
        choices: SensorChoices = SensorChoices(),
        interfaces: @escaping @Sendable () -> [NetworkInterface] = { NetworkInterface.all() }
    ) -> Sensors {
        let tree = FileTree(root: root)
        var sensors = Sensors(clock: clock, choices: choices)
        sensors.addMotion(of: tree, clock: clock)
        let proximity = IIOProximity(tree: tree)
        let battery = PowerSupply(tree: tree)
        let slow = Duration.seconds(10)
        sensors.proximity = Sensor(
            .proximity,
            PolledSource(on: clock) { proximity.read() },
            clock: clock,
            choices: choices
        )
        sensors.battery = Sensor(
            .battery,
            PolledSource(every: slow, on: clock) { battery.read() },
            clock: clock,
            choices: choices
        )
        sensors.networkAddresses = Sensor(
            .networkAddresses,
            NetworkAddressSource(interfaces: interfaces),
            clock: clock,
            choices: choices,
            interval: .zero
        )
        if let gpsd {
            let client = GPSDClient(gpsd, clock: clock)
            sensors.location = Sensor(.location, client.location, clock: clock, choices: choices)
            sensors.heading = Sensor(.heading, client.heading, clock: clock, choices: choices)
        }
        return sensors
    }

    private mutating func addMotion(of tree: FileTree, clock: any SchedulingClock) {
        let acceleration = PolledSource(on: clock) {
            IIOChannel.accelerometer(tree).read().map { Acceleration(at: clock.wallTime, $0) }
        }
        let rotation = PolledSource(on: clock) {
            IIOChannel.gyroscope(tree).read().map { RotationRate(at: clock.wallTime, $0) }
        }
        let field = PolledSource(on: clock) {
            IIOChannel.magnetometer(tree).read().map { MagneticField(at: clock.wallTime, $0) }
        }
        accelerometer = Sensor(.accelerometer, acceleration, clock: clock, choices: choices)
        gyroscope = Sensor(.gyroscope, rotation, clock: clock, choices: choices)
        magnetometer = Sensor(.magnetometer, field, clock: clock, choices: choices)
        orientation = Sensor(.orientation, OrientationSource(acceleration), clock: clock, choices: choices)
    }
}
#endif
