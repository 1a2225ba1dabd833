"""The API function's entry point: Lambda imports it at INIT, which builds common routes."""

from functions.platform.cold_start import pause_gc

with pause_gc():
    from functions.api.app import App
    from functions.container import Container
    from functions.entries.requests import EntryChange, NewEntry
    from functions.platform.settings import ApiSettings
    from functions.platform.switches import SwitchedHandler

    handler = SwitchedHandler(lambda each: App(Container(each)), ApiSettings.from_env())
    for model in (NewEntry, EntryChange):
        model.model_rebuild()
