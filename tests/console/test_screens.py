"""Use each of the console's screens for its purpose, in a browser."""

import json

from tests.console.demo import Demo
from tests.console.visit import Visit
from tests.contract.expect import ok

_STEP = {"namespace": "steps", "memory_type": "working", "value": {}}
_HOLD_FIRST_ANSWER = """{
  const send = window.fetch;
  window.fetch = async (request, ...rest) => {
    if (!request.url.includes("/recall")) return send(request, ...rest);
    window.fetch = send;
    request.signal.addEventListener("abort", () => { window.isCancelled = true; });
    const answer = await send(request.clone(), {...rest[0], signal: null});
    document.body.dataset.held = "";
    return new Promise(resolve => { window.release = () => resolve(answer); });
  };
}"""
_ROWS = "[...document.querySelectorAll('tbody tr')]"


def test_signing_in_shows_what_was_remembered(visit: Visit) -> None:
    browser = visit.sign_in()
    for text in ("remembered", "Needs attention", "admin (user) in default"):
        browser.wait_for_text(text)
    browser.press("Agents")
    for text in ("agent_ada", "3 of 1,000 memories"):
        browser.wait_for_text(text)
    browser.press("Sign out")
    browser.wait_for_text("API key")
    assert "agent_ada" not in browser.evaluate("document.documentElement.innerHTML")


def test_a_wrong_key_is_refused_and_forgotten(visit: Visit) -> None:
    visit.statuses = (401,)
    visit.start()
    visit.browser.fill("API key", "am_wrong")
    visit.browser.press("Sign in")
    visit.browser.wait_for_text("UNAUTHENTICATED")


def test_memory_is_filtered_by_the_address(visit: Visit) -> None:
    note = visit.make_entry("a key & a / slash", {"a": 1}, tags=["ümlaut"])
    visit.sign_in(screen="memory?tags=%C3%BCmlaut")
    visit.browser.wait_for_text("company.style / a key & a / slash")
    visit.browser.wait_for_text("1 result")
    visit.browser.press("a: 1")
    visit.browser.wait_for_text(note["id"])
    visit.browser.wait_for_text('"a": 1')


def test_an_entry_is_changed_under_its_version(visit: Visit) -> None:
    entry = visit.make_entry("to change", {"rule": "old"})
    browser = visit.sign_in()
    visit.open_entry(entry)
    browser.press("Edit")
    browser.fill("Value (a JSON object)", '{"rule": 1.0, "big": 12345678901234567890}')
    browser.fill("Tags, one per line", "a, b\nc")
    browser.press("Save")
    browser.wait_for_text("12345678901234567890")
    stored = visit.admin.get(f"/api/v1/memory/{entry['id']}")
    assert '"value":{"rule":1.0,"big":12345678901234567890}' in stored.text
    assert (stored.json()["version"], stored.json()["tags"]) == (2, ["a, b", "c"])


def test_a_conflict_keeps_both_texts(visit: Visit) -> None:
    entry = visit.make_entry("contested", {"rule": "old"})
    path = f"/api/v1/memory/{entry['id']}"
    browser = visit.sign_in()
    visit.open_entry(entry)
    browser.press("Edit")
    browser.fill("Value (a JSON object)", '{"rule": "mine"}')
    ok(visit.admin.patch(path, json={"value": {"rule": "theirs"}}, headers={"If-Match": "1"}))
    visit.statuses = (409,)
    browser.press("Save")
    browser.wait_for_text("Someone else changed this memory.")
    browser.wait_for_text("theirs")
    assert browser.evaluate("document.querySelector('textarea').value") == '{"rule": "mine"}'
    assert visit.admin.get(path).json()["value"] == {"rule": "theirs"}
    browser.press("Replace version 2 with mine")
    browser.wait_for("document.querySelector('pre')?.textContent.includes('mine')")
    assert visit.admin.get(path).json()["version"] == 3


def test_a_value_that_is_no_object_is_not_sent(visit: Visit) -> None:
    entry = visit.make_entry("unchanged", {"rule": "old"})
    browser = visit.sign_in()
    visit.open_entry(entry)
    for text in ("[1]", "{", '"text"'):
        browser.press("Edit")
        browser.fill("Value (a JSON object)", text)
        browser.press("Save")
        browser.wait_for("document.querySelector('[role=alert]')")
        browser.press("Cancel")
        browser.wait_for("!document.querySelector('[role=alert]')")
    assert visit.admin.get(f"/api/v1/memory/{entry['id']}").json()["version"] == 1


def test_deleting_asks_first(visit: Visit) -> None:
    entry = visit.make_entry("to delete", {"rule": "old"})
    browser = visit.sign_in()
    visit.open_entry(entry)
    browser.press("Delete…")
    browser.wait_for_text("t undo this. The log keeps a record")
    browser.press("Cancel")
    browser.wait_for("!document.querySelector('dialog')")
    browser.press("Delete…")
    browser.press("Delete permanently")
    browser.wait_for_text("The memory is deleted.")
    assert visit.admin.get(f"/api/v1/memory/{entry['id']}").status_code == 404


def test_the_timeline_shows_the_newest_first_and_follows(visit: Visit) -> None:
    visit.make_entry("first of two", {})
    browser = visit.sign_in(screen="timeline?log=namespace&name=company.style")
    browser.wait_for_text("first of two")
    visit.make_entry("second of two", {})
    browser.wait_for_text("second of two")
    shown = browser.shown()
    assert shown.index("second of two") < shown.index("first of two")
    browser.wait_for("document.querySelector('.chart .recharts-bar-rectangle')")


def test_memory_answers_while_one_types_and_no_address_has_the_question(visit: Visit) -> None:
    entry = visit.make_entry("zebra crossing", {"text": "Stop for zebras"})
    browser = visit.sign_in()
    browser.press_character("/")
    browser.wait_for("document.activeElement.matches('[role=dialog] input[type=search]')")
    browser.call("Input.insertText", text="zebra cross")
    browser.wait_for("document.querySelector('.answers > li')")
    browser.call("Input.insertText", text="ing")
    browser.wait_for_text("Stop for zebras")
    browser.press("Why this result?")
    browser.wait_for_text("Matching words: ")
    browser.evaluate("document.querySelector('.answers a').click()")
    browser.wait_for(f"location.hash === '#/entry/{entry['id']}'")
    browser.wait_for("!document.querySelector('[role=dialog]')")
    browser.wait_for_text('"text": "Stop for zebras"')
    assert not [each for each in browser.requested if "zebra" in each]


def test_an_older_answer_never_replaces_a_newer_one(visit: Visit) -> None:
    """The answer to the first question is held back until the second one's is there."""
    visit.make_entry("slow", {"text": "Giraffes have long necks"})
    visit.make_entry("quick", {"text": "Penguins can swim"})
    browser = visit.sign_in()
    browser.evaluate(_HOLD_FIRST_ANSWER)
    browser.fill("Ask memory", "giraffes")
    browser.wait_for("document.body.dataset.held !== undefined")
    browser.fill("Ask memory", "penguins")
    browser.wait_for("document.querySelector('.answers > li')?.innerText.includes('Penguins')")
    assert browser.evaluate("window.isCancelled") is True
    browser.evaluate("window.release()")
    browser.wait_for("document.querySelector('.answers > li')?.innerText.includes('Penguins')")


def test_filters_are_chips_in_the_address(visit: Visit) -> None:
    visit.make_entry("chips", {"text": "Fish and chips"}, tags=["lunch"])
    visit.make_entry("no chips", {"text": "Fish alone"})
    browser = visit.sign_in(screen="memory")
    browser.wait_for_text("Fish alone")
    browser.evaluate("document.querySelector('.filter-input').focus()")
    browser.call("Input.insertText", text="tag:lunch")
    browser.press_key("Enter")
    browser.wait_for("location.hash === '#/memory?tags=lunch'")
    browser.wait_for("!document.body.innerText.includes('Fish alone')")
    browser.wait_for_text("Fish and chips")
    browser.press_key("Backspace")
    browser.wait_for_text("Fish alone")
    assert browser.evaluate("location.hash") == "#/memory"


def test_a_task_is_found_by_its_intent(visit: Visit) -> None:
    task = {"intent_id": "intent_market", "name": "read <b>it</b>", "assigned_agent": "agent_ada"}
    ok(visit.admin.post("/api/v1/tasks", json=task), 201)
    browser = visit.sign_in(screen="tasks")
    browser.press("intent_market")
    browser.press("read <b>it</b>")
    browser.press("Grants")
    browser.wait_for_text("No one else has access.")
    browser.press("Who may read it?")
    browser.wait_for_text("May read")


def test_what_was_said_is_shown_unless_it_is_sensitive(visit: Visit) -> None:
    said = [{"role": "user", "content": "where is my <i>parcel</i>?"}]
    body = {"user_id": "user_7", "messages": said}
    ok(visit.admin.put("/api/v1/conversations/session_1", json=body), 201)
    browser = visit.sign_in(screen="conversations?user_id=user_7")
    browser.press("session_1")
    browser.wait_for_text("where is my <i>parcel</i>?")
    secret = body | {"sensitivity": "confidential"}
    ok(visit.admin.put("/api/v1/conversations/session_2", json=secret), 201)
    visit.go_to("Conversation", "conversation/session_2")
    browser.wait_for_text("This conversation is confidential.")
    assert "parcel" not in browser.shown()
    browser.press("Show the messages")
    browser.wait_for_text("where is my <i>parcel</i>?")


def test_conversations_and_states_are_chosen_from_lists(visit: Visit, demo: Demo) -> None:
    browser = visit.sign_in(demo.keys["frontline"])
    visit.go_to("Conversations", "conversations")
    browser.press("ada-outage")
    browser.wait_for_text("The line has been down since seven this morning.")
    visit.go_to("States", "states")
    browser.wait_for_text("language")
    browser.press("ada")
    browser.wait_for_text("for:ada")
    browser = visit.sign_in(demo.keys["lead"], screen="states")
    browser.press("support")
    browser.wait_for_text("permission to see these results.")


def test_a_run_shows_its_output_and_episodes(visit: Visit) -> None:
    run = ok(visit.admin.post("/api/v1/runs", json={"agent_type": "sdr", "input": {"n": 1.0}}), 201)
    path = f"/api/v1/runs/{run['id']}"
    ok(visit.admin.post(f"{path}/episodes", json={"content": "called the customer"}), 201)
    browser = visit.sign_in(screen="runs?agent_type=sdr")
    browser.press("Run of sdr")
    browser.press("Show the run")
    browser.wait_for_text("called the customer")
    browser.wait_for_text("n: 1.0")
    browser.press("Exact JSON")
    browser.wait_for_text('"n": 1.0')


def test_access_to_a_namespace_is_explained(visit: Visit) -> None:
    visit.make_entry("to be explained", {})
    browser = visit.sign_in(screen="access?kind=namespace&id=company.style&principal=agent_ada")
    for text in ("yes: read access to the namespace", "no: no rule permits it"):
        browser.wait_for_text(text)
    browser.press("All permissions of this namespace")
    browser.wait_for_text("everyone else")


def test_a_principals_key_is_shown_once_and_its_end_is_audited(visit: Visit) -> None:
    browser = visit.sign_in(screen="principals")
    browser.fill("New principal", "eve")
    browser.press("Create")
    browser.wait_for_text("it is not shown again")
    key = browser.evaluate("document.querySelector('.notice pre').textContent")
    assert visit.server.client(key).get("/api/v1/me").json()["id"] == "eve"
    browser.press("I have copied it")
    browser.wait_for("!document.querySelector('.notice')")
    assert key not in browser.evaluate("document.documentElement.outerHTML")
    browser.wait_for("""document.querySelector('[aria-label="Revoke eve"]')""")
    browser.evaluate("""document.querySelector('[aria-label="Revoke eve"]').click()""")
    browser.press("Revoke")
    browser.wait_for("""!document.querySelector('[aria-label="Revoke eve"]')""")
    assert visit.server.client(key).get("/api/v1/me").status_code == 401
    browser.press("Audit")
    browser.wait_for_text("principal:eve")


def test_a_screen_for_administrators_is_not_offered_to_others(visit: Visit) -> None:
    body = {"id": "only_reader", "kind": "user", "permissions": ["memory.read"]}
    made = ok(visit.admin.post("/api/v1/principals", json=body), 201)
    browser = visit.sign_in(made["api_key"], screen="access")
    browser.wait_for_text("Guardrails")
    assert "Audit" not in browser.shown()
    entry = visit.make_entry("read only", {"a": 1})
    visit.open_entry(entry)
    browser.wait_for_text('"a": 1')
    assert "Delete" not in browser.shown()


def test_json_escapes_show_what_is_invisible(visit: Visit) -> None:
    text = "abc\u202edef"
    entry = visit.make_entry(f"hidden {text}", {"text": text})
    browser = visit.sign_in()
    visit.open_entry(entry)
    shown = browser.shown()
    assert "\u202e" not in shown
    assert json.dumps({"text": text}, indent=2) in shown
    assert "hidden abc\\u202edef" in shown


def test_workflows_are_drawn_as_curves_with_axes(visit: Visit, demo: Demo) -> None:
    browser = visit.sign_in()
    visit.go_to("Procedures", demo.screens["Procedures"])
    browser.wait_for("document.querySelectorAll('.chart .recharts-line-curve').length === 3")
    for tick in ("0.25", "0.75", "Score"):
        browser.wait_for(f"document.querySelector('.chart').textContent.includes('{tick}')")


def test_values_of_states_and_snapshots_come_when_asked_for(visit: Visit, demo: Demo) -> None:
    browser = visit.sign_in(demo.keys["frontline"])
    visit.go_to("States", demo.screens["States"])
    assert not [each for each in browser.requested if each.endswith("/language")]
    browser.press("Show the value")
    browser.wait_for_text("German")
    browser.press("Exact JSON")
    browser.wait_for_text('"German"')
    visit.sign_in(screen=demo.screens["Replayable run"])
    browser.press("Show what it saw")
    browser.wait_for_text("refunded to card <REDACTED:card>")


def test_an_agents_parts_are_its_memory_eviction_tasks_and_log(visit: Visit, demo: Demo) -> None:
    assert demo.screens
    browser = visit.sign_in()
    visit.go_to("Agent", "agent/billing")
    browser.press("Evicted next")
    browser.wait_for_text("Pinned memories are never evicted.")
    browser.wait_for_text("Business bills need the tax number on the first page")
    browser.press_within("Parts of the agent", "Tasks")
    browser.press("Refund affected customers")
    browser.press("Context at start")
    browser.wait_for_text("Shared memory (10)")


def test_a_person_has_one_timeline_of_all_kinds(visit: Visit, demo: Demo) -> None:
    assert demo.screens
    browser = visit.sign_in()
    visit.go_to("Person", "person/ada?show=timeline")
    for text in ("ada said", "frontline remembered", "frontline learned", "October 2026"):
        browser.wait_for(f"document.querySelector('main').innerText.includes({json.dumps(text)})")
    times = "[...document.querySelectorAll('main .memories time')].map(each => each.dateTime)"
    shown = browser.evaluate(times)
    assert shown == sorted(shown, reverse=True)


def test_workflows_are_found_by_agent_type_and_task_type(visit: Visit, demo: Demo) -> None:
    browser = visit.sign_in(demo.keys["lead"], screen="procedures")
    browser.press("support")
    browser.press("slow-line")
    browser.wait_for_text("measure-first")


def test_what_the_next_run_recalls_is_shown_when_it_is_asked_for(visit: Visit, demo: Demo) -> None:
    browser = visit.sign_in(demo.keys["lead"], screen="runs?agent_type=support")
    browser.press("What the next run recalls: the newest episodes of all runs")
    browser.press("Show the episodes")
    browser.wait_for_text("The address register did not answer")


def test_an_object_is_shown_when_asked_for_and_deleted_after_a_question(visit: Visit) -> None:
    visit.admin.put("/api/v1/objects/papers/a%20b.html", content=b"<b>bold</b> \xe2\x80\xae")
    visit.admin.put("/api/v1/objects/papers/bytes", content=bytes(range(256)) * 40)
    browser = visit.sign_in(screen="object?space=papers&key=bytes")
    browser.press("Show the content")
    browser.wait_for_text("00 01 02 03")
    browser.press("All files of papers")
    browser.press("a b.html")
    browser.wait_for_text("Show the content")
    assert "bold" not in browser.shown()
    browser.press("Show the content")
    browser.wait_for_text("<b>bold</b> \\u202e")
    browser.press("Delete…")
    browser.press("Delete permanently")
    browser.wait_for_text("The file is deleted.")
    assert visit.admin.get("/api/v1/objects/papers/a%20b.html").status_code == 404


def test_guardrails_change_after_the_page_has_said_what_changes(visit: Visit) -> None:
    path = "/api/v1/coordinators/chief/guardrails"
    given = {"max_working_memory_per_task": 9, "allowed_semantic_namespaces": []}
    ok(visit.admin.patch(path, json={"guardrails": given}))
    browser = visit.sign_in(screen="guardrails?coordinator_id=chief")
    browser.fill("Most working memories of a task", "7")
    browser.fill("Denied shared namespaces", "billing.*\nsalaries")
    browser.press("Change…")
    for text in ("of a task: 9 → 7", 'null → ["billing.*","salaries"]'):
        browser.wait_for_text(text)
    assert ok(visit.admin.get(path))["version"] == 1
    browser.press("Change")
    browser.wait_for("!document.querySelector('dialog')")
    changed = ok(visit.admin.get(path))["guardrails"]
    assert changed["max_working_memory_per_task"] == 7
    assert changed["allowed_semantic_namespaces"] == []
    assert changed["denied_semantic_namespaces"] == ["billing.*", "salaries"]


def test_a_tasks_timeline_finds_its_events_behind_those_of_others(visit: Visit) -> None:
    made = ok(visit.admin.post("/api/v1/principals", json={"id": "busy", "kind": "agent"}), 201)
    with visit.server.client(made["api_key"]) as agent:
        for task, count in (("first", 1), ("second", 50), ("third", 50), ("fourth", 50)):
            body = {"id": task, "name": task, "intent_id": "crowded", "assigned_agent": "busy"}
            ok(visit.admin.post("/api/v1/tasks", json=body), 201)
            entries = [
                _STEP | {"key": f"{task} {each}", "scope": {"task_id": task}}
                for each in range(count)
            ]
            ok(agent.post("/api/v1/memory/batch", json={"entries": entries}))
    browser = visit.sign_in(screen="timeline?log=intent&name=crowded")
    browser.wait_for("document.querySelector('a[href=\"#/task/fourth\"]')")
    visit.go_to("Task", "task/first")
    browser.wait_for(f"{_ROWS}.some(each => each.innerText.includes('created'))")


def test_a_log_is_followed_from_its_cursor(visit: Visit) -> None:
    visit.make_entry("before", {})
    browser = visit.sign_in(screen="timeline?log=namespace&name=company.style")
    browser.wait_for_text("before")
    for key in ("after one", "after two"):
        visit.make_entry(key, {})
        browser.wait_for_text(key)
    looks = [each for each in browser.requested if "order=asc" in each]
    assert any("&after=" in each for each in looks)
    assert len([each for each in browser.requested if "order=desc" in each]) == 1
