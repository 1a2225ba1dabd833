"""The stream function's entry point: Lambda imports it at INIT, which builds everything."""

from functions.platform.cold_start import pause_gc

with pause_gc():
    from functions.container import Container
    from functions.platform.settings import StreamSettings
    from functions.stream.handler import build_handler

    handler = build_handler(Container(StreamSettings.from_env()))
