extension Statement {
    /// The result of a statement.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.5.
    public struct Result: Hashable, Sendable {
        /// The score.
        public var score: Score?
        /// Whether the attempt was successful.
        public var success: Bool?
        /// Whether the activity was completed.
        public var completion: Bool?
        /// The response.
        public var response: String?
        /// The duration.
        public var duration: ISODuration?
        /// Extensions.
        public var extensions: Extensions

        /// Creates a result.
        public init(
            score: Score? = nil,
            success: Bool? = nil,
            completion: Bool? = nil,
            response: String? = nil,
            duration: ISODuration? = nil,
            extensions: Extensions = [:]
        ) {
            self.score = score
            self.success = success
            self.completion = completion
            self.response = response
            self.duration = duration
            self.extensions = extensions
        }
    }

    /// A score, in finite numbers. Progress and completion are not scores.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.5.1.
    public struct Score: Hashable, Sendable {
        /// The scaled score, from -1 to 1.
        package var scaled: Double?
        /// The raw score, between `min` and `max`.
        package var raw: Double?
        /// The lowest possible score; less than `max`.
        package var min: Double?
        /// The highest possible score.
        package var max: Double?

        /// Creates a score.
        public init(scaled: Double? = nil, raw: Double? = nil, min: Double? = nil, max: Double? = nil) {
            self.scaled = scaled
            self.raw = raw
            self.min = min
            self.max = max
        }
    }
}
