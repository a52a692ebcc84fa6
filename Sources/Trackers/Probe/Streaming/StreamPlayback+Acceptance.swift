internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests

// Media that no browser plays.
extension StreamPlayback {
    /// Checks an initialization section.
    ///
    /// - Returns: whether the profile's player fails because of it, so that nothing more is loaded.
    mutating func refuses(initialization bytes: [UInt8], of segment: MediaSegment, _ role: StreamRole, _ now: Timestamp)
        -> Bool
    {
        guard role != .subtitles, let plan = plan(of: role) else { return false }
        do throws(MediaRefusal) {
            let check = try InitializationCheck(bytes)
            let declared = declaredCodecs(of: plan.rendition)
            if let contradiction = CodecFamily.contradiction(of: check.families, declared: declared) {
                throw contradiction
            }
            if let refusal = check.chromiumRefusal { throw refusal }
            return false
        } catch {
            return tell(error, .initialization, segment.initialization?.url ?? segment.url, now)
        }
    }

    /// Checks the first segment of a rendition.
    ///
    /// - Returns: whether the profile's player fails because of it, so that nothing more is loaded.
    mutating func refuses(
        segment media: [UInt8],
        _ content: SegmentContent,
        _ delivery: MediaFeed.Delivery,
        _ now: Timestamp
    ) -> Bool {
        let segment = delivery.segment
        let section = segment.initialization.flatMap { store.bytes(of: $0) }
        // Without its section, nothing is known of a segment.
        guard segment.initialization == nil || section != nil else { return false }
        // A segment that begins with its own initialization section, which the manifest may contradict.
        if segment.initialization == nil, content.wrap == nil, content.hasTimeline,
            refuses(initialization: media, of: segment, delivery.role, now)
        {
            return true
        }
        let finding = SegmentAcceptance.finding(
            in: media,
            content,
            initialization: section ?? [],
            transmuxer: profile.acceptance.transmuxer
        )
        // The initialization section was checked when it arrived.
        guard let finding, !finding.isOfInitialization else { return false }
        if finding.isWhole { return tell(finding.refusal, .segment, segment.url, now) }
        apply(.warned(StreamWarning(.unplayableMedia, finding.refusal.message, segment.url)), now)
        return false
    }

    private mutating func tell(
        _ refusal: MediaRefusal,
        _ phase: ProbeError.Phase,
        _ url: HTTPURL,
        _ now: Timestamp
    ) -> Bool {
        switch profile.acceptance.reaction(to: refusal.ground) {
        case .nothing: return false
        case .warn:
            apply(.warned(StreamWarning(.unplayableMedia, refusal.message, url)), now)
            return false
        case .fail:
            let error = ProbeError(.unplayableMedia, phase, source, refusal.message, url: url.description)
            apply(.exhausted(error), now)
            return true
        }
    }

    /// The codecs that the manifest declares for a rendition, perhaps among others.
    private func declaredCodecs(of id: Rendition.ID) -> [String] {
        guard let presentation = manifest.presentation, let rendition = presentation.rendition(id) else { return [] }
        if !rendition.codecs.isEmpty { return rendition.codecs }
        // An audio rendition of HLS has the codecs of the variants that it belongs to.
        let lists = presentation.variants.filter { $0.audio.contains(id) }.map(\.codecs)
        return lists.contains([]) ? [] : Array(Set(lists.joined()).sorted())
    }
}
