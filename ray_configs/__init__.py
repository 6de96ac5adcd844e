"""The configurations that ship with the project: Serve configurations, `profiles/` of published models, the dashboard.

A package only so that they are installed with it; `tts.package_files` finds them.
"""
