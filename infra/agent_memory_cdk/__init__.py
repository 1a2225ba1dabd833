"""A memory service for AI agents as a construct of the AWS CDK."""

from .agent_memory import AgentMemory
from .code import FunctionCode, NoCode, find_bundled_code
from .edge import Edge
from .lambda_function import Network
from .settings import (
    Domain,
    EdgeSettings,
    Settings,
    StandbyRegion,
    TaskEventSource,
    Tokens,
    WrongChoice,
)
from .state import State
from .tables import TableArns

__all__ = [
    "AgentMemory",
    "Domain",
    "Edge",
    "EdgeSettings",
    "FunctionCode",
    "Network",
    "NoCode",
    "Settings",
    "StandbyRegion",
    "State",
    "TableArns",
    "TaskEventSource",
    "Tokens",
    "WrongChoice",
    "find_bundled_code",
]
