internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension Rule {
    /// The sound has other channels or another sampling rate than declared.
    package static let audioConfigurationMismatch = Rule(
        "audio-configuration-mismatch",
        .warning,
        "The sound has other channels or another sampling rate than declared",
        explanation:
            "Players choose between stereo and surround by the declaration, and set up the output of sound by it.",
        source: "RFC 8216bis section 4.4.6.1 (CHANNELS, SAMPLE-RATE); ISO/IEC 23009-1 clauses 5.3.7.2 and 5.8.5.4",
        checks: [
            .segment { facts, _, history in
                guard facts.failure == nil, let track = facts.tracks.first(where: { !$0.isVideo }),
                    let declared = DeclaredSound(of: facts, history)
                else { return [] }
                let problem = declared.channelProblem(track, facts) ?? declared.rateProblem(track, facts)
                return problem.map { [$0] } ?? []
            },
            .manifest { manifest, _ in AudioChannelConfiguration.problems(in: manifest) },
        ]
    )

    /// The pictures or the sound change without a discontinuity.
    package static let encodingChanged = Rule(
        "encoding-changed",
        .warning,
        "The encoding changes without EXT-X-DISCONTINUITY",
        explanation:
            "Players that set up a decoder once show damaged pictures, or play the sound too fast or too slow.",
        source: "RFC 8216bis section 4.4.4.3",
        checks: [
            .segment { facts, rendition, history in
                // Another initialization segment of DASH begins another representation or period.
                guard history.manifest == nil, facts.failure == nil, !facts.isKeyframeOnly,
                    rendition.current?.playlist.isJoined != true,
                    let before = rendition.facts.last(where: { before in
                        before.sequence < facts.sequence && before.discontinuity == facts.discontinuity
                            && before.failure == nil && !before.tracks.isEmpty
                    })
                else { return [] }
                for track in facts.tracks {
                    guard let old = before.tracks.first(where: { $0.isVideo == track.isVideo }),
                        old.codec == track.codec, let (found, expected) = track.change(from: old)
                    else { continue }
                    let isReturn = facts.isReturn(from: before, in: rendition) { known in
                        known.failure == nil
                            && known.tracks.contains {
                                $0.isVideo == track.isVideo && $0.codec == track.codec && track.change(from: $0) == nil
                            }
                    }
                    if isReturn { continue }
                    return [
                        Problem(
                            found: "\(found) in segment \(facts.sequence)",
                            expected: "\(expected) as in segment \(before.sequence), or EXT-X-DISCONTINUITY before it",
                            advice: "Mark the change with EXT-X-DISCONTINUITY, or keep the encoder's settings."
                        )
                    ]
                }
                return []
            }
            .explained(by: .discontinuity)
        ]
    )
}

extension SegmentFacts.Track {
    /// What changed since another track of the same kind and codec; nil without a change.
    fileprivate func change(from old: Self) -> (found: String, expected: String)? {
        if let size, let other = old.size, size != other {
            return ("\(size.width)×\(size.height)", "\(other.width)×\(other.height)")
        }
        if let channelCount, let other = old.channelCount, channelCount != other {
            return (channelCount.shownChannels, other.shownChannels)
        }
        if let sampleRate, let other = old.sampleRate, sampleRate != other {
            return ("\(sampleRate) Hz", "\(other) Hz")
        }
        return nil
    }
}

/// What a playlist or an MPD declares of the sound of a segment.
private struct DeclaredSound {
    /// The declarations of channels of which one has to fit; none where nothing is declared that can be compared.
    private var channels: [(count: Int, text: String)] = []
    /// The sampling rates in Hz; none where nothing is declared.
    private var rates: [Int] = []
    private var codecs: [String] = []

    init?(of facts: SegmentFacts, _ history: StreamHistory) {
        guard let presentation = history.presentation,
            let rendition = presentation.renditions.first(where: { $0.id.description == facts.rendition })
        else { return nil }
        codecs = rendition.codecs
        if let manifest = history.manifest {
            guard let levels = manifest.levels(of: facts) else { return nil }
            read(levels.representation, levels.set)
        } else {
            codecs = presentation.variants.filter { $0.audio.contains(rendition.id) }.flatMap(\.codecs)
            guard case .playlist(let url) = rendition.source, let version = history.multivariant else { return nil }
            let tag = version.tags("EXT-X-MEDIA").first { tag in
                tag.attributes["URI"].flatMap { try? version.url.resolving($0) } == url
            }
            guard let tag, tag.attributes["TYPE"] == "AUDIO" else { return nil }
            read(tag.attributes)
        }
    }

    /// `CHANNELS` counts the channels, and those of a whole mix of objects or ambisonics where a second parameter names
    /// one.
    private mutating func read(_ attributes: [String: String]) {
        rates = attributes["SAMPLE-RATE"].flatMap { Int($0) }.map { [$0] } ?? []
        guard let text = attributes["CHANNELS"] else { return }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let isMix = parts.count > 1 && !["", "-"].contains(parts[1])
        guard !isMix, let count = parts.first.flatMap({ Int($0) }) else { return }
        channels = [(count, "CHANNELS=\"\(text.excerpt())\"")]
    }

    private mutating func read(_ representation: MarkupElement, _ set: MarkupElement) {
        let rate = representation.word("audioSamplingRate") ?? set.word("audioSamplingRate") ?? ""
        rates = rate.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        let own = Array(representation.all("AudioChannelConfiguration"))
        let elements = own.isEmpty ? Array(set.all("AudioChannelConfiguration")) : own
        channels = elements.flatMap { element -> [(count: Int, text: String)] in
            let text = "value=\"\((element["value"] ?? "").excerpt())\""
            return AudioChannelConfiguration(element)?.counts.map { (count: $0, text: text) } ?? []
        }
    }

    /// A channel that the decoder makes of one (parametric stereo), and channels of other substreams are not seen.
    private func hides(_ declared: Int, _ track: SegmentFacts.Track) -> Bool {
        if track.codec == "eac3" { return declared > 6 || codecs.contains { $0.lowercased().hasPrefix("ec+3") } }
        guard track.codec.hasPrefix("aac"), track.channelCount == 1, declared == 2 else { return false }
        return (track.sampleRate ?? 0) <= 24_000 || codecs.contains { $0.lowercased() == "mp4a.40.29" }
    }

    func channelProblem(_ track: SegmentFacts.Track, _ facts: SegmentFacts) -> Problem? {
        guard let count = track.channelCount, let first = channels.first,
            !channels.contains(where: { $0.count == count || hides($0.count, track) })
        else { return nil }
        return Problem(
            found: "\(count.shownChannels) in segment \(facts.sequence)",
            expected: "\(first.count.shownChannels), as \(first.text) declares",
            advice: "Correct the declared channels, or the encoder's settings."
        )
    }

    /// Spectral band replication plays at twice the rate that the container says, or at the one that it says.
    func rateProblem(_ track: SegmentFacts.Track, _ facts: SegmentFacts) -> Problem? {
        guard let rate = track.sampleRate, let first = rates.first, track.codec != "opus" else { return nil }
        let isAAC = track.codec.hasPrefix("aac")
        guard !rates.contains(where: { $0 == rate || isAAC && ($0 == 2 * rate || 2 * $0 == rate) }) else { return nil }
        return Problem(
            found: "a sampling rate of \(rate) Hz in segment \(facts.sequence)",
            expected: "the declared \(first) Hz",
            advice: "Correct SAMPLE-RATE or @audioSamplingRate, or the encoder's settings."
        )
    }
}

/// An `AudioChannelConfiguration` whose scheme is known.
struct AudioChannelConfiguration {
    /// The numbers of channels that the value may mean; none for a value that cannot be read.
    let counts: [Int]
    /// What the scheme expects as its value.
    let form: String

    /// The channels of each configuration from 1 on (ISO/IEC 23091-3, table 3); zero is not assigned.
    private static let configurations = [1, 2, 3, 4, 5, 6, 8, 2, 3, 4, 7, 8, 24, 8, 12, 10, 12, 14, 12, 14]
    /// The channels of each bit, the highest first (ETSI TS 102 366, table E.1.4).
    private static let dolbyBits = [1, 1, 1, 1, 1, 2, 2, 1, 1, 2, 2, 2, 1, 2, 1, 1]

    /// Nil for a scheme that is not known.
    init?(_ element: MarkupElement) {
        let value = element.word("value").map { $0.trimmingWhitespace } ?? ""
        let text = String(value)
        switch element["schemeIdUri"].map({ String($0.trimmingWhitespace) }) {
        case "urn:mpeg:dash:23003:3:audio_channel_configuration:2011":
            // Many packagers write the number of channels, which differs from seven channels on.
            let number = DecimalText.integer(text)
            counts = number.map { [Self.count(of: $0), Int(exactly: $0)].compactMap(\.self) } ?? []
            form = "a channel configuration such as `2` or `6`"
        case "urn:mpeg:mpegB:cicp:ChannelConfiguration":
            counts = [DecimalText.integer(text).flatMap { Self.count(of: $0) }].compactMap(\.self)
            form = "a channel configuration from 1 to \(Self.configurations.count)"
        case "tag:dolby.com,2014:dash:audio_channel_configuration:2011",
            "urn:dolby:dash:audio_channel_configuration:2011":
            let bits = text.utf8.count == 4 ? UInt16(text, radix: 16) : nil
            counts =
                bits.map { bits in
                    [
                        Self.dolbyBits.enumerated().reduce(0) {
                            $0 + (bits >> (15 - $1.offset) & 1 == 1 ? $1.element : 0)
                        }
                    ]
                }?.filter { $0 > 0 } ?? []
            form = "four hexadecimal digits such as `F801`"
        case "urn:dts:dash:audio_channel_configuration:2012",
            "tag:dts.com,2014:dash:audio_channel_configuration:2012":
            counts = [DecimalText.integer(text).flatMap { Int(exactly: $0) }].compactMap(\.self).filter { $0 > 0 }
            form = "the number of channels"
        case "urn:mpeg:dash:outputChannelPositionList:2012":
            let positions = text.split(whereSeparator: \.isWhitespace)
            counts =
                positions.allSatisfy { DecimalText.integer($0) != nil } && !positions.isEmpty ? [positions.count] : []
            form = "a list of output channel positions such as `0 1`"
        default: return nil
        }
    }

    private static func count(of configuration: Int64) -> Int? {
        guard let place = Int(exactly: configuration), (1...configurations.count).contains(place) else { return nil }
        return configurations[place - 1]
    }

    /// The values that cannot be read.
    static func problems(in manifest: ManifestVersion) -> [Problem] {
        var problems: [Problem] = []
        for period in manifest.periods {
            for set in period.sets {
                for element in [set] + Array(set.all("Representation")) {
                    for configuration in element.all("AudioChannelConfiguration") {
                        guard problems.count < Rule.mostProblems else { return problems }
                        guard let known = Self(configuration), known.counts.isEmpty else { continue }
                        problems.append(
                            Problem(
                                found:
                                    "`value=\"\((configuration["value"] ?? "").excerpt())\"` in `\(configuration.name)`",
                                expected: "\(known.form), by its schemeIdUri",
                                advice: "Correct the value, or the schemeIdUri.",
                                line: configuration.line
                            )
                        )
                    }
                }
            }
        }
        return problems
    }
}

extension Int {
    fileprivate var shownChannels: String { self == 1 ? "1 channel" : "\(self) channels" }
}
