internal import Instrument
package import InstrumentHTTP

// Breaks of other origins in the form of interstitials, so that one schedule places all of them.
extension Interstitial {
    /// An alternative presentation of an MPD. One that replaces content resumes after its duration, one that is
    /// inserted resumes where the content was left.
    package init(_ alternative: AlternativePresentation, id: String, url: HTTPURL) {
        self.init(id: id, start: alternative.start, date: WallTime(milliseconds: 0), source: .asset(url))
        playoutLimit = alternative.maximumDuration
        resumeOffset = alternative.replacesContent ? alternative.returnOffset : 0
        if alternative.forbidsJump { restrictions = [.jump] }
        skipControl = alternative.skipAfter.map { SkipControl(offset: $0) }
    }

    /// A break that an ad server plans: the person must not jump over it, it plays once, and the content resumes where
    /// it was left.
    /// - Parameter url: the address of the document, to which the break's references are relative.
    package init(served id: String, at start: Int64, cue: Cue, url: HTTPURL) {
        self.init(id: id, start: start, date: WallTime(milliseconds: 0), source: .list(url), cue: cue.union(.once))
        (resumeOffset, restrictions) = (0, [.jump])
    }
}

extension ResolvedAd {
    /// The ad of an asset of an interstitial: nothing is known of it but its duration, and nobody is called.
    package init(assetOf interstitial: Interstitial, number: Int, duration: Int64?) {
        let control = interstitial.restrictions.contains(.skip) ? nil : interstitial.skipControl
        self.init(
            assetID: interstitial.id,
            creativeID: "\(interstitial.id)/\(number)",
            duration: duration,
            skipOffset: control.map { .time($0.offset) }
        )
    }

    /// An ad of which only its identifier and its duration are known.
    package init(assetID id: String, creativeID: String, duration: Int64?, skipOffset: AdOffset? = nil) {
        var linear = LinearCreative()
        (linear.duration, linear.skipOffset) = (duration, skipOffset)
        let creative = Creative(id: creativeID, kind: .linear(linear))
        self.init(
            ad: VASTAd(id: id, type: "video", kind: .inLine(VASTAd.InLine()), creatives: [creative]),
            wrappers: [],
            version: .v42
        )
    }
}

extension AdBreak {
    /// The break of a VAST response without a schedule.
    package static var preRoll: AdBreak { AdBreak(time: .start, kinds: [.linear]) }
}

extension Interstitial {
    /// The address of the asset or of the list.
    package var address: HTTPURL {
        switch source {
        case .asset(let url), .list(let url): url
        }
    }
}
