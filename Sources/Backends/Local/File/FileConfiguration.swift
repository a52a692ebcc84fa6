public import Instrument

/// The settings of a ``FileBackend``.
public struct FileConfiguration: Hashable, Sendable {
    /// The compression of the file.
    public enum Compression: Hashable, Sendable {
        /// Plain lines.
        case none
        /// Gzip, with one member per batch, so that all written batches can be read at any time.
        case gzip

        /// Gzip for a path that ends in `.gz`, otherwise none.
        package init(path: String) { self = path.hasSuffix(".gz") ? .gzip : .none }
    }

    /// The time at which written bytes are made to survive a loss of power (`fsync`).
    public enum Synchronization: Hashable, Sendable {
        /// The system decides; a crash of the process alone loses no sample.
        case never
        /// Before a batch counts as delivered.
        case everyBatch
        /// With the first batch after an interval, and at the end.
        case interval(Duration)
    }

    /// The limits of a file, and the number of rotated files to keep.
    public struct Rotation: Hashable, Sendable {
        /// The largest size of a file in bytes; a larger batch has a separate file. Nil means no limit.
        public var maxBytes: Int?
        /// The longest time that a file is used after it was opened. Nil means no limit.
        public var maxAge: Duration?
        /// The number of rotated files to keep; the oldest ones are deleted. Nil keeps all.
        public var keptFiles: Int?

        /// Creates a rotation; by default without any limit.
        public init(maxBytes: Int? = nil, maxAge: Duration? = nil, keptFiles: Int? = nil) {
            self.maxBytes = maxBytes
            self.maxAge = maxAge
            self.keptFiles = keptFiles
        }
    }

    /// The compression.
    public var compression: Compression
    /// The rotation.
    public var rotation: Rotation
    /// The synchronization.
    public var synchronization: Synchronization
    /// The policy for batches.
    public var policy: DeliveryPolicy

    /// Creates a configuration; by default one uncompressed file, without `fsync`, with one batch per second.
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
