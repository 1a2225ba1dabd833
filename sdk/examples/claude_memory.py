"""Claude's notes, which its memory tool stores for the next run.

    python claude_memory.py "She likes green tea."

The environment has AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY. The example sends commands as Claude
does; with Anthropic's API, Claude chooses them:

    runner = Anthropic().beta.messages.tool_runner(
        model="claude-sonnet-5-5", max_tokens=1024, tools=[tool],
        messages=[{"role": "user", "content": "Remember that I like green tea."}],
    )
"""

import sys

from agent_memory import Client
from agent_memory.adapters.anthropic import AgentMemoryTool
from anthropic.lib.tools import ToolError

NOTES = "/memories/notes.md"


def send(tool: AgentMemoryTool, command: str, path: str, **arguments: object) -> str:
    """Send a command as Claude does; return the tool's result."""
    return str(tool.call({"command": command, "path": path, **arguments}))


with Client() as client:
    tool = AgentMemoryTool(client, root="users/ada")
    note = sys.argv[1] if len(sys.argv) > 1 else "She likes green tea."
    print(send(tool, "view", "/memories"))
    try:
        send(tool, "create", NOTES, file_text=f"{note}\n")
    except ToolError:
        lines = send(tool, "view", NOTES).count("\n") - 1
        send(tool, "insert", NOTES, insert_line=lines, insert_text=note)
    for line in send(tool, "view", NOTES).splitlines()[:-1]:
        print(line)
