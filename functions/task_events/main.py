"""The entry point of the function for other systems' task events, built at INIT (at import)."""

from functions.platform.cold_start import pause_gc

with pause_gc():
    from functions.container import Container
    from functions.platform.settings import TaskEventSettings
    from functions.platform.switches import SwitchedHandler
    from functions.task_events.handler import build_handler

    settings = TaskEventSettings.from_env()
    handler = SwitchedHandler(lambda each: build_handler(Container(each)), settings)
