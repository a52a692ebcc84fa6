package import Instrument
package import InstrumentHTTP

/// The address of the next patch of an MPD (ISO/IEC 23009-1, 5th edition, 5.15: `PatchLocation`).
package struct PatchLocation: Hashable, Sendable {
    /// The address.
    package var url: HTTPURL
    /// The instant, by the local clock, from which on the patch is no longer available (`@ttl` after the MPD's
    /// `@publishTime`); nil for no limit.
    package var expiry: WallTime?

    /// Creates a location.
    package init(url: HTTPURL, expiry: WallTime? = nil) {
        self.url = url
        self.expiry = expiry
    }

    /// Whether the patch may be requested at an instant.
    package func isAvailable(at now: WallTime) -> Bool { expiry.map { now < $0 } ?? true }
}
