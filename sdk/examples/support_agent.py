"""A support agent that knows its users: `python support_agent.py USER SESSION MESSAGE`."""

import sys

from agent_memory import Client


def ask_model(prompt: str) -> str:
    print(prompt)  # call your model here
    return "I will look into it."


def answer(client: Client, user_id: str, session: str, message: str) -> str:
    user = client.for_user(user_id)
    known = user.recall(message, max_tokens=800).text
    reply = ask_model(f"You are a support agent.\n{known}\nUser: {message}")
    user.say(session, user=message, assistant=reply)
    return reply


print(answer(Client(), *sys.argv[1:4]))
