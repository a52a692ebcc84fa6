internal import COpenSSL
package import Instrument

extension LinkedLibrary {
    /// OpenSSL.
    package static var openSSL: LinkedLibrary {
        let text = OpenSSL_version(OPENSSL_VERSION).map { String(cString: $0) } ?? ""
        // `OpenSSL 3.0.17 1 Jul 2025`
        let words = text.split(separator: " ")
        guard words.count > 1 else { return LinkedLibrary("OpenSSL", "unknown") }
        return LinkedLibrary(String(words[0]), String(words[1]))
    }
}
