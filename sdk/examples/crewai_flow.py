"""A CrewAI flow with a stored state: each run continues the same report.

The environment has AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY. No language model is needed.
"""

from agent_memory.adapters.crewai import AgentMemoryFlowPersistence
from crewai.flow.flow import Flow, listen, start
from crewai.flow.persistence import persist
from pydantic import BaseModel


class Report(BaseModel):
    id: str = "weekly-report"
    drafts: int = 0
    text: str = ""


@persist(AgentMemoryFlowPersistence())
class WriteReport(Flow[Report]):
    @start()
    def draft(self) -> None:
        self.state.drafts += 1

    @listen(draft)
    def review(self) -> str:
        self.state.text = f"draft {self.state.drafts}"
        return self.state.text


print(WriteReport(suppress_flow_events=True).kickoff(inputs={"id": "weekly-report"}))
