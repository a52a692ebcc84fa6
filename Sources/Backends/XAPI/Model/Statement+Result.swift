extension Statement {
    /// What came of it.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.5.
    public struct Result: Hashable, Sendable {
        /// How well.
        public var score: Score?
        /// Whether it went well.
        public var success: Bool?
        /// Whether it was done to the end.
        public var completion: Bool?
        /// What was answered.
        public var response: String?
        /// How long it took.
        public var duration: ISODuration?
        /// What else there is to say.
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

    /// How well. Finite numbers; progress and completion are no scores.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.5.1.
    public struct Score: Hashable, Sendable {
        /// From -1 to 1.
        public var scaled: Double?
        /// As it was counted, between `min` and `max`.
        public var raw: Double?
        /// The lowest that could be reached; less than `max`.
        public var min: Double?
        /// The highest that could be reached.
        public var max: Double?

        /// Creates a score.
        public init(scaled: Double? = nil, raw: Double? = nil, min: Double? = nil, max: Double? = nil) {
            self.scaled = scaled
            self.raw = raw
            self.min = min
            self.max = max
        }
    }
}
