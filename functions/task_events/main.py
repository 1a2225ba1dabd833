"""The entry point of the function for other systems' task events, built at INIT (at import)."""

from functions.platform.cold_start import pause_gc

with pause_gc():
    from functions.container import Container
    from functions.platform.settings import TaskEventSettings
    from functions.task_events.handler import build_handler

    handler = build_handler(Container(TaskEventSettings.from_env()))
