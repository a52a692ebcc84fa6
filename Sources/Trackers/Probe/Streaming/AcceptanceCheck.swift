internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests

/// Judges media by what the profile's player takes: some that every demuxer reads, no browser plays.
struct AcceptanceCheck {
    let source: MediaSource
    let acceptance: MediaAcceptance
    /// The codecs that the manifest declares for the rendition, perhaps among others.
    let declaredCodecs: [String]

    /// What follows from an initialization section: nothing, a warning, or the end of loading.
    func effects(ofInitialization bytes: [UInt8], of segment: MediaSegment) -> [StreamEffect] {
        do throws(MediaRefusal) {
            let check = try InitializationCheck(bytes)
            if let contradiction = CodecFamily.contradiction(of: check.families, declared: declaredCodecs) {
                throw contradiction
            }
            if let refusal = check.chromiumRefusal { throw refusal }
            return []
        } catch {
            return effects(of: error, .initialization, segment.initialization?.url ?? segment.url)
        }
    }

    /// What follows from the first segment of a rendition.
    ///
    /// - Parameter section: the segment's initialization section; nil if it has none, or the section is not there.
    func effects(
        ofMedia media: [UInt8],
        _ content: SegmentContent,
        of segment: MediaSegment,
        section: [UInt8]?
    ) -> [StreamEffect] {
        // Without its section, nothing is known of a segment.
        guard segment.initialization == nil || section != nil else { return [] }
        var effects: [StreamEffect] = []
        // A segment that begins with its own initialization section, which the manifest may contradict.
        if segment.initialization == nil, content.wrap == nil, content.hasTimeline {
            effects = self.effects(ofInitialization: media, of: segment)
            if effects.contains(where: \.endsLoading) { return effects }
        }
        let finding = SegmentAcceptance.finding(
            in: media,
            content,
            initialization: section ?? [],
            transmuxer: acceptance.transmuxer
        )
        // The initialization section was checked when it arrived.
        guard let finding, !finding.isOfInitialization else { return effects }
        if finding.isWhole { return effects + self.effects(of: finding.refusal, .segment, segment.url) }
        return effects + [.warned(StreamWarning(.unplayableMedia, finding.refusal.message, segment.url))]
    }

    private func effects(of refusal: MediaRefusal, _ phase: ProbeError.Phase, _ url: HTTPURL) -> [StreamEffect] {
        switch acceptance.reaction(to: refusal.ground) {
        case .nothing: return []
        case .warn: return [.warned(StreamWarning(.unplayableMedia, refusal.message, url))]
        case .fail:
            let error = ProbeError(.unplayableMedia, phase, source, refusal.message, url: url.description)
            return [.exhausted(error)]
        }
    }
}

extension StreamEffect {
    fileprivate var endsLoading: Bool { if case .exhausted = self { true } else { false } }
}

extension Presentation {
    /// The codecs that the manifest declares for a rendition, perhaps among others.
    func declaredCodecs(of id: Rendition.ID) -> [String] {
        guard let rendition = rendition(id) else { return [] }
        if !rendition.codecs.isEmpty { return rendition.codecs }
        // An audio rendition of HLS has the codecs of the variants that it belongs to.
        let lists = variants.filter { $0.audio.contains(id) }.map(\.codecs)
        return lists.contains([]) ? [] : Array(Set(lists.joined()).sorted())
    }
}
