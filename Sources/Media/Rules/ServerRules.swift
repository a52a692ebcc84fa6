internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension Rule {
    /// A steering server does not steer.
    package static let steeringWrong = Rule(
        "steering-wrong",
        .warning,
        "A steering server gives no order of the servers that the manifest has",
        explanation: "Players keep the server with which they began, also when it fails or is full.",
        source: "RFC 8216bis sections 4.4.6.6 and 7; ETSI TS 103 998 section 6",
        checks: [
            .multivariant { version, history in
                guard let tag = version.tags("EXT-X-CONTENT-STEERING").first, let name = tag.attributes["PATHWAY-ID"]
                else { return [] }
                return unknown([name], in: "PATHWAY-ID", history, line: tag.line)
            },
            .manifest { manifest, history in
                guard let element = manifest.root.first("ContentSteering") else { return [] }
                let names = (element.word("defaultServiceLocation") ?? "").split(whereSeparator: \.isWhitespace)
                return unknown(names.map { String($0) }, in: "defaultServiceLocation", history, line: element.line)
            },
            .server { answer, history in
                guard answer.purpose == .steering else { return [] }
                switch answer.response {
                case .failure(let reason, let status):
                    return [
                        Problem(
                            found: reason,
                            expected: "a steering manifest with status 200",
                            advice: status.map { StatusAdvice.sentence(for: $0) }
                                ?? "Check the address of the steering server, and the network."
                        )
                    ]
                case .body(let bytes): return steering(bytes, at: answer.url, history)
                }
            },
        ]
    )

    private static func steering(_ bytes: [UInt8], at url: HTTPURL, _ history: StreamHistory) -> [Problem] {
        do throws(ManifestError) {
            let manifest = try SteeringManifest(parsing: bytes, at: url)
            if let defect = manifest.defect {
                return [
                    Problem(
                        found: defect.found,
                        expected: defect.expected,
                        advice: "Correct the answer of the steering server."
                    )
                ]
            }
            return unknown(manifest.priority, in: "PATHWAY-PRIORITY", history, clones: manifest.clones.map(\.id))
        } catch {
            let content = ManifestContent(bytes)
            return [
                Problem(
                    found: content == .json ? error.message : "\(content)",
                    expected: "a JSON object with VERSION, TTL and PATHWAY-PRIORITY",
                    advice: "Check the address of the steering server, and its answer."
                )
            ]
        }
    }

    /// The problem of names of which none is a server of the manifest.
    private static func unknown(
        _ names: [String],
        in attribute: String,
        _ history: StreamHistory,
        clones: [String] = [],
        line: Int? = nil
    ) -> [Problem] {
        let known = history.serverNames.union(clones)
        guard !names.isEmpty, !known.isEmpty, known.isDisjoint(with: names) else { return [] }
        func shown(_ names: some Sequence<String>) -> String {
            names.prefix(8).map { "`\($0.excerpt())`" }.joined(separator: ", ")
        }
        return [
            Problem(
                found: "\(shown(names)) in \(attribute)",
                expected: "a server of the manifest: \(shown(known.sorted()))",
                advice: "Use the names that the manifest gives to its servers (PATHWAY-ID, @serviceLocation).",
                line: line
            )
        ]
    }

    /// A patch of an MPD cannot be used.
    package static let patchWrong = Rule(
        "mpd-patch-wrong",
        .warning,
        "A patch of the MPD cannot be used",
        explanation: "Players load the whole MPD each time, as if there were no patches.",
        source: "ISO/IEC 23009-1 clause 5.15",
        checks: [
            .manifest { manifest, history in
                guard let element = manifest.root.first("PatchLocation") else { return [] }
                let missing = ["id", "publishTime"].first { manifest.root[$0] == nil }
                if let missing {
                    let expected = "an MPD with `id` and `publishTime`"
                    return [patch("PatchLocation in an MPD without `\(missing)`", expected, line: element.line)]
                }
                // Without a patch in the presentation, none of the addresses can be used.
                guard manifest.isDynamic, history.presentation?.format == .dash,
                    history.presentation?.live?.patch == nil
                else { return [] }
                return [
                    patch(
                        "a PatchLocation whose address or `ttl` cannot be used",
                        "an http or https address, and a `ttl` of 0 or more seconds",
                        line: element.line
                    )
                ]
            },
            .server { answer, history in
                guard answer.purpose == .patch else { return [] }
                switch answer.response {
                case .failure(let reason, let status):
                    // A server may say that there is nothing new yet.
                    guard let status else { return [patch(reason, "a patch, or status 204 without one")] }
                    if [304, 425].contains(status) { return [] }
                    return [patch("status \(status)", "a patch, or status 204 while the MPD has not changed")]
                case .body(let bytes):
                    guard let presentation = history.presentation, presentation.acceptsPatches else { return [] }
                    do throws(ManifestError) {
                        _ = try presentation.patched(by: bytes, at: answer.url, now: answer.fetched.wallTime)
                        return []
                    } catch {
                        let content = ManifestContent(bytes)
                        let found = content.isMarkup ? error.message.prefix { $0 != ";" }.description : "\(content)"
                        return [patch(found, "a `Patch` that changes the MPD with this `id` and `publishTime`")]
                    }
                }
            },
        ]
    )

    private static func patch(_ found: String, _ expected: String, line: Int? = nil) -> Problem {
        Problem(
            found: found,
            expected: expected,
            advice: "Correct the packager's patches, or remove PatchLocation.",
            line: line
        )
    }
}

extension StreamHistory {
    /// The names of the servers of the manifest: pathways, or service locations.
    fileprivate var serverNames: Set<String> {
        if let streams = multivariant?.playlist.streams {
            // A variant without a pathway is on the one with this name (section 4.4.6.2).
            return Set(streams.map { $0.pathway ?? "." })
        }
        guard let root = manifest?.root else { return [] }
        var names: Set<String> = []
        func take(_ element: MarkupElement) {
            names.formUnion(element.all("BaseURL").compactMap { $0.word("serviceLocation") })
        }
        take(root)
        for period in root.all("Period") {
            take(period)
            for set in period.all("AdaptationSet") {
                take(set)
                for representation in set.all("Representation") { take(representation) }
            }
        }
        return names
    }
}
