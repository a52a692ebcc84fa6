internal import Instrument
internal import InstrumentManifests
internal import InstrumentXML

extension Rule {
    /// The tracks of a rendition change.
    package static let tracksChanged = Rule(
        "tracks-changed",
        .error,
        "The tracks change from one segment to the next",
        explanation: "Players in browsers wait for the missing track and stall; others lose the picture or the sound.",
        source: "RFC 8216bis section 4.4.4.3; ISO/IEC 23009-1 clause 5.3.5.1",
        checks: [
            .segment { facts, rendition, _ in
                guard facts.hasJudgedTracks || facts.isTextAlone, let before = facts.predecessor(in: rendition) else {
                    return []
                }
                guard let change = trackChange(from: before, to: facts) else { return [] }
                let isReturn = facts.isReturn(from: before, in: rendition) {
                    $0.hasJudgedTracks && trackChange(from: $0, to: facts) == nil
                }
                return isReturn ? [] : [change]
            }
        ]
    )

    private static func trackChange(from before: SegmentFacts, to facts: SegmentFacts) -> Problem? {
        let (old, tracks) = (before.tracks.map(\.label), facts.tracks.map(\.label))
        let new = facts.isTextAlone ? ["subtitles"] : tracks
        guard old != new else { return nil }
        // A track may end a little before the others.
        let isTail = facts.isLast && facts.declaredDuration < 1_000_000_000 && facts.kinds.isSubset(of: before.kinds)
        guard !isTail else { return nil }
        return Problem(
            found: "\(new.joined(separator: " and ")) in segment \(facts.sequence)",
            expected: "\(old.joined(separator: " and ")) as in segment \(before.sequence)",
            advice: "Keep the tracks and codecs up to the next EXT-X-DISCONTINUITY or period; check the encoder."
        )
    }

    /// A declared track has no media.
    package static let trackMissing = Rule(
        "track-missing",
        .error,
        "A declared track is missing",
        explanation: "Players prepare a decoder for the track, and wait for its media or play without it.",
        source: "RFC 8216bis section 4.4.6.2; ISO/IEC 23009-1 clause 5.3.7.2",
        checks: [
            .segment { facts, rendition, history in
                guard facts.hasJudgedTracks || facts.isTextAlone else { return [] }
                let known = rendition.facts.filter { $0.discontinuity == facts.discontinuity }
                let declared = declaredKinds(of: facts, history)
                for kind in SegmentFacts.Kind.allCases where !facts.kinds.contains(kind) {
                    // A track that vanishes has another rule.
                    guard let declaration = declared[kind], !known.contains(where: { $0.kinds.contains(kind) }) else {
                        continue
                    }
                    return [
                        Problem(
                            found: "no \(kind.name) in segment \(facts.sequence)",
                            expected: "\(kind.name), which \(declaration)",
                            advice: "Check the encoder's input, or correct the declaration."
                        )
                    ]
                }
                return []
            }
        ]
    )

    /// What declares tracks of each kind, as a clause.
    private static func declaredKinds(of facts: SegmentFacts, _ history: StreamHistory) -> [SegmentFacts.Kind: String] {
        var declared: [SegmentFacts.Kind: String] = [:]
        if !facts.isKeyframeOnly { for kind in facts.declaredKinds { declared[kind] = "the container declares" } }
        guard let rendition = history.presentation?.renditions.first(where: { $0.id.description == facts.rendition })
        else { return declared }
        guard rendition.kind != .subtitles else { return [:] }
        if history.presentation?.format == .dash {
            switch rendition.kind {
            case .video: declared[.video] = "the MPD declares"
            case .audio: declared[.audio] = "the MPD declares"
            case .muxed:
                for kind in codecKinds(rendition.codecs) { declared[kind] = "the MPD declares by its codecs" }
            case .subtitles: break
            }
            return declared
        }
        for variant in history.variants(playing: facts.rendition) {
            let kinds = codecKinds(variant.codecs)
            if kinds.contains(.video) { declared[.video] = "CODECS declares" }
            // Sound in another rendition is declared there.
            if kinds.contains(.audio), variant.audio.contains(rendition.id), !history.lacksGroup(of: variant) {
                declared[.audio] = "CODECS declares"
            }
        }
        if rendition.kind == .audio { declared[.audio] = "the playlist declares" }
        return declared
    }

    private static func codecKinds(_ codecs: [String]) -> Set<SegmentFacts.Kind> {
        var kinds: Set<SegmentFacts.Kind> = []
        if codecs.contains(where: CodecList.isAudio) { kinds.insert(.audio) }
        if codecs.contains(where: CodecFamily.isKnownVideo) { kinds.insert(.video) }
        return kinds
    }

    /// The pictures have another size than declared.
    package static let resolutionMismatch = Rule(
        "resolution-mismatch",
        .warning,
        "The pictures have another size than declared",
        explanation: "Players choose a variant by its size, and show more or less than the screen needs.",
        source: "RFC 8216bis section 4.4.6.2; ISO/IEC 23009-1 clause 5.3.7.2",
        checks: [
            .segment { facts, _, history in
                guard facts.failure == nil, let track = facts.tracks.first(where: \.isVideo), let size = track.size
                else { return [] }
                for declared in declaredSizes(of: facts, history) where !track.isShown(as: declared) {
                    return [
                        Problem(
                            found: "\(size.width)×\(size.height) in segment \(facts.sequence)",
                            expected: "the declared \(declared.width)×\(declared.height)",
                            advice: "Correct RESOLUTION or @width and @height, or the encoder's settings."
                        )
                    ]
                }
                return []
            }
        ]
    )

    /// The sizes that variants declare, or the entry of keyframes, or the representation of trick mode.
    private static func declaredSizes(of facts: SegmentFacts, _ history: StreamHistory) -> [Resolution] {
        guard facts.isKeyframeOnly else { return history.variants(playing: facts.rendition).compactMap(\.resolution) }
        if let playlists = history.multivariant?.keyframePlaylists {
            return playlists.filter { $0.name == facts.rendition }.compactMap(\.size)
        }
        guard let levels = history.manifest?.levels(of: facts),
            let width = levels.representation.integer("width") ?? levels.set.integer("width"),
            let height = levels.representation.integer("height") ?? levels.set.integer("height")
        else { return [] }
        return [Resolution(width: Int(clamping: width), height: Int(clamping: height))]
    }

    /// A segment does not begin with a keyframe although that is promised.
    package static let keyframeMissing = Rule(
        "keyframe-missing",
        .error,
        "A segment does not begin with a keyframe, as the manifest promises",
        explanation:
            "After a switch or a seek to the segment, viewers see damaged pictures up to the next keyframe.",
        source: "RFC 8216bis sections 4.4.2.1 and 4.4.3.6; ISO/IEC 23009-1 clause 5.3.7.2 (startWithSAP)",
        checks: [
            .segment { facts, rendition, history in
                guard facts.hasJudgedTracks else { return [] }
                let track = facts.tracks.first(where: \.isVideo)
                // A playlist of keyframes promises pictures, too.
                guard track.map({ !$0.startsWithKeyframe }) ?? facts.isKeyframeOnly,
                    let promise = keyframePromise(facts, rendition, history)
                else { return [] }
                return [
                    Problem(
                        found:
                            "\(track == nil ? "no picture" : "another frame") at the start of segment \(facts.sequence)",
                        expected: "a keyframe, by \(promise)",
                        advice: "Let the encoder begin each segment with a keyframe, or remove the promise."
                    )
                ]
            }
        ]
    )

    private static func keyframePromise(
        _ facts: SegmentFacts,
        _ rendition: RenditionHistory,
        _ history: StreamHistory
    ) -> String? {
        if let manifest = history.manifest {
            return facts.isKeyframeOnly ? "the trick mode of its set" : manifest.accessPoint(of: facts)
        }
        if facts.isKeyframeOnly { return "EXT-X-I-FRAMES-ONLY" }
        let isPromised =
            rendition.current?.playlist.hasIndependentSegments == true
            || history.presentation?.hasIndependentSegments == true
        return isPromised ? "EXT-X-INDEPENDENT-SEGMENTS" : nil
    }
}

extension SegmentFacts {
    /// Whether the tracks of the segment say what its rendition has.
    fileprivate var hasJudgedTracks: Bool { hasAllBytes && !tracks.isEmpty }

    /// Whether subtitles came alone.
    fileprivate var isTextAlone: Bool { hasAllBytes && tracks.isEmpty && subtitles != nil }

    /// The segment before this one in the same period, or since the same discontinuity.
    fileprivate func predecessor(in rendition: RenditionHistory) -> SegmentFacts? {
        rendition.facts.last { before in
            before.sequence < sequence && before.discontinuity == discontinuity && before.hasJudgedTracks
        }
    }

    /// Whether a segment before `before`, since the same discontinuity, had what this one has: the change from `before`
    /// to this one is part of an earlier change, which has a finding.
    func isReturn(
        from before: SegmentFacts,
        in rendition: RenditionHistory,
        isSame: (SegmentFacts) -> Bool
    ) -> Bool {
        rendition.facts.contains {
            $0.sequence < before.sequence && $0.discontinuity == discontinuity && isSame($0)
        }
    }
}

extension SegmentFacts.Track {
    /// The kind and the codec for people.
    fileprivate var label: String { "\(kind.name) (\(codec))" }

    /// Whether the pictures have a resolution: by their own size, or by the one to which the shape of their samples
    /// stretches them, in one of the dimensions, rounded to even numbers (RFC 8216bis section 4.4.6.2).
    fileprivate func isShown(as declared: Resolution) -> Bool {
        guard let size, size != declared else { return true }
        func isNear(_ count: Int, _ computed: Double) -> Bool { abs(Double(count) - computed) < 2 }
        guard let sampleAspect else { return false }
        return declared.height == size.height && isNear(declared.width, Double(size.width) * sampleAspect)
            || declared.width == size.width && isNear(declared.height, Double(size.height) / sampleAspect)
    }
}

extension ManifestVersion {
    /// The attribute that promises that each segment of a representation begins with a keyframe; nil without one.
    fileprivate func accessPoint(of facts: SegmentFacts) -> String? {
        guard let levels = levels(of: facts) else { return nil }
        let type = levels.representation.word("startWithSAP") ?? levels.set.word("startWithSAP")
        guard let type, ["1", "2"].contains(type) else { return nil }
        return "startWithSAP=\"\(type)\""
    }

    /// The elements of a segment's representation: in the period of the segment, else in the first one that has it.
    func levels(
        of facts: SegmentFacts
    ) -> (period: MarkupElement, set: MarkupElement, representation: MarkupElement)? {
        let own = periods.filter { $0.start == facts.discontinuity }
        for period in own + periods {
            for set in period.sets {
                for element in set.all("Representation") {
                    // The name of a rendition ends with the identifier of its representation.
                    guard let id = element["id"], facts.rendition.hasSuffix("/\(id)") else { continue }
                    return (period.element, set, element)
                }
            }
        }
        return nil
    }
}
