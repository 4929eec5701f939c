"""The dashboard, `tunewright ui`: pages over a store that lead with the verdict.

`app` answers requests, `guard` decides who may ask, `pages` and `columns` read the store, `verdict`
runs the checklist in a process of its own, `changes` reports what happens meanwhile. The pages
themselves are ES modules under `static/`, used as they are.
"""
