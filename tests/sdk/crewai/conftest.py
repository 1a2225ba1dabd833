"""CrewAI without telemetry; it isn't there but in its own environment."""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}
