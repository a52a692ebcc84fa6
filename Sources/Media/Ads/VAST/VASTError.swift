/// A code of the error table of VAST (4.2, section 2.3.6.3); an open set.
public struct VASTErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public var rawValue: Int
    /// Creates a code.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Creates a code.
    package init(_ number: Int) { rawValue = number }
    /// The number.
    public var description: String { String(rawValue) }

    /// The XML cannot be parsed.
    package static let xml = Self(100)
    /// The response breaks the schema.
    package static let schema = Self(101)
    /// The version is not supported.
    package static let version = Self(102)
    /// The ad has a form that cannot be played here.
    package static let trafficking = Self(200)
    /// The ad has another linearity than expected.
    package static let linearity = Self(201)
    /// The ad has another duration than expected.
    package static let duration = Self(202)
    /// The ad has another size than expected.
    package static let size = Self(203)
    /// The category of the ad violates the categories that a wrapper blocks.
    package static let blockedCategory = Self(205)
    /// A wrapper failed.
    package static let wrapper = Self(300)
    /// The response of a wrapper's address was unavailable or late.
    package static let wrapperUnavailable = Self(301)
    /// The chain of wrappers is too long.
    package static let wrapperLimit = Self(302)
    /// A wrapper's chain ended without an ad.
    package static let noAds = Self(303)
    /// The ad was not displayed in time.
    package static let displayTimeOut = Self(304)
    /// The linear ad cannot be displayed.
    package static let linear = Self(400)
    /// The media file does not exist.
    package static let fileNotFound = Self(401)
    /// The media file was late.
    package static let fileTimeOut = Self(402)
    /// No media file is supported.
    package static let noSupportedFile = Self(403)
    /// The media file cannot be displayed.
    package static let displayProblem = Self(405)
    /// A non-linear ad cannot be displayed.
    package static let nonLinear = Self(500)
    /// A companion cannot be displayed.
    package static let companion = Self(600)
    /// Any other error.
    package static let undefined = Self(900)
    /// A VPAID unit failed.
    package static let vpaid = Self(901)
}

/// A reason why a response of an ad server cannot be used.
package struct VASTError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The code that error addresses receive.
    package var code: VASTErrorCode
    /// The message: the value that was found, the expected value, and the remedy; without secrets.
    package var message: String
    /// The line, counted from 1; nil where no single line is wrong.
    package var line: Int?

    /// Creates an error.
    package init(_ code: VASTErrorCode, _ message: String, line: Int? = nil) {
        (self.code, self.message, self.line) = (code, message, line)
    }

    /// The code, the line and the message.
    package var description: String { "\(code)" + (line.map { " (line \($0))" } ?? "") + ": \(message)" }
}

/// The largest responses that are accepted. The defaults are far above what ad servers send.
public struct AdLimits: Hashable, Sendable {
    /// Bytes of one response.
    public var bytes = 4 << 20
    /// Bytes of one address or text.
    package var textBytes = 256 << 10
    /// Elements within elements.
    package var depth = 32
    /// Elements of one response.
    package var elements = 200_000
    /// Ads of one response.
    package var ads = 100
    /// Creatives of one ad.
    package var creatives = 50
    /// Addresses of one ad, of all events together.
    package var addresses = 2_000
    /// Breaks of one VMAP document.
    package var breaks = 500
    /// Assets of one list of an interstitial.
    package var assets = 500
    /// Wrappers in a chain.
    public var wrappers = 5
    /// Responses that are fetched for one request for ads, of all chains together.
    public var fetches = 50
    /// Time for one response.
    public var fetchTimeout = Duration.seconds(5)
    /// Time for all responses of one request for ads.
    public var totalTimeout = Duration.seconds(15)
    /// Findings that are kept.
    package var findings = 200

    /// Creates the default limits.
    public init() {}
}
