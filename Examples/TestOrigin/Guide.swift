extension TestOrigin {
    /// What `--help` says about schedules and faults.
    static var guide: String {
        """
        SCHEDULE is BANDWIDTH [latency DURATION] [for DURATION], such steps after commas, and 'repeat' at the end:
          --schedule '4000k for 10s, 600k for 20s, 4000k'
          --schedule '2.5M latency 40ms for 1m, 0 for 3s, repeat'
        Bandwidths are bits a second (64000, 600k, 2.5M, unlimited; 0 stands still); a latency holds until the next one.
        Time zero is the first request of a session: paths under /s/NAME/ belong to the session NAME.

        FAULT is WHAT [on PATTERN] [nth N | first N | every N] [from TIME] [until TIME]; the first rule that fits acts:
          --fault '404 on vod/ts/v0/3.ts'           another status (200 to 599)
          --fault '503 retry-after 2s first 2'      … with Retry-After
          --fault 'reset on *.ts nth 3'             RST instead of an answer; 'reset after 20000': after so many bytes
          --fault 'hang after 1000 on *.ts every 5' nothing more; without 'after': no answer
          --fault 'truncate after 5000 on *.m4s'    closed too early
          --fault 'understate by 100 on *.mp4'      Content-Length too small
          --fault 'slow 2s on *.m3u8 from 20s'      a slow first byte
          --fault 'redirect to vod/ts/v1.m3u8 on vod/ts/v0.m3u8', 'redirect loop nth 1'
          --fault 'content-type text/plain', 'html', 'body of vod/ts/v1/0.ts', 'endless on *.m3u8'
          --fault 'trickle 1 every 10ms on *.ts'    a byte at a time
          --fault 'stale on live/* from 30s'        live playlists stop changing
        In a pattern * stands for anything, ? for one character. Counts and times are per session.

        A scenario file says the same in JSON:
          {"schedule": "4000k for 10s, 600k", "sharing": "fair", "scope": "session",
           "faults": ["404 on *.ts nth 3"], "sessions": {"slow": "300k latency 200ms"}}
        """
    }
}
