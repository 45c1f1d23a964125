"""The style of the HTML report."""

STYLE = """
:root { color-scheme: light dark; --text: #1d1c1d; --soft: #616061; --line: #e3e3e6; --back: #ffffff; --block: #f6f6f8;
  --link: #1264a3; --good: #007a5a; --bad: #c01343; --warn: #8a5700; --none: #616061 }
@media (prefers-color-scheme: dark) { :root { --text: #e6e6e8; --soft: #a0a0a8; --line: #36363c; --back: #1a1b1e;
  --block: #24252a; --link: #6cb6f0; --good: #4cc38a; --bad: #ff7a95; --warn: #e8b04a; --none: #a0a0a8 } }
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: var(--text);
  background: var(--back) }
h1 { font-size: 1.35rem; line-height: 1.35; margin: 0 0 .4rem; overflow-wrap: anywhere }
h1 { border-left: 5px solid var(--none); padding-left: .7rem } h1.passed { border-color: var(--good) }
h1.failed, h1.over_budget { border-color: var(--bad) }
h1.infrastructure, h1.quarantined { border-color: var(--warn) }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem } h3 { font-size: 1rem; margin: 0 0 .2rem; overflow-wrap: anywhere }
h4 { font-size: .95rem; margin: 1rem 0 .1rem } p { margin: .2rem 0 }
a { color: var(--link) } h3 a { color: inherit; text-decoration: none } a:hover { text-decoration: underline }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.product, .soft { color: var(--soft) } .product { margin: 0; font-size: .9rem }
.evidence { list-style: none; padding: 0; margin: .6rem 0 } .evidence li { padding-left: .7rem; margin: .2rem 0;
  border-left: 3px solid var(--line) } .evidence .scripted { border-color: var(--warn) }
.evidence .live, .evidence .recorded, .evidence .code { border-color: var(--good) }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; padding: .5rem 0; border-bottom: 1px solid var(--line) }
article { border: 1px solid var(--line); border-left: 4px solid var(--none); border-radius: 6px; padding: .8rem 1rem;
  margin: .8rem 0 }
article:target { outline: 2px solid var(--link) }
article.failed, article.over_budget { border-left-color: var(--bad) }
article.quarantined, article.infrastructure { border-left-color: var(--warn) }
.badge { font-size: .8rem; font-weight: 500; border: 1px solid currentColor; border-radius: 1rem; padding: 0 .5rem;
  white-space: nowrap; color: var(--none) }
.badge.passed { color: var(--good) } .badge.failed, .badge.over_budget { color: var(--bad) }
.badge.quarantined, .badge.infrastructure { color: var(--warn) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: .6rem 0 }
dt { color: var(--soft) } dd { margin: 0; min-width: 0 }
code, pre { font: 13px/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere }
pre { white-space: pre-wrap; background: var(--block); padding: .6rem .8rem; border-radius: 6px; margin: .3rem 0 }
summary { cursor: pointer; padding: .2rem 0 }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: .93rem }
thead th { color: var(--soft); font-weight: 500; white-space: nowrap } th { text-align: left; font-weight: 500 }
td, th { padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
tbody tr:target { background: var(--block) }
@media (max-width: 40rem) { body { margin: 1rem auto } dl { grid-template-columns: 1fr; gap: 0 }
  dd { margin: 0 0 .5rem }
  td, th { padding-right: .6rem } }
@media print { details { display: block } }
"""
"""CSS for a light and a dark page, wide and narrow screens."""
