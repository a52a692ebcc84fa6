internal import Instrument

#if DEBUG
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif
#endif

/// The locks of a durable store and of its directory stores, in the order in which a thread takes them. The property of
/// the same name says what each guards.
enum LockPlace: Int {
    case changing, orphans, erasing, chores, synchronizing, draining, writing, lock, state, isReleased
}

/// A lock that a thread takes only while it holds no lock of the same or a later place. A debug build stops where a
/// thread does, so that a deadlock needs no second thread to be found.
struct OrderedLock<Value: ~Copyable>: Sendable {
    private let place: LockPlace
    private let lock: Lock<Value>

    init(_ place: LockPlace, _ value: consuming sending Value) {
        self.place = place
        lock = Lock(value)
    }

    func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG
        HeldLocks.add(place)
        defer { HeldLocks.remove(place) }
        let turns = LockTurns.ofThread
        turns?.take(ObjectIdentifier(lock), isPoint: true)
        defer { turns?.release(ObjectIdentifier(lock)) }
        #endif
        return try lock.withLock(body)
    }
}

#if DEBUG
/// The places of the locks that the thread holds.
private enum HeldLocks {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// A bit for each place, in the thread's value for the key.
    private static var places: UInt {
        get { UInt(bitPattern: pthread_getspecific(key)) }
        set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }

    static func add(_ place: LockPlace) {
        let held = places
        assert(held >> UInt(place.rawValue) == 0, "\(place) is taken while a lock of the same or a later place is held")
        places = held | 1 << UInt(place.rawValue)
    }

    static func remove(_ place: LockPlace) { places &= ~(1 << UInt(place.rawValue)) }
}
#endif
