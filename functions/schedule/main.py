"""The scheduled function's entry point: Lambda imports it at INIT, which builds everything."""

from functions.platform.cold_start import pause_gc

with pause_gc():
    from functions.container import Container
    from functions.platform.settings import ScheduleSettings
    from functions.platform.switches import SwitchedHandler
    from functions.schedule.handler import build_handler

    settings = ScheduleSettings.from_env()
    handler = SwitchedHandler(lambda each: build_handler(Container(each)), settings)
