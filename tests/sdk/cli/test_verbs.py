"""The commands remember, say, recall, forget and hand-over."""

from tests.sdk.cli.conftest import Tenant


def test_what_was_remembered_and_said_is_recalled_and_forgotten(tenant: Tenant) -> None:
    cli = tenant.cli()
    cli("namespaces", "set", "users/*", "--default", "none", "--allow", "admin=write")
    made = cli("remember", "Ada pays by invoice", "--user", "ada", "--tag", "billing", "--json")
    assert made.document["value"] == {"text": "Ada pays by invoice"}
    said = ("--said", "My order is late", "--answered", "We promise a refund in March")
    assert "messages  2" in cli("say", "chat", *said, "--user", "ada").out
    ran = cli("recall", "What did we promise?", "--user", "ada")
    assert ran.code == 0, ran.err
    shown = ran.out
    assert "assistant: We promise a refund in March" in shown
    found = cli("recall", "what was promised", "--user", "ada", "--limit", "1", "--json").document
    reference = found["items"][0]["reference"]
    cli("say", "later", "--answered", "In March", "--uses", reference)
    assert "In March" in cli("answers", reference).out
    answered = cli("answers", reference, "--json").document
    assert (answered["session_id"], answered["text"]) == ("later", "In March")
    assert (
        cli("recall", "promise", "--user", "ada", "--until", "2020-01-01", "--json").document[
            "items"
        ]
        == []
    )
    assert cli("forget", found["items"][0]["reference"], "--json").document == {"items": 1}
    again = cli("forget", found["items"][0]["reference"])
    assert (again.code, "no item has the reference" in again.err) == (1, True)
    gone = cli("forget", "--user", "ada", "--everything", "--json").document
    assert (gone["entries"], gone["conversations"]) == (1, 1)
    assert "invoice" not in cli("recall", "invoice", "--user", "ada").out


def test_a_recall_is_narrowed_as_over_http(tenant: Tenant) -> None:
    cli = tenant.cli()
    told = ("--key", "tea", "--source", "survey", "--occurred-at", "2024-05-01", "--ttl", "P30D")
    made = cli("remember", "Tea is served at four", *told, "--json").document
    assert (made["key"], made["value"]["source"]) == ("tea", "survey")
    assert made["expires_at"] is not None
    cli("say", "chat", "--said", "Is there tea?", "--answered", "Yes, there is tea")
    ask = ("recall", "tea", "--wait", "--json")
    entries = cli(*ask, "--source", "entries", "--namespace", made["namespace"]).document["items"]
    assert [each["key"] for each in entries] == ["tea"]
    said = ("--source", "messages", "--session-id", "chat", "--neighbours", "0", "--explain")
    items = cli(*ask, *said, "--exclude", "m.chat.0", "--min-score", "-1").document["items"]
    assert [each["index"] for each in items] == [1]
    assert items[0]["explanation"]
    assert cli("recall", "tea", "--source", "nothing").code == 2


def test_a_target_is_named_completely(tenant: Tenant) -> None:
    cli = tenant.cli()
    refused = cli("forget", "--user", "ada")
    assert (refused.code, "--everything" in refused.err) == (2, True)
    assert cli("forget").code == 2
    assert cli("say", "chat").code == 2
    refused = cli("say", "chat", "--said", "Hi", "--uses", "f.1")
    assert (refused.code, "--uses needs --answered" in refused.err) == (2, True)
    refused = cli("recall", "tea", "--since", "yesterday")
    assert (refused.code, "must be a time" in refused.err) == (2, True)


def test_a_task_is_handed_over(tenant: Tenant) -> None:
    body = {"intent_id": "i", "id": "task-1", "assigned_agent": "ann"}
    tenant.http.post("/api/v1/tasks", json=body).raise_for_status()
    shown = tenant.cli()("hand-over", "task-1", "ben", "--note", "half is done", "--json").document
    assert (shown["assigned_agent"], shown["hand_over_note"]) == ("ben", "half is done")


def test_a_session_of_one_user_does_not_get_the_words_of_another(tenant: Tenant) -> None:
    cli = tenant.cli()
    cli("say", "chat", "--said", "My order is late", "--user", "ada")
    refused = cli("say", "chat", "--said", "I am Ben", "--user", "ben")
    assert (refused.code, "use another session_id" in refused.err) == (3, True)
    blank = cli("remember", "  ")
    assert (blank.code, "must not be blank" in blank.err) == (2, True)
