package import InstrumentHTTP
package import InstrumentXML

extension ManifestError {
    /// Creates the error of an MPD that is not read as XML.
    package init(_ error: MarkupError, at url: HTTPURL) {
        let code: Code =
            switch error.code {
            case .malformed: .malformed
            case .limitExceeded: .limitExceeded
            case .encoding: .unsupported
            case .documentType: .referenceRefused
            case .cancelled: .cancelled
            }
        self.init(code, error.message, line: error.line, url: url)
    }
}

extension MarkupLimits {
    /// The limits of an MPD's XML.
    package init(_ limits: ManifestLimits) {
        self.init(
            bytes: limits.bytes,
            textBytes: limits.lineBytes,
            depth: limits.depth,
            elements: limits.elements,
            attributes: limits.attributes
        )
    }
}
