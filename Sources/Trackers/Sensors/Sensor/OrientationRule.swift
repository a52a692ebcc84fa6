internal import Instrument

/// The orientation of a device, computed from the direction of gravity, with hysteresis at the borders.
///
/// The axis with the largest component of gravity decides. Another axis wins only if it is stronger by a fifth of the
/// acceleration, and nothing changes while the device is shaken or falls (an acceleration outside 0.5 to 1.5 g).
struct OrientationRule: Sendable {
    private static let margin = 0.2
    private static let restingPull = 0.5...1.5

    private var held = DeviceOrientation.unknown

    /// Upright, gravity points against y; with the screen up, against z; with the right side up, against x.
    mutating func orientation(after acceleration: SensorVector) -> DeviceOrientation {
        guard let pull = acceleration.magnitude, Self.restingPull.contains(pull),
            let x = acceleration.x, let y = acceleration.y, let z = acceleration.z
        else { return held }
        let shares: [(DeviceOrientation, Double)] = [
            (.portrait, -y / pull), (.portraitUpsideDown, y / pull), (.landscapeLeft, -x / pull),
            (.landscapeRight, x / pull), (.faceUp, -z / pull), (.faceDown, z / pull),
        ]
        guard let strongest = shares.max(by: { $0.1 < $1.1 }) else { return held }
        let present = shares.first { $0.0 == held }?.1 ?? -1
        if strongest.1 > present + Self.margin { held = strongest.0 }
        return held
    }
}

/// The orientation of a device, from its accelerometer.
package final class OrientationSource: SensorSource {
    private let accelerometer: any SensorSource<Acceleration>
    private let rule = Lock(OrientationRule())

    /// Creates a source that observes `accelerometer` while it runs.
    package init(_ accelerometer: some SensorSource<Acceleration>) { self.accelerometer = accelerometer }

    /// The orientation by a current reading.
    package func current() -> SensorUpdate<DeviceOrientation> { orientation(of: accelerometer.current()) }

    /// Reports the orientation at each reading.
    package func start(_ receive: @escaping @Sendable (SensorUpdate<DeviceOrientation>) -> Void) -> SensorRun {
        accelerometer.start { [self] in receive(orientation(of: $0)) }
    }

    private func orientation(of update: SensorUpdate<Acceleration>) -> SensorUpdate<DeviceOrientation> {
        switch update {
        case .reading(let reading):
            .reading(rule.withLock { $0.orientation(after: reading.acceleration) })
        case .absent(let absence): .absent(absence)
        }
    }
}
