extension TestOrigin {
    /// The part of `--help` about schedules and faults.
    static var guide: String {
        """
        SCHEDULE is a list of steps, BANDWIDTH [latency DURATION] [for DURATION], separated by commas; 'repeat' may be the last:
          --schedule '4000k for 10s, 600k for 20s, 4000k'
          --schedule '2.5M latency 40ms for 1m, 0 for 3s, repeat'
        Bandwidths are in bits per second (64000, 600k, 2.5M, unlimited; 0 stops all data); a latency applies until the next one.
        Times count from the first request of a session; paths under /s/NAME/ belong to the session NAME.

        FAULT is KIND [on PATTERN] [nth N | first N | every N] [from TIME] [until TIME]; the first rule that matches applies:
          --fault '404 on vod/ts/v0/3.ts'           status 200 to 599
          --fault '503 retry-after 2s first 2'      status with Retry-After
          --fault 'reset on *.ts nth 3'             RST ('reset after N': after N bytes)
          --fault 'hang after 1000 on *.ts every 5' silence ('hang': no response at all)
          --fault 'truncate after 5000 on *.m4s'    close after 5000 bytes
          --fault 'understate by 100 on *.mp4'      Content-Length too small
          --fault 'slow 2s on *.m3u8 from 20s'      delay the first byte by 2 s
          --fault 'redirect to vod/ts/v1.m3u8 on vod/ts/v0.m3u8', 'redirect loop nth 1'
          --fault 'content-type text/plain', 'html', 'body of vod/ts/v1/0.ts', 'endless on *.m3u8'
          --fault 'trickle 1 every 10ms on *.ts'    send 1 byte every 10 ms
          --fault 'stale on live/* from 30s'        live playlists stop updating
        In a PATTERN, * matches any text and ? one character. Counts and times are per session.

        Streams that break exactly one rule of 'player-monitor check --list' are under /break/RULE/, with the fault counted from the \
        session's first request: /s/a/break/stale/live/ts/master.m3u8, /s/b/break/timeline-gap/vod/dash/timeline.mpd.

        Paths under /server/a/ and /server/b/ are two servers of one stream, for failover and content steering:
          --fault '503 on server/a/* from 10s'      /vod/ts/servers.m3u8, /vod/dash/steering.mpd

        Times have a unit, as in 40ms, 10s or 1m; a time of an option without a unit is in seconds. Exit codes: 0 success, 1 the \
        origin cannot start, 2 wrong arguments, 4 standard output could not be written.

        A scenario file has the same settings in JSON:
          {"schedule": "4000k for 10s, 600k", "sharing": "fair", "scope": "session",
           "faults": ["404 on *.ts nth 3"], "sessions": {"slow": "300k latency 200ms"}}
        """
    }
}
