internal import CZlib
package import Instrument

extension LinkedLibrary {
    /// zlib.
    package static var zlib: LinkedLibrary {
        LinkedLibrary("zlib", zlibVersion().map { String(cString: $0) } ?? "unknown")
    }
}
