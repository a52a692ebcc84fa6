/// The style of the page. Colours of text have a contrast of at least 4.5 to their background in both schemes, colours
/// of areas at least 3 (WCAG 2.2, success criteria 1.4.3 and 1.4.11).
enum PageStyle {
    static let css = """
        :root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#f4f6f8;--line:#c9d1d9;--note:#57606a;--accent:#0757b8;--bar:#2f6fbd;\
        --other:#b35900;--bad:#b3261e;--idle:#868e96;--joining:#9a6700;--playing:#1a7f37;--paused:#6e7781;--rebuffering:#cf222e;\
        --pausedBuffering:#bf3989;--seeking:#8250df;--ad:#0a6ebd}
        @media(prefers-color-scheme:dark){:root{--bg:#12161c;--fg:#e6edf3;--soft:#1b2129;--line:#3b444f;--note:#a3adb8;--accent:#79b8ff;\
        --bar:#5b9be6;--other:#f0a35e;--bad:#ff8f87;--idle:#7d8793;--joining:#d4a72c;--playing:#3fb950;--paused:#98a2ad;--rebuffering:#ff6b61;\
        --pausedBuffering:#f778ba;--seeking:#b78bff;--ad:#58a6ff}}
        *{box-sizing:border-box}
        body{margin:0 auto;max-width:90rem;padding:1rem;background:var(--bg);color:var(--fg);font:1rem/1.45 system-ui,sans-serif}
        h1{font-size:1.6rem;margin:.2rem 0}h2{font-size:1.2rem;margin:1.8rem 0 .4rem}h3{font-size:1rem;margin:0 0 .3rem}
        p{margin:.3rem 0 .6rem;max-width:60rem}code{font-size:.92em;overflow-wrap:anywhere}
        .note,small{color:var(--note);font-size:.85rem}
        .skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--bg);padding:.3rem .6rem}
        a{color:var(--accent)}:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        .figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.7rem;margin:1rem 0}
        .figures div{background:var(--soft);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem}
        dt{color:var(--note);font-size:.85rem}dd{margin:0}.figures dd:nth-of-type(1){font-size:1.45rem;font-weight:600}
        .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem}
        figure{margin:0;min-width:0}figcaption{font-weight:600}figcaption .note{display:block;font-weight:400}
        svg{display:block;width:100%;height:auto}
        .bar{fill:var(--bar)}.other{fill:none;stroke:var(--other);stroke-width:2}.grid{stroke:var(--line)}
        .axis{fill:var(--note);font-size:12px}
        .scroll{overflow-x:auto;border:1px solid var(--line);border-radius:.5rem}
        table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
        th,td{padding:.4rem .6rem;text-align:right;vertical-align:top;white-space:nowrap;border-top:1px solid var(--line)}
        thead th{background:var(--soft);border-top:0;font-weight:600}
        th:first-child,td:first-child,td.wide,td:last-child,th:last-child{text-align:left}
        table.left th,table.left td{text-align:left}
        td.wide{white-space:normal;min-width:18rem;overflow-wrap:anywhere}
        .significant td,.significant th{font-weight:600}
        details{margin-top:.4rem}summary{cursor:pointer;color:var(--accent)}details table{width:auto}
        .controls{display:flex;flex-wrap:wrap;gap:.5rem 1.2rem;align-items:center;margin:.5rem 0}
        input,select,button{font:inherit;color:inherit}
        input[type=search],select{background:var(--bg);border:1px solid var(--note);border-radius:.3rem;padding:.25rem .45rem}
        th button,td button{background:none;border:0;padding:0;cursor:pointer;text-align:inherit}
        th button{font-weight:600}th button::after{content:"\\2195";color:var(--note);margin-left:.25em}
        [aria-sort=ascending] button::after{content:"\\2191";color:var(--accent)}
        [aria-sort=descending] button::after{content:"\\2193";color:var(--accent)}
        td.name{min-width:14rem;max-width:26rem;white-space:normal;overflow-wrap:anywhere}
        td.name button{color:var(--accent);text-decoration:underline;display:block}td.name small{display:block}td>small{display:block}
        tr[data-o=failed]>td:last-child{color:var(--bad)}
        tr.open>td{text-align:left;white-space:normal;background:var(--soft);padding:.8rem}
        .panel{position:sticky;left:.8rem;width:min(86rem,calc(100vw - 4.5rem))}
        .legend{display:flex;flex-wrap:wrap;gap:.2rem .9rem;list-style:none;margin:.3rem 0;padding:0;font-size:.85rem}
        .legend svg{display:inline-block;width:.9em;height:.9em;vertical-align:-.1em;margin-right:.3em}
        .lane{fill:var(--note);font-size:12px}.curve{fill:none;stroke:var(--bar);stroke-width:2}
        .area{fill:var(--bar);opacity:.25}.request,.failed{stroke:var(--soft)}.request{fill:var(--bar)}.failed{fill:var(--bad)}.edge{stroke:var(--line);fill:none}
        .idle{fill:var(--idle)}.joining{fill:var(--joining)}.playing{fill:var(--playing)}.paused{fill:var(--paused)}
        .rebuffering{fill:var(--rebuffering)}.pausedBuffering{fill:var(--pausedBuffering)}.seeking{fill:var(--seeking)}.ad{fill:var(--ad)}
        @media(max-width:40rem){body{padding:.6rem}.figures{grid-template-columns:repeat(2,1fr);gap:.5rem}
        .figures dd:nth-of-type(1){font-size:1.15rem}th,td{padding:.35rem .4rem}td.name{min-width:10rem}#table td:nth-child(2){white-space:normal}\
        .lane{font-size:14px}th[scope=row]{white-space:normal;min-width:7rem}}
        @media print{.controls,.skip{display:none}.scroll{overflow:visible}}
        """
}
