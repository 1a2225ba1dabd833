"""What Claude notes by its memory tool is there in its next run.

    python claude_memory.py "She likes green tea."

The environment has AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY. The commands are those that Claude
sends; with Anthropic's API it chooses them:

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

with Client() as client:
    tool = AgentMemoryTool(client, root="users/ada")
    note = sys.argv[1] if len(sys.argv) > 1 else "She likes green tea."
    print(tool.call({"command": "view", "path": "/memories"}))
    try:
        tool.call({"command": "create", "path": NOTES, "file_text": f"{note}\n"})
    except ToolError:
        lines = tool.call({"command": "view", "path": NOTES}).count("\n") - 1
        command = {"command": "insert", "path": NOTES, "insert_line": lines, "insert_text": note}
        tool.call(command)
    for line in tool.call({"command": "view", "path": NOTES}).splitlines()[:-1]:
        print(line)
