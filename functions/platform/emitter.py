"""Botocore's events in fewer steps: a call has eleven, and five have no handler."""

from typing import Any

from botocore.hooks import EventAliaser


class Emitter(EventAliaser):  # type: ignore[misc]
    """Calls the handlers where botocore keeps those that it found for a name.

    It forgets them whenever one comes or goes, so each is called as before, in the same order.
    """

    def emit(self, event_name: str, **event: Any) -> Any:
        name = self._alias_name_cache.get(event_name) or self._alias_event_name(event_name)
        handlers = self._emitter._lookup_cache.get(name)  # noqa: SLF001 - nothing else has them
        if handlers is None:
            return self._emitter.emit(name, **event)
        if not handlers:
            return []
        event["event_name"] = name
        return [(handler, handler(**event)) for handler in handlers]

    def emit_until_response(self, event_name: str, **event: Any) -> Any:
        name = self._alias_name_cache.get(event_name) or self._alias_event_name(event_name)
        handlers = self._emitter._lookup_cache.get(name)  # noqa: SLF001 - as above
        if handlers is None:
            return self._emitter.emit_until_response(name, **event)
        event["event_name"] = name
        handler = response = None
        for handler in handlers:
            response = handler(**event)
            if response is not None:
                break
        return handler, response
