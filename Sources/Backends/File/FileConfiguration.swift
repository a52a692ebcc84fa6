public import Instrument

/// How a ``FileBackend`` writes.
public struct FileConfiguration: Hashable, Sendable {
    /// How the file's bytes are packed.
    public enum Compression: Hashable, Sendable {
        /// Plain lines.
        case none
        /// Gzip, a whole member for each batch, so that what is written can always be read.
        case gzip
    }

    /// When what was written is made to survive a loss of power (`fsync`).
    public enum Synchronization: Hashable, Sendable {
        /// When the system likes; a crash of the process alone loses nothing.
        case never
        /// Before a batch counts as delivered.
        case everyBatch
        /// With the first batch after so much time, and at the end.
        case interval(Duration)
    }

    /// When the file is set aside under another name, and how many of these are kept.
    public struct Rotation: Hashable, Sendable {
        /// The most bytes in a file; a batch that is larger has a file of its own. nil: any size.
        public var maxBytes: Int?
        /// How long a file is written to, from when it was opened. nil: for good.
        public var maxAge: Duration?
        /// How many files are kept beside the current one; the oldest are deleted. nil: all.
        public var keptFiles: Int?

        /// Creates a rotation; by default there is none.
        public init(maxBytes: Int? = nil, maxAge: Duration? = nil, keptFiles: Int? = nil) {
            self.maxBytes = maxBytes
            self.maxAge = maxAge
            self.keptFiles = keptFiles
        }
    }

    /// How bytes are packed.
    public var compression: Compression
    /// When files are set aside.
    public var rotation: Rotation
    /// When writes are made to last.
    public var synchronization: Synchronization
    /// When a batch is due.
    public var policy: DeliveryPolicy

    /// Creates a configuration; by default plain, one file, no `fsync`, a batch a second.
    public init(
        compression: Compression = .none,
        rotation: Rotation = Rotation(),
        synchronization: Synchronization = .never,
        policy: DeliveryPolicy = DeliveryPolicy(
            maxCount: 1000,
            maxBytes: 1 << 20,
            maxAge: .seconds(1),
            needsNetwork: false
        )
    ) {
        self.compression = compression
        self.rotation = rotation
        self.synchronization = synchronization
        self.policy = policy
    }
}
