/*
 * style.c - the style sheet of HTML reports. The document allows this one style by its hash and nothing else, so the
 * hash must be that of the text: cli.test_report computes it again.
 *
 * Colours say whose bytes a tile stands for. The picture has its colours as attributes too, so that it is complete
 * where style sheets are forbidden; here they are changed for dark screens.
 */
#include "report/page.h"

static const char style[] =
    ":root{--bg:#fbfbf9;--card:#fff;--fg:#1d2328;--dim:#59636c;--line:#dedbd3;--link:#1b5e8c;--bad:#9a3412}"
    "*{box-sizing:border-box}"
    "body{margin:0 auto;max-width:68rem;padding:1.5rem 1rem 4rem;background:var(--bg);color:var(--fg);"
    "font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}"
    "h1,h2,h3{overflow-wrap:anywhere}h1{font-size:1.5rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2.2rem 0 .5rem}"
    "h3{font-size:1rem;margin:1.2rem 0 .3rem}p{margin:.3rem 0 .7rem;max-width:50rem;overflow-wrap:anywhere}"
    "nav ul{display:flex;flex-wrap:wrap;gap:0 1rem;list-style:none;margin:.8rem 0;padding:0}"
    "a{color:var(--link)}"
    "dl{display:flex;flex-wrap:wrap;gap:.4rem 2rem;margin:.8rem 0}dl div{display:flex;flex-direction:column-reverse}"
    "dt{color:var(--dim);font-size:.85rem}dd{margin:0;font-size:1.15rem;font-weight:600;overflow-wrap:anywhere}"
    ".card{background:var(--card);border:1px solid var(--line);border-left:3px solid var(--bad);border-radius:6px;"
    "padding:.7rem 1.1rem;margin:0 0 .8rem}.card p:first-child{font-size:1.05rem}"
    ".scroll{position:relative;overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:6px}"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}"
    "th,td{padding:.22rem .7rem;text-align:left;vertical-align:top;border-top:1px solid var(--line)}"
    "thead th{border-top:0;color:var(--dim);font-weight:600}"
    ".n{text-align:right;font-variant-numeric:tabular-nums}td.n{white-space:nowrap}"
    ".t{overflow-wrap:anywhere;min-width:5rem;font-weight:400}th.t{min-width:12rem}.pkg,.dim{color:var(--dim)}"
    "pre{margin:.4rem 0 0;padding:.4rem .7rem;overflow-x:auto;background:var(--card);border:1px solid var(--line);"
    "border-radius:6px}pre,code,.t{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace}"
    "pre,code{font-size:.86rem}.t{font-size:.82rem}"
    "ol.path{margin:.4rem 0;padding:0 0 0 1.1rem;border-left:2px solid var(--line);list-style:none}"
    "ol.path li{padding:.08rem 0;overflow-wrap:anywhere}ol.path .goal{color:var(--bad);font-weight:600}"
    "summary{cursor:pointer;color:var(--link);padding:.3rem 0}"
    ".map{display:block;width:100%;height:auto}.map.small{display:none}"
    "ul.key{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;margin:.4rem 0 1rem;padding:0;"
    "font-size:.85rem;color:var(--dim)}"
    "footer{margin-top:3rem;padding-top:.7rem;border-top:1px solid var(--line);font-size:.85rem;color:var(--dim)}"
    ":focus-visible{outline:2px solid var(--link);outline-offset:2px}"
    "@media(max-width:700px){.map{display:none}.map.small{display:block}th,td{padding:.22rem .4rem}"
    "th.t{min-width:9rem}}"
    "@media(prefers-color-scheme:dark){:root{--bg:#14171a;--card:#1a1e22;--fg:#e4e7ea;--dim:#a3adb6;--line:#30363c;"
    "--link:#86bce2;--bad:#f0a97c}.map rect{stroke:#14171a}.map text{fill:#e4e7ea}rect.a{fill:#2c5878}"
    "rect.p{fill:#34503f}rect.r{fill:#5e4d25}rect.j{fill:#4d3c66}rect.o{fill:#2c3238}}"
    "@media print{body{max-width:none;background:#fff;color:#000}nav{display:none}h2,h3{break-after:avoid}"
    "pre{white-space:pre-wrap}.scroll{overflow:visible}table{font-size:.7rem}th,td{padding:.12rem .3rem}"
    ".t{font-size:.65rem}th.t{min-width:4rem}td svg{width:2.2rem}tr,.card,.map{break-inside:avoid}"
    "details::details-content{content-visibility:visible;block-size:auto}}";

const char *hdx_doc_style(void) { return style; }

const char *hdx_doc_style_hash(void) { return "sha256-3m3Qkxjm131dEdOCuh647OrLDVTwiNkDShKazm2nC98="; }
