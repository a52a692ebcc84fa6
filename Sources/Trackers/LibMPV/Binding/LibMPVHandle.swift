#if canImport(CMPV)
internal import CMPV
internal import Instrument
internal import InstrumentJSON
internal import InstrumentMPV

/// Owns a client of the app's player: created once, destroyed once.
final class LibMPVHandle: LibMPVClient {
    /// An address that threads may share: the watch's queue alone calls and destroys.
    private struct Address: @unchecked Sendable { let pointer: OpaquePointer }

    /// What the wake-up callback finds.
    private final class Waker: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private let client: Lock<Address?>
    private let waker = Lock<Waker?>(nil)
    private let observedCount = Lock(0)
    /// The number of the first observation; later ones follow.
    private static let observation: UInt64 = 1 << 32

    init(_ handle: OpaquePointer) {
        client = Lock(mpv_create_weak_client(handle, "instrument").map(Address.init))
    }

    private var pointer: OpaquePointer? { client.withLock { $0 }?.pointer }

    func wake(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard let pointer else { return false }
        let waker = Waker(body)
        self.waker.withLock { $0 = waker }
        // libmpv calls under a lock that the setting takes, so that no call outlives the waker.
        mpv_set_wakeup_callback(pointer, Self.callback, Unmanaged.passUnretained(waker).toOpaque())
        return true
    }

    private static let callback: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        if let context { Unmanaged<Waker>.fromOpaque(context).takeUnretainedValue().body() }
    }

    func observe(_ properties: [MPVProperty]) {
        guard let pointer else { return }
        for (index, property) in properties.enumerated() {
            mpv_observe_property(pointer, Self.observation + UInt64(index), property.rawValue, MPV_FORMAT_NODE)
        }
        observedCount.withLock { $0 = max($0, properties.count) }
        mpv_request_log_messages(pointer, MPVEvent.logLevel)
    }

    func endObserving() {
        guard let pointer else { return }
        for index in 0..<observedCount.withLock({ $0 }) {
            mpv_unobserve_property(pointer, Self.observation + UInt64(index))
        }
        mpv_request_log_messages(pointer, "no")
    }

    func ask(_ request: MPVRequests.Request) {
        guard let pointer else { return }
        mpv_get_property_async(pointer, UInt64(request.number), request.property.rawValue, MPV_FORMAT_NODE)
    }

    func nextEvent() -> LibMPVEvent? {
        guard let pointer, let event = mpv_wait_event(pointer, 0)?.pointee, event.event_id != MPV_EVENT_NONE else {
            return nil
        }
        return LibMPVEvent(event)
    }

    func destroy() {
        let client = client.withLock { client in
            defer { client = nil }
            return client
        }
        guard let client else { return }
        mpv_set_wakeup_callback(client.pointer, nil, nil)
        waker.withLock { $0 = nil }
        mpv_destroy(client.pointer)
    }
}

extension LibMPVEvent {
    fileprivate init(_ event: mpv_event) {
        switch event.event_id {
        case MPV_EVENT_START_FILE: self = .event(.startFile)
        case MPV_EVENT_FILE_LOADED: self = .event(.fileLoaded)
        case MPV_EVENT_SEEK: self = .event(.seek)
        case MPV_EVENT_PLAYBACK_RESTART: self = .event(.playbackRestart)
        case MPV_EVENT_SHUTDOWN: self = .event(.shutdown)
        case MPV_EVENT_QUEUE_OVERFLOW: self = .overflow
        case MPV_EVENT_END_FILE:
            let end = event.data?.assumingMemoryBound(to: mpv_event_end_file.self).pointee
            self = .event(.endFile(end.map(MPVEndReason.init) ?? .stop))
        case MPV_EVENT_PROPERTY_CHANGE:
            guard let change = event.data?.assumingMemoryBound(to: mpv_event_property.self).pointee,
                let property = change.name.flatMap({ MPVProperty(rawValue: String(cString: $0)) })
            else {
                self = .event(.other)
                return
            }
            self = .event(.property(property, Self.value(change)))
        case MPV_EVENT_LOG_MESSAGE:
            let message = event.data?.assumingMemoryBound(to: mpv_event_log_message.self).pointee
            self = .event(MPVEvent(logged: message?.text.map { String(cString: $0) } ?? ""))
        case MPV_EVENT_GET_PROPERTY_REPLY:
            let answer = event.data?.assumingMemoryBound(to: mpv_event_property.self).pointee
            self = .reply(Int(clamping: event.reply_userdata), event.error < 0 ? nil : answer.flatMap(Self.value))
        default: self = .event(.other)
        }
    }

    private static func value(_ property: mpv_event_property) -> JSONValue? {
        guard property.format == MPV_FORMAT_NODE, let node = property.data?.assumingMemoryBound(to: mpv_node.self)
        else {
            return nil
        }
        return JSONValue(node.pointee, depth: 0)
    }
}

extension MPVEndReason {
    fileprivate init(_ end: mpv_event_end_file) {
        switch end.reason {
        case MPV_END_FILE_REASON_EOF: self = .endOfFile
        case MPV_END_FILE_REASON_QUIT: self = .quit
        case MPV_END_FILE_REASON_REDIRECT: self = .redirect
        // libmpv's own words; they are fixed and name no address.
        case MPV_END_FILE_REASON_ERROR: self = .error(mpv_error_string(end.error).map { String(cString: $0) } ?? "")
        default: self = .stop
        }
    }
}

extension JSONValue {
    /// The properties that are observed are two levels deep.
    private static let maxDepth = 8

    /// Copies a node; nil for no value.
    fileprivate init?(_ node: mpv_node, depth: Int) {
        guard depth < Self.maxDepth else { return nil }
        switch node.format {
        case MPV_FORMAT_STRING: self = .string(node.u.string.map { String(cString: $0) } ?? "")
        case MPV_FORMAT_FLAG: self = .bool(node.u.flag != 0)
        case MPV_FORMAT_INT64: self = .int(Int(node.u.int64))
        case MPV_FORMAT_DOUBLE: self = .double(node.u.double_)
        case MPV_FORMAT_NODE_ARRAY:
            let nodes = node.u.list.map { UnsafeBufferPointer(start: $0.pointee.values, count: Int($0.pointee.num)) }
            self = .array((nodes ?? .init(start: nil, count: 0)).map { JSONValue($0, depth: depth + 1) ?? .null })
        case MPV_FORMAT_NODE_MAP:
            guard let list = node.u.list?.pointee else { return nil }
            var members: [String: JSONValue] = [:]
            for index in 0..<Int(list.num) {
                guard let key = list.keys?[index].map({ String(cString: $0) }), let value = list.values?[index] else {
                    continue
                }
                members[key] = JSONValue(value, depth: depth + 1)
            }
            self = .object(members)
        default: return nil
        }
    }
}
#endif
