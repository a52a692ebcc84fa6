#if canImport(CoreMotion) && !os(macOS) && !os(tvOS) && !os(visionOS)
internal import CoreMotion
internal import Foundation
package import Instrument

/// The motion sensors of a phone or watch (CoreMotion). An app should have one instance.
///
/// Accelerations are in g, rotation in rad/s, fields in µT, attitudes in radians, as in CoreMotion. The app's
/// property list must contain `NSMotionUsageDescription`.
///
/// Compiled against declarations of CoreMotion on Linux, with its logic tested there; not run on an Apple platform.
package final class MotionSensors: Sendable {
    private let accelerations: SharedSource<Acceleration>
    private let rotations: SharedSource<RotationRate>
    private let fields: SharedSource<MagneticField>
    private let motions: SharedSource<DeviceMotion>

    /// Creates the sensors; nothing runs until a source is started.
    ///
    /// - Parameters:
    ///   - interval: the time between two readings.
    ///   - clock: the clock of readings.
    package init(every interval: Duration = .milliseconds(500), clock: any SchedulingClock = SystemClock()) {
        let manager = LockedManager(interval: max(interval, .milliseconds(10)) / .seconds(1))
        accelerations = manager.accelerations(clock)
        rotations = manager.rotations(clock)
        fields = manager.fields(clock)
        motions = manager.motions(clock)
    }

    /// Raw acceleration.
    package var accelerometer: some SensorSource<Acceleration> { accelerations }
    /// Raw rotation.
    package var gyroscope: some SensorSource<RotationRate> { rotations }
    /// The raw magnetic field, including the device's own field.
    package var magnetometer: some SensorSource<MagneticField> { fields }
    /// Fused motion, with a calibrated magnetic field where the device has one.
    package var deviceMotion: some SensorSource<DeviceMotion> { motions }
}

/// The system's manager; an app should have one.
private final class LockedManager: @unchecked Sendable {
    // Sendable: `manager` is touched under `lock` only; `queue`, which takes one call at a time, is safe from any
    // thread.
    private let lock = NSLock()
    private let manager = CMMotionManager()
    private let queue = OperationQueue()
    private let interval: TimeInterval

    init(interval: TimeInterval) {
        self.interval = interval
        queue.maxConcurrentOperationCount = 1
        queue.name = "instrument.motion"
    }

    private func with<Result>(_ body: (CMMotionManager) -> Result) -> Result { lock.withLock { body(manager) } }

    func accelerations(_ clock: any SchedulingClock) -> SharedSource<Acceleration> {
        SharedSource(
            absence: { [self] in with { $0.isAccelerometerAvailable ? nil : .missing } },
            begin: { [self] say in
                with { manager in
                    manager.accelerometerUpdateInterval = interval
                    manager.startAccelerometerUpdates(to: queue) { data, _ in
                        guard let value = data?.acceleration else { return say(.absent(.unreadable)) }
                        let vector = SensorVector(x: value.x, y: value.y, z: value.z)
                        say(.reading(Acceleration(at: clock.wallTime, vector)))
                    }
                }
            },
            end: { [self] in with { $0.stopAccelerometerUpdates() } }
        )
    }

    func rotations(_ clock: any SchedulingClock) -> SharedSource<RotationRate> {
        SharedSource(
            absence: { [self] in with { $0.isGyroAvailable ? nil : .missing } },
            begin: { [self] say in
                with { manager in
                    manager.gyroUpdateInterval = interval
                    manager.startGyroUpdates(to: queue) { data, _ in
                        guard let value = data?.rotationRate else { return say(.absent(.unreadable)) }
                        let vector = SensorVector(x: value.x, y: value.y, z: value.z)
                        say(.reading(RotationRate(at: clock.wallTime, vector)))
                    }
                }
            },
            end: { [self] in with { $0.stopGyroUpdates() } }
        )
    }

    func fields(_ clock: any SchedulingClock) -> SharedSource<MagneticField> {
        SharedSource(
            absence: { [self] in with { $0.isMagnetometerAvailable ? nil : .missing } },
            begin: { [self] say in
                with { manager in
                    manager.magnetometerUpdateInterval = interval
                    manager.startMagnetometerUpdates(to: queue) { data, _ in
                        guard let value = data?.magneticField else { return say(.absent(.unreadable)) }
                        let vector = SensorVector(x: value.x, y: value.y, z: value.z)
                        say(.reading(MagneticField(at: clock.wallTime, vector)))
                    }
                }
            },
            end: { [self] in with { $0.stopMagnetometerUpdates() } }
        )
    }

    func motions(_ clock: any SchedulingClock) -> SharedSource<DeviceMotion> {
        SharedSource(
            absence: { [self] in with { $0.isDeviceMotionAvailable ? nil : .missing } },
            begin: { [self] say in
                // A corrected reference frame keeps the magnetometer on, which the calibration of the field requires.
                let corrected = CMAttitudeReferenceFrame.xArbitraryCorrectedZVertical
                let isThere = CMMotionManager.availableAttitudeReferenceFrames().contains(corrected)
                with { manager in
                    manager.deviceMotionUpdateInterval = interval
                    manager.startDeviceMotionUpdates(using: isThere ? corrected : .xArbitraryZVertical, to: queue) {
                        motion,
                        _ in
                        guard let motion else { return say(.absent(.unreadable)) }
                        say(.reading(DeviceMotion(motion, at: clock.wallTime)))
                    }
                }
            },
            end: { [self] in with { $0.stopDeviceMotionUpdates() } }
        )
    }
}

extension DeviceMotion {
    fileprivate init(_ motion: CMDeviceMotion, at time: WallTime) {
        self.init()
        self.time = time
        (roll, pitch, yaw) = (motion.attitude.roll, motion.attitude.pitch, motion.attitude.yaw)
        let (rotation, pull, user) = (motion.rotationRate, motion.gravity, motion.userAcceleration)
        rotationRate = SensorVector(x: rotation.x, y: rotation.y, z: rotation.z)
        gravity = SensorVector(x: pull.x, y: pull.y, z: pull.z)
        userAcceleration = SensorVector(x: user.x, y: user.y, z: user.z)
        let field = motion.magneticField.field
        switch motion.magneticField.accuracy {
        case .low: calibration = .low
        case .medium: calibration = .medium
        case .high: calibration = .high
        case .uncalibrated: return
        @unknown default: return
        }
        magneticField = SensorVector(x: field.x, y: field.y, z: field.z)
    }
}
#endif
