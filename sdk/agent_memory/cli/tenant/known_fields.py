"""The fields that this version knows of an export's documents; those of a newer server are told."""

from collections.abc import Callable, Mapping

from agent_memory import model

_MODELS: Mapping[str, tuple[type[model.Model], ...]] = {
    "principals": (model.Principal,),
    "agents": (model.AgentSettings,),
    "guardrails": (model.CoordinatorGuardrails,),
    "namespaces": (model.Namespace,),
    "tasks": (model.Task,),
    "intents": (model.Intent, model.Acl),
    "conversations": (model.Conversation,),
    "archived": (model.Conversation,),
    "states": (model.State,),
    "runs": (model.Run,),
    "facts": (model.Fact,),
    "procedures": (model.Workflow,),
    "spaces": (model.Space,),
    "objects": (model.ObjectHead,),
}
_OTHERS = {  # what the export adds
    "tasks": {"grants", *model.TaskFields.__annotations__},
    "conversations": {"offset"},
    "archived": {"offset"},
    "runs": {"episodes"},
    "objects": {"owner", "data"},
}


class FieldCheck:
    """Tells the user of each unknown field once.

    Args:
        warn: takes a text for the user.
    """

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._told: set[tuple[str, str]] = set()

    def check(self, subject: str, document: Mapping[str, object]) -> None:
        """Warn of fields of a document that this version doesn't know, and so leaves out."""
        if subject not in _MODELS:
            return
        known = {name for each in _MODELS[subject] for name in each.__dataclass_fields__}
        for name in document.keys() - known - _OTHERS.get(subject, set()):
            if (subject, name) not in self._told:
                self._told.add((subject, name))
                self._warn(f"{subject}: this version doesn't know the field {name}; it is left out")
