internal import Instrument
internal import InstrumentJSON
internal import InstrumentText

/// A report of the observer of a page about a media element, or about the document.
///
/// The page's own world can neither see nor send such reports, but everything in them can be the page's: its texts, its
/// numbers, and how many there are.
struct MediaObservation: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable {
        /// The observer runs in a new document.
        case hello
        /// The document is left.
        case left
        /// Reports were left out, because there were too many.
        case overflow
        /// An element was asked to play, and too many others play.
        case crowd
        /// The page has taken the element out of the document.
        case removed
        /// The element is no more there, or others are observed in its place.
        case gone
        /// A playback was running when the observer came.
        case joined
        /// What holds after reports were left out.
        case state
        /// A player of the page reports its ads.
        case ad
        /// Pictures, or the playhead, move.
        case moves
        /// The playhead stands, because the element waits for data.
        case stands
        // Events of the element, by their names.
        case loadstart, loadedmetadata, play, playing, pause, waiting, seeking, seeked, ratechange, volumechange,
            resize, ended, error, encrypted, emptied
    }

    var kind: Kind
    /// The number of the element in its document; 0 for the document.
    var number = 0
    /// Milliseconds on the page's clock.
    var time: Double
    /// When the report was made, and its figures were read.
    var reportTime: Double
    var figures = MediaFigures()
    /// What is played, where the kind says so.
    var source: MediaSource?
    /// The frames per second of a motion.
    var framesPerSecond: Double?
    /// `MediaError.code`, and the browser's message.
    var errorCode = 0
    var errorMessage = ""
    /// What the page's ads do, where the kind says so.
    var news: AdNews?

    init(_ kind: Kind, number: Int = 0, time: Double, reportTime: Double? = nil) {
        (self.kind, self.number, self.time, self.reportTime) = (kind, number, time, reportTime ?? time)
    }

    /// Reads a report; nil for anything that the observer does not send.
    init?(_ value: JSONValue) {
        guard let kind = value["k"]?.string.flatMap(Kind.init(rawValue:)), let time = value["t"]?.finite else {
            return nil
        }
        self.init(kind, number: value["i"]?.int ?? 0, time: time, reportTime: value["z"]?.finite)
        let isOfDocument = [.hello, .left, .overflow, .crowd, .ad].contains(kind)
        guard isOfDocument || number > 0 else { return nil }
        figures = MediaFigures(value)
        if kind == .loadstart || kind == .joined {
            source = MediaSource(
                address: value["c"]?.text() ?? "",
                page: value["g"]?.text() ?? "",
                title: value["n"]?.text(300) ?? ""
            )
        }
        if kind == .moves { framesPerSecond = value["x"]?.finite.flatMap { $0 > 0 && $0 <= 1_000 ? $0 : nil } }
        if kind == .ad { news = AdNews(value["n"]) }
        if kind == .error {
            errorCode = value["o"]?.int ?? 0
            errorMessage = value["x"]?.text(500) ?? ""
        }
    }
}

/// What an element plays.
struct MediaSource: Hashable, Sendable {
    /// `currentSrc`: an address, or `blob:` for Media Source Extensions.
    var address: String
    /// The address of the document.
    var page: String
    /// The title that the page gives the media, or its own.
    var title: String
}

/// The state of an element at an instant.
struct MediaFigures: Hashable, Sendable {
    /// Seconds.
    var position: Double?
    /// Seconds; nil without an end.
    var duration: Double?
    var width: Int?
    var height: Int?
    var rate: Double?
    /// 0 to 1.
    var volume: Double?
    var isMuted: Bool?
    var isPaused = false
    var isSeeking = false
    var isEnded = false
    var isHidden = false
    var isAutoplay = false
    /// Whether a person has just used the page.
    var isUserActive = false
    /// Seconds ahead of the playhead.
    var bufferedAhead: Double?
    var droppedFrames: Int?

    init() {}

    init(_ value: JSONValue) {
        position = value["p"]?.seconds
        duration = value["d"]?.seconds.flatMap { $0 > 0 ? $0 : nil }
        (width, height) = (value["w"]?.count, value["y"]?.count)
        rate = value["r"]?.finite.flatMap { abs($0) <= 1_000 ? $0 : nil }
        volume = value["v"]?.finite.flatMap { (0...1).contains($0) ? $0 : nil }
        isMuted = value["m"]?.truth
        isPaused = value["f"]?.truth ?? false
        isSeeking = value["s"]?.truth ?? false
        isEnded = value["e"]?.truth ?? false
        isHidden = value["h"]?.truth ?? false
        isAutoplay = value["a"]?.truth ?? false
        isUserActive = value["u"]?.truth ?? false
        bufferedAhead = value["b"]?.seconds
        droppedFrames = value["q"]?.count
    }

    /// The picture's pixels; nil without a picture.
    var area: Int? {
        guard let width, let height, width > 0, height > 0 else { return nil }
        return width * height
    }
}

extension JSONValue {
    /// The number, if it is a finite one.
    var finite: Double? { number.flatMap { $0.isFinite ? $0 : nil } }

    /// The number, if it is one of seconds that a duration can hold.
    var seconds: Double? { finite.flatMap { abs($0) < 9e9 ? $0 : nil } }

    /// The number, if it is an integer from 0 to a billion, so that the product of two has no overflow.
    var count: Int? {
        guard let number = finite, number >= 0, number <= 1e9 else { return nil }
        return Int(number)
    }

    /// The truth, if it is one.
    var truth: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The beginning of the text, if it is one.
    func text(_ maxLength: Int = 2_000) -> String? { string?.excerpt(toBytes: maxLength) }
}
