"""How the page of the OpenAPI document looks, and the headers that let it load nothing else."""

import base64
from hashlib import sha256

STYLE = """\
:root { color-scheme: light dark; --ink: #1c2024; --soft: #60646c; --line: #e0e3e8;
  --ground: #fcfcfd; --panel: #f2f4f7; --accent: #0b5cad }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e9ee; --soft: #a0a6b1; --line: #30353e;
  --ground: #14171b; --panel: #1e2229; --accent: #7ab8ff } }
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 54rem; color: var(--ink);
  background: var(--ground); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { font-size: 1.8rem; line-height: 1.2 }
h2 { margin: 3rem 0 1rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line) }
h3 { margin: 0 0 .4rem; font-size: 1.05rem }
h4 { margin: 1rem 0 .3rem; font-size: .85rem; color: var(--soft) }
p { margin: .5rem 0 }
a { color: var(--accent) }
nav ul { padding: 0; list-style: none; columns: 20rem }
nav li { break-inside: avoid; padding: .1rem 0 }
code, pre { font: .875em/1.5 ui-monospace, Menlo, Consolas, monospace }
pre { padding: .9rem 1rem; overflow-x: auto; border-radius: .5rem; background: var(--panel) }
pre code { font-size: .85rem; overflow-wrap: normal }
article { margin: 1.2rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: .6rem }
article:target { border-color: var(--accent) }
.method { display: inline-block; min-width: 3.6rem; color: var(--accent); font-weight: 700 }
.soft { color: var(--soft) }
.wide { overflow-x: auto }
table { width: 100%; border-collapse: collapse; font-size: .92rem }
td { padding: .35rem .7rem .35rem 0; border-top: 1px solid var(--line); vertical-align: top }
td:first-child { min-width: 7.5rem; width: 25% }
td:nth-child(2) { min-width: 7.5rem; width: 30% }
@media (max-width: 34rem) { td, td:first-child, td:nth-child(2) { display: block; width: auto;
  padding: .1rem 0; border: 0 }
  tr { display: block; padding: .4rem 0; border-top: 1px solid var(--line) } }
"""

_HASH = base64.b64encode(sha256(STYLE.encode()).digest()).decode()

HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
"""The page's headers: of all styles and scripts only its own style is let in."""
