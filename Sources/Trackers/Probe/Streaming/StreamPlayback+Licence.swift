internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

// The licence that encrypted media waits for.
extension StreamPlayback {
    /// Asks for the licence once the initialization section of the first encrypted segment is there, beside the request
    /// for the segment.
    mutating func askLicence(for segment: MediaSegment, _ now: Timestamp) {
        guard licence.isToBeAsked(for: segment), store.isReady(for: segment) else { return }
        let section = segment.initialization.flatMap { store.bytes(of: $0) } ?? []
        licence.ask(body: ContentProtection.data(in: section, declared: segment.encryption?.licenceData ?? []))
        fetchLicence(now)
    }

    /// Requests the licence, or repeats the request once its retry is due.
    mutating func fetchLicence(_ now: Timestamp) {
        guard licence.body != nil, let url = licence.url else { return }
        apply(.fetch(.licence, url, nil), now)
    }

    /// Continues with the segments that waited for the licence.
    mutating func arrived(licence response: ResourceResponse, _ now: Timestamp) throws(ResourceFailure) {
        guard !response.body.isEmpty else {
            throw .wrongContent("the licence must not be empty; check the address of the licence server")
        }
        licence.grant(at: response.arrivals.last ?? now.instant)
        for role in StreamRole.media { takeHeld(role, now) }
        takeParts(now)
    }
}
