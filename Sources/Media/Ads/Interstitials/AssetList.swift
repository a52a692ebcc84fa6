package import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentText

/// An asset of an interstitial.
package struct InterstitialAsset: Hashable, Sendable {
    /// The address.
    package var url: HTTPURL
    /// The duration in nanoseconds.
    package var duration: Int64

    /// Creates an asset.
    package init(url: HTTPURL, duration: Int64) { (self.url, self.duration) = (url, max(0, duration)) }
}

/// A reason why a list of assets is not used.
package struct AssetListError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message: the value that was found, and the value that the reader expects.
    package var description: String
}

/// The assets that a list names (RFC 8216bis, appendix D.2, `X-ASSET-LIST`).
package struct AssetList: Hashable, Sendable {
    /// The assets; empty for a list without assets, which plays nothing.
    package var assets: [InterstitialAsset] = []
    /// Assets that were left out.
    package var findings: [AdFinding] = []

    /// Reads a list.
    /// - Parameters:
    ///   - bytes: the list in JSON.
    ///   - url: the address of the list after redirects, the base of its references.
    ///   - limits: the most bytes and assets. Assets beyond the limit are left out.
    package init(
        parsing bytes: [UInt8],
        at url: HTTPURL,
        limits: AdLimits = AdLimits()
    ) throws(AssetListError) {
        guard bytes.count <= limits.bytes else {
            throw AssetListError(description: "a list of assets must have at most \(limits.bytes) bytes")
        }
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes) } catch { throw AssetListError(description: "\(error)") }
        guard case .array(let elements) = json["ASSETS"] else {
            throw AssetListError(description: "a list of assets must be an object with the array `ASSETS`")
        }
        if elements.count > limits.assets {
            note("the list has \(elements.count) assets; the first \(limits.assets) are used")
        }
        for element in elements.prefix(limits.assets) { add(element, url) }
    }

    private mutating func add(_ element: JSONValue, _ base: HTTPURL) {
        guard let text = element["URI"]?.string, let duration = element["DURATION"]?.seconds, duration >= 0,
            let nanoseconds = Int64(exactly: (duration * 1e9).rounded())
        else { return note("an asset must have `URI`, and `DURATION` in seconds") }
        do throws(HTTPError) {
            assets.append(InterstitialAsset(url: try base.resolving(text), duration: nanoseconds))
        } catch {
            note("the address of an asset must be http or https")
        }
    }

    private mutating func note(_ message: String) {
        guard findings.count < 100 else { return }
        findings.append(AdFinding(.error, rule: "RFC 8216bis, appendix D.2", path: "ASSETS", message: message))
    }
}

extension JSONValue {
    fileprivate var seconds: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value.isFinite ? value : nil
        default: nil
        }
    }
}

extension Interstitial {
    /// The address to fetch, with the parameters of RFC 8216bis, appendix D.2.
    /// - Parameters:
    ///   - primaryID: identifies the playback of the content (`_HLS_primary_id`).
    ///   - startOffset: nanoseconds from the start of the interstitial at which the player joins; 0 when it plays from
    ///     its start.
    package func request(primaryID: String, startOffset: Int64 = 0) throws(HTTPError) -> HTTPURL {
        let url =
            switch source {
            case .asset(let url), .list(let url): url
            }
        return try url.adding(primaryID: primaryID, startOffset: startOffset)
    }
}

extension InterstitialAsset {
    /// The address to fetch, with `_HLS_primary_id`.
    package func request(primaryID: String) throws(HTTPError) -> HTTPURL {
        try url.adding(primaryID: primaryID, startOffset: 0)
    }
}

extension HTTPURL {
    fileprivate func adding(primaryID: String, startOffset: Int64) throws(HTTPError) -> HTTPURL {
        var parameters = ["_HLS_primary_id=" + MacroValues.encoded(primaryID)]
        if startOffset > 0 {
            parameters.append("_HLS_start_offset=\((startOffset / 1_000_000).decimal(places: 3))")
        }
        guard let url = addingQuery(parameters) else {
            throw HTTPError(.invalidURL, "the address cannot have further query parameters; check it", url: self)
        }
        return url
    }
}
