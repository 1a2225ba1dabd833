"""Check the words of the code and of the documentation (CONTRIBUTING.md, "Language").

`words.txt` has the phrases that no sentence may contain, and the words that no docstring may begin
with. `python -m tools.language [PATH ...]` checks everything, or only these files and folders.
"""
