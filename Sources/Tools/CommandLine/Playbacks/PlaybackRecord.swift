internal import Instrument
package import InstrumentTerminal
internal import InstrumentText

/// The viewing experience of one playback, or of several added up. Times are in milliseconds.
package struct PlaybackRecord: Hashable, Sendable {
    /// The latest start time; nil if no playback has started, or if its start was not observed.
    package var startTime: Int?
    package var playTime = 0
    package var stalls = 0
    package var stallTime = 0
    /// Changes to a higher and to a lower quality.
    package var rises = 0
    package var falls = 0
    package var samples = 0
    /// The resolution or bitrate that played last.
    package var quality = "-"
    /// The ads; nil where none are played.
    package var ads: Ads?
    /// The subtitles; nil without subtitles.
    package var subtitles: Subtitles?

    /// What happened to subtitles.
    package struct Subtitles: Hashable, Sendable {
        /// The language that was loaded last; nil if none was.
        package var language: String?
        package var cues = 0
        /// Warnings about subtitles that were late, missing or malformed.
        package var warnings = 0

        package init() {}

        /// For example `en, 12 cues, 1 warning`.
        var text: String {
            let loaded = language.map { "\($0), \(String(counting: cues, "cue"))" } ?? "none"
            return warnings > 0 ? "\(loaded), \(String(counting: warnings, "warning"))" : loaded
        }
    }

    /// What happened to ads.
    package struct Ads: Hashable, Sendable {
        package var breaks = 0
        package var begun = 0
        package var errors = 0
        /// The latest error.
        package var error: String?

        package init() {}

        /// For example `3 in 2 breaks, 1 error: the response has no ad`.
        var text: String {
            let played = begun > 0 ? "\(begun) in \(String(counting: breaks, "break"))" : "none"
            guard errors > 0 else { return played }
            return "\(played), \(String(counting: errors, "error"))" + (error.map { ": " + $0 } ?? "")
        }
    }

    package init() {}

    /// Lines for people, under a headline.
    package func lines(headline: TerminalText) -> [TerminalText] {
        let ads = ads.map { ["  ads              \($0.text)"] as [TerminalText] } ?? []
        guard startTime != nil || playTime > 0 else { return [headline] + ads }
        // The start of a playback that was joined later was not observed.
        let start = startTime.map { "\($0) ms" } ?? "unknown"
        return [
            headline,
            "  start time       \(start)",
            "  played           \(Self.seconds(playTime))",
            "  stalls           \(stalls)\(stalls > 0 ? ", \(Self.seconds(stallTime))" : "")",
            "  quality changes  \(rises) up, \(falls) down",
        ] + (subtitles.map { ["  subtitles        \($0.text)"] } ?? []) + ads + ["  samples          \(samples)"]
    }

    /// Adds the samples of the tracker that reports the content's ads.
    package mutating func add(adsOf record: PlaybackRecord) {
        samples += record.samples
        ads = record.ads ?? Ads()
    }

    /// Milliseconds as `12.345 s`.
    static func seconds(_ milliseconds: Int) -> String {
        "\(milliseconds.decimal(places: 3)) s"
    }
}

extension PlaybackRecord {
    mutating func count(_ sample: Sample) {
        samples += 1
        switch sample {
        case .event(let event): count(event)
        case .metric(let metric): count(metric)
        }
    }

    private mutating func count(_ event: Event) {
        countSubtitles(event)
        switch event.action {
        case .adBreakBegin: ads = changed { $0.breaks += 1 }
        case .adBegin: ads = changed { $0.begun += 1 }
        case .adError:
            ads = changed { ads in
                ads.errors += 1
                ads.error = event[.errorDescription] ?? ads.error
            }
        default: countQuality(event)
        }
    }

    /// The names of the probe's attributes, on which this library does not depend.
    private mutating func countSubtitles(_ event: Event) {
        let cues = event[AttributeKey<Int>("countSubtitleCues")]
        var found = subtitles ?? Subtitles()
        if let cues { (found.language, found.cues) = (event[.subtitles] ?? found.language, cues) }
        let warnings = ["lateSubtitles", "missingSubtitles", "malformedSubtitles"]
        let isWarning = event[AttributeKey<String>("warningCode")].map(warnings.contains) ?? false
        if isWarning { found.warnings += 1 }
        if cues != nil || isWarning { subtitles = found }
    }

    private func changed(_ change: (inout Ads) -> Void) -> Ads {
        var ads = ads ?? Ads()
        change(&ads)
        return ads
    }

    private mutating func countQuality(_ event: Event) {
        switch event.action {
        case .start: break
        case .qualityChangeUp: rises += 1
        case .qualityChangeDown: falls += 1
        default: return
        }
        if let width = event[.resolutionWidth], let height = event[.resolutionHeight] {
            quality = "\(width)x\(height)"
        } else if let bitrate = event[.bitrate] {
            quality = "\(bitrate / 1000) kbit/s"
        }
    }

    private mutating func count(_ metric: Metric) {
        guard case .int(let value) = metric.value else { return }
        switch metric.name {
        case .startTime: startTime = value
        case .playTime: playTime += value
        case .numRebuffers: stalls += value
        case .rebufferTime: stallTime += value
        default: break
        }
    }
}
