internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension Rule {
    /// The pictures have another frame rate than declared.
    package static let frameRateMismatch = Rule(
        "frame-rate-mismatch",
        .warning,
        "The pictures have another frame rate than declared",
        explanation: "Players choose a variant by its frame rate, and set up the screen by it.",
        source: "RFC 8216bis section 4.4.6.2; ISO/IEC 23009-1 clause 5.3.7.2",
        checks: [
            .segment { facts, _, history in
                guard facts.failure == nil, !facts.isKeyframeOnly, let track = facts.tracks.first(where: \.isVideo),
                    let real = track.framesPerSecond
                else { return [] }
                let wrong = DeclaredPictures.all(of: facts, history).lazy.compactMap(\.frameRate).first { declared in
                    // Rounded declarations, such as 30 for 29.97, mean the same.
                    abs(declared.value - real) > max(0.02 * declared.value, 0.2)
                }
                guard let wrong else { return [] }
                return [
                    Problem(
                        found: "\(shown(real)) frames per second in segment \(facts.sequence)",
                        expected: "the declared \(wrong.text.excerpt())",
                        advice: "Correct FRAME-RATE or @frameRate, or the encoder's settings."
                    )
                ]
            }
        ]
    )

    private static func shown(_ rate: Double) -> String {
        let thousandths = (rate * 1_000).rounded() / 1_000
        return thousandths == thousandths.rounded() ? "\(Int(thousandths))" : "\(thousandths)"
    }

    /// The pictures have another dynamic range than declared.
    package static let videoRangeMismatch = Rule(
        "video-range-mismatch",
        .warning,
        "The pictures have another dynamic range than declared",
        explanation:
            "Players choose a variant by the range that the screen shows; with another one, colors are pale or glaring.",
        source: "RFC 8216bis section 4.4.6.2 (VIDEO-RANGE); ISO/IEC 23009-1 clause 5.8.4 (ISO/IEC 23091-2)",
        checks: [
            .segment { facts, _, history in
                guard facts.failure == nil, !facts.isKeyframeOnly, let track = facts.tracks.first(where: \.isVideo),
                    let transfer = track.transfer
                else { return [] }
                let wrong = DeclaredPictures.all(of: facts, history).lazy.compactMap(\.range).first { declared in
                    !declared.admits(transfer)
                }
                guard let wrong else { return [] }
                return [
                    Problem(
                        found: "\(VideoRange.words(of: transfer)) in segment \(facts.sequence)",
                        expected: wrong.words,
                        advice:
                            "Correct VIDEO-RANGE or TransferCharacteristics, or let the encoder write the characteristics."
                    )
                ]
            }
        ]
    )
}

/// What a playlist or an MPD declares of the pictures of a segment.
private struct DeclaredPictures {
    var frameRate: (value: Double, text: String)?
    var range: VideoRange?

    /// The declarations: one for each variant that plays the rendition, or that of the representation.
    static func all(of facts: SegmentFacts, _ history: StreamHistory) -> [DeclaredPictures] {
        if let manifest = history.manifest {
            return manifest.levels(of: facts).map { [DeclaredPictures($0.set, $0.representation)] } ?? []
        }
        let rendition = history.presentation?.renditions.first { $0.id.description == facts.rendition }
        guard let version = history.multivariant, case .playlist(let url) = rendition?.source else { return [] }
        var (declared, attributes) = ([DeclaredPictures](), [String: String]?.none)
        for entry in version.entries {
            switch entry {
            case .tag(let tag) where tag.name == "EXT-X-STREAM-INF": attributes = tag.attributes
            case .tag: break
            case .address(let address, _):
                if let attributes, (try? version.url.resolving(address)) == url {
                    declared.append(DeclaredPictures(attributes))
                }
                attributes = nil
            }
        }
        return declared
    }

    private init(_ attributes: [String: String]) {
        frameRate = attributes["FRAME-RATE"].flatMap(Self.frameRate)
        // The transfer of Dolby Vision is in its own metadata.
        let isDolbyVision = CodecList.split(attributes["CODECS"]).contains { codec in
            ["dvh1", "dvhe", "dva1", "dvav", "dav1"].contains { codec.lowercased().hasPrefix($0) }
        }
        guard !isDolbyVision else { return }
        range = attributes["VIDEO-RANGE"].map { VideoRange.named($0) } ?? .implied
    }

    private init(_ set: MarkupElement, _ representation: MarkupElement) {
        frameRate = (representation.word("frameRate") ?? set.word("frameRate")).flatMap(Self.frameRate)
        let scheme = "urn:mpeg:mpegB:cicp:TransferCharacteristics"
        let properties = [representation, set].flatMap { element in
            Array(element.all("EssentialProperty")) + Array(element.all("SupplementalProperty"))
        }
        let number = properties.first { $0["schemeIdUri"] == scheme }?.word("value").flatMap { Int($0) }
        range = number.map { .numbered($0) }
    }

    private static func frameRate(_ text: String) -> (value: Double, text: String)? {
        FrameRateText.value(text).map { ($0, text) }
    }
}

/// A declared dynamic range.
private enum VideoRange {
    /// `VIDEO-RANGE`.
    case named(String)
    /// SDR, because `VIDEO-RANGE` is missing.
    case implied
    /// `TransferCharacteristics` of an MPD.
    case numbered(Int)

    /// Perceptual quantization (SMPTE ST 2084), and hybrid log-gamma (ARIB STD-B67).
    private static let (pq, hlg) = (16, 18)
    private static let unspecified = 2
    /// ITU-R BT.2020 with 10 bits: the base of pictures whose messages say that they are HLG.
    private static let wideSDR = 14

    /// Whether pictures with these transfer characteristics are of the range. Those without any are SDR.
    func admits(_ transfer: Int) -> Bool {
        switch self {
        case .implied, .named("SDR"): return transfer != Self.pq && transfer != Self.hlg
        case .named("PQ"): return transfer == Self.pq
        case .named("HLG"): return transfer == Self.hlg || transfer == Self.wideSDR
        // Another rule reports an unknown value.
        case .named: return true
        case .numbered(let number):
            // The functions of SDR differ by little, and recommendations exchange their numbers.
            guard [Self.pq, Self.hlg].contains(number) else { return transfer != Self.pq && transfer != Self.hlg }
            return transfer == number || number == Self.hlg && transfer == Self.wideSDR
        }
    }

    var words: String {
        switch self {
        case .named(let name): "pictures of the declared VIDEO-RANGE=\(name.excerpt())"
        case .implied: "pictures of the range SDR, because VIDEO-RANGE is missing"
        case .numbered(let number): "the declared TransferCharacteristics, \(number)"
        }
    }

    static func words(of transfer: Int) -> String {
        switch transfer {
        case pq: "pictures of the range PQ"
        case hlg: "pictures of the range HLG"
        case unspecified: "pictures without transfer characteristics, which count as SDR,"
        default: "pictures of the range SDR (transfer characteristics \(transfer))"
        }
    }
}
