internal import Instrument

/// Sources of a content security policy (CSP Level 3, section 2.3.1).
package enum ContentSecurityPolicy {
    /// The source that allows one inline script or style: `sha256-` and the digest in Base64.
    package static func hashSource(of text: String) -> String {
        "sha256-" + Base64.encode(SHA256.digest(of: text.utf8))
    }
}
