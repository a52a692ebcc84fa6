import CoreLocation
import CoreMotion
import Dispatch
import Foundation
import Instrument
import InstrumentSensors
import InstrumentTestKit
import Network
import Testing
import UIKit

/// Lets everything happen that was sent to the main queue, and what that sends there in turn.
private func settle() async {
    for _ in 0..<10 {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }
}

private final class Readings<Reading: Sendable>: Sendable {
    private let updates = Lock<[SensorUpdate<Reading>]>([])
    var all: [SensorUpdate<Reading>] { updates.withLock { $0 } }
    var readings: [Reading] { all.compactMap(\.reading) }
    func append(_ update: SensorUpdate<Reading>) { updates.withLock { $0.append(update) } }
}

@MainActor
@Suite("Sensors of a phone over declared classes", .serialized)
struct SensorTests {
    @Test("The battery is watched while it has a listener, and a level of -1 is unknown")
    func battery() async {
        let (sensors, readings, device) = (HandheldSensors(), Readings<Battery>(), UIDevice.current)
        device.simulate(battery: -1, .unknown)
        let run = sensors.battery.start { readings.append($0) }
        await settle()
        #expect(device.isBatteryMonitoringEnabled)
        device.simulate(battery: 0.5, .charging)
        await settle()
        run.stop()
        await settle()
        #expect(!device.isBatteryMonitoringEnabled)
        device.simulate(battery: 0.75, .full)
        await settle()
        #expect(readings.readings == [Battery(state: .unknown), Battery(level: 0.5, state: .charging)])
    }

    @Test(
        "Orientations are asked for once and given back",
        arguments: [
            (UIDeviceOrientation.portrait, DeviceOrientation.portrait), (.portraitUpsideDown, .portraitUpsideDown),
            (.landscapeLeft, .landscapeLeft), (.landscapeRight, .landscapeRight), (.faceUp, .faceUp),
            (.faceDown, .faceDown),
        ]
    )
    func orientation(_ given: UIDeviceOrientation, _ expected: DeviceOrientation) async {
        let (sensors, readings, device) = (HandheldSensors(), Readings<DeviceOrientation>(), UIDevice.current)
        device.simulate(.unknown)
        let runs = [sensors.orientation.start { readings.append($0) }, sensors.orientation.start { _ in }]
        await settle()
        #expect(device.orientationRequestCount == 1)
        device.simulate(given)
        await settle()
        for run in runs { run.stop() }
        await settle()
        #expect(device.orientationRequestCount == 0)
        #expect(readings.readings == [.unknown, expected])
    }

    @Test("Proximity is absent on a device without the sensor")
    func proximity() async {
        let (sensors, readings, device) = (HandheldSensors(), Readings<Bool>(), UIDevice.current)
        device.hasProximitySensor = false
        let run = sensors.proximity.start { readings.append($0) }
        await settle()
        device.hasProximitySensor = true
        device.simulate(proximity: true)
        await settle()
        run.stop()
        await settle()
        device.simulate(proximity: false)
        #expect(readings.all == [.absent(.missing), .reading(true)])
        #expect(!device.isProximityMonitoringEnabled)
    }

    @Test("Motion is read while it has a listener; an error is unreadable, a missing sensor missing")
    func motion() {
        CMMotionManager.frames = [.xArbitraryZVertical]
        let sensors = MotionSensors(every: .milliseconds(100), clock: VirtualClock())
        let manager = CMMotionManager.latest
        let accelerations = Readings<Acceleration>()
        let run = sensors.accelerometer.start { accelerations.append($0) }
        #expect(manager?.accelerometerUpdateInterval == 0.1)
        manager?.simulate(CMAcceleration(x: 1, y: 2, z: 3))
        manager?.simulate(CMAcceleration?.none)
        run.stop()
        #expect(manager?.accelerometerHandler == nil)
        #expect(accelerations.readings.map(\.acceleration) == [SensorVector(x: 1, y: 2, z: 3)])
        #expect(accelerations.all.last?.absence == .unreadable)
        #expect(sensors.magnetometer.current().absence == .missing)

        let rotations = Readings<RotationRate>()
        let rotating = sensors.gyroscope.start { rotations.append($0) }
        manager?.simulate(CMRotationRate(x: 4, y: 5, z: 6))
        rotating.stop()
        #expect(rotations.readings.count == 1)
        #expect(manager?.gyroHandler == nil)
    }

    @Test("Fused motion uses the corrected frame where the device has it, and leaves out an uncalibrated field")
    func deviceMotion() {
        CMMotionManager.frames = [.xArbitraryZVertical, .xArbitraryCorrectedZVertical]
        let sensors = MotionSensors(clock: VirtualClock())
        let (manager, readings) = (CMMotionManager.latest, Readings<DeviceMotion>())
        let run = sensors.deviceMotion.start { readings.append($0) }
        #expect(manager?.usedFrame == .xArbitraryCorrectedZVertical)
        manager?.simulate(CMDeviceMotion(pitch: 0.2, accuracy: .uncalibrated))
        manager?.simulate(CMDeviceMotion(pitch: 0.2, accuracy: .high))
        run.stop()
        #expect(readings.readings.map(\.pitch) == [0.2, 0.2])
        #expect(readings.readings.map(\.magneticField) == [SensorVector(), SensorVector(x: 20, y: 30, z: 40)])
    }

    @Test("Positions are coarse, unknown parts are absent, and a denial is denied")
    func location() async {
        let (sensors, readings) = (LocationSensors(), Readings<Location>())
        let run = sensors.location.start { readings.append($0) }
        await settle()
        guard let manager = CLLocationManager.latest else {
            Issue.record("no manager was made")
            return
        }
        #expect(manager.isUpdatingLocation)
        #expect(manager.desiredAccuracy == kCLLocationAccuracyHundredMeters)
        let place = CLLocation(latitude: 48, longitude: 11, accuracy: 100)
        place.floor = CLFloor(level: 2)
        manager.delegate?.locationManager(
            manager,
            didUpdateLocations: [CLLocation(latitude: 1, longitude: 1, accuracy: -1), place]
        )
        manager.delegate?.locationManager(
            manager,
            didUpdateLocations: [CLLocation(latitude: 1, longitude: 1, accuracy: -1)]
        )
        manager.delegate?.locationManager(manager, didFailWithError: CLError(.locationUnknown))
        manager.delegate?.locationManager(manager, didFailWithError: CLError(.denied))
        manager.authorizationStatus = .denied
        manager.delegate?.locationManagerDidChangeAuthorization(manager)
        run.stop()
        await settle()
        #expect(!manager.isUpdatingLocation)
        #expect(readings.readings.map(\.latitude) == [48, nil])
        #expect(readings.readings.first?.speed == nil)
        #expect(readings.readings.first?.floor == 2)
        #expect(readings.all.compactMap(\.absence) == [.denied, .denied])
    }

    @Test("A heading of negative accuracy is invalid")
    func heading() async {
        let (sensors, readings) = (LocationSensors(), Readings<Heading>())
        let run = sensors.heading.start { readings.append($0) }
        await settle()
        guard let manager = CLLocationManager.latest else {
            Issue.record("no manager was made")
            return
        }
        #expect(manager.isUpdatingHeading && !manager.isUpdatingLocation)
        let heading = CLHeading()
        manager.delegate?.locationManager(manager, didUpdateHeading: heading)
        (heading.headingAccuracy, heading.magneticHeading, heading.trueHeading) = (5, 90, 92)
        manager.delegate?.locationManager(manager, didUpdateHeading: heading)
        run.stop()
        await settle()
        #expect(readings.readings.map(\.magneticHeading) == [nil, 90])
        #expect(readings.readings.map(\.trueHeading) == [nil, 92])
    }

    @Test("The sensors of a phone are all there")
    func all() {
        let sensors = Sensors.apple(clock: VirtualClock())
        #expect(sensors.location.current() == .absent(.silent))
        #expect(sensors.magnetometer.current().absence == .disallowed)
    }

    @Test("Reachability follows the path monitor until it is stopped")
    func reachability() async {
        let reachability = PathReachability()
        #expect(reachability.isOnline)
        let run = reachability.start()
        let monitor = NWPathMonitor.latest
        var changes = reachability.changes().makeAsyncIterator()
        monitor?.simulate(.unsatisfied)
        #expect(!reachability.isOnline)
        #expect(await changes.next() == false)
        monitor?.simulate(.satisfied)
        #expect(reachability.isOnline)
        monitor?.simulate(.requiresConnection)
        #expect(!reachability.isOnline)
        run.stop()
        run.stop()
        monitor?.simulate(.satisfied)
        #expect(!reachability.isOnline)
    }
}
