import Foundation

import InstrumentSockets

/// Another client of an mpv, as a person's remote control is one.
final class UnixClient {
    private let descriptor: Int32

    init(_ path: String) throws { descriptor = try UnixSocket.connect(to: path).get() }
    deinit { close(descriptor) }

    /// Sends a line.
    func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }
}
