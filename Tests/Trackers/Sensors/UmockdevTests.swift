#if os(Linux)
import Foundation
import TestTraits
import Testing

@Suite("Mocked devices", .ownThread)
struct UmockdevTests {
    @Test("A program reads an accelerometer, a magnetometer and a battery that umockdev mocks under /sys")
    func devices() throws {
        guard isInstalled("umockdev-run", for: "devices under a mocked /sys") else { return }
        // −256 × 0.0383071 = −9.8066 m/s² = −1 g along the device's y, which the matrix makes of the chip's x.
        // 0.2 and −0.4 gauss are 20 and −40 µT.
        let tree = try Tree([
            "/devices": """
            P: /devices/platform/acc/iio:device0
            E: DEVTYPE=iio_device
            E: SUBSYSTEM=iio
            A: name=bma250\\n
            A: in_accel_x_raw=-256\\n
            A: in_accel_y_raw=0\\n
            A: in_accel_z_raw=0\\n
            A: in_accel_scale=0.0383071\\n
            A: in_accel_mount_matrix=0, 1, 0; 1, 0, 0; 0, 0, 1\\n

            P: /devices/platform/mag/iio:device1
            E: DEVTYPE=iio_device
            E: SUBSYSTEM=iio
            A: in_magn_x_raw=200\\n
            A: in_magn_y_raw=nan\\n
            A: in_magn_z_raw=-400\\n
            A: in_magn_scale=0.001\\n

            P: /devices/platform/power/power_supply/BAT0
            E: SUBSYSTEM=power_supply
            A: type=Battery\\n
            A: capacity=73\\n
            A: status=Not charging\\n

            """
        ])
        let child = try Child("umockdev-run", "-d", tree.root + "/devices", "--", Child.program)
        defer { child.end() }
        #expect(
            child.lines() == [
                "accelerometer 0.0 -1.0 0.0", "gyroscope missing", "magnetometer 20.0 - -40.0",
                "battery 0.73 unplugged",
                "orientation portrait",
            ]
        )
    }
}
#endif
