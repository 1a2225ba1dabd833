// Against a running service: AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY.

import assert from "node:assert/strict";
import test from "node:test";
import { Client, MemoryAccessError, MemoryConflictError, MemoryNotFoundError } from "../dist/index.js";

const client = new Client();

test("an entry is put, read, found and deleted", async () => {
  const entry = await client.memory.put("ts", "a/ä %", { n: 1 }, { tags: ["x"], ttl: "duration:PT1H" });
  assert.equal(entry.version, 1);
  assert.deepEqual(await client.memory.get("ts", "a/ä %"), { n: 1 });
  assert.equal((await client.memory.getById(entry.id)).key, "a/ä %");
  assert.deepEqual((await client.memory.query({ tags: ["x"] }).list()).map((each) => each.id), [entry.id]);
  assert.equal(await client.memory.delete("ts", "a/ä %"), true);
  assert.equal(await client.memory.delete("ts", "a/ä %"), false);
  assert.equal(await client.memory.get("ts", "a/ä %"), undefined);
});

test("pages are fetched until the limit", async () => {
  const body = { entries: [] };
  for (let number = 0; number < 5; number += 1) {
    body.entries.push({ namespace: "pages", key: `k${number}`, value: {}, memory_type: "working" });
  }
  await client.request("POST", "/api/v1/memory/batch", { body });
  const pages = client.memory.query({ namespace: "pages", limit: 3 });
  assert.equal((await pages.list()).length, 3);
  assert.equal((await client.memory.query({ namespace: "pages" }).list()).length, 5);
  const page = await client.memory.query({ namespace: "pages", pageSize: 2 }).firstPage();
  const rest = await client.memory.query({ namespace: "pages", after: page.next }).list();
  const all = await client.memory.query({ namespace: "pages" }).list();
  assert.deepEqual([...page.items, ...rest], all);
});

test("a version that isn't there is a conflict that shows the present one", async () => {
  await client.memory.put("ts", "held", { n: 1 });
  await assert.rejects(client.memory.put("ts", "held", { n: 2 }, { version: 7 }), (error) => {
    assert.ok(error instanceof MemoryConflictError);
    assert.equal(error.currentVersion, 1);
    assert.deepEqual(error.current.value, { n: 1 });
    return true;
  });
  await assert.rejects(client.memory.put("ts", "held", {}, { version: 0 }), MemoryConflictError);
});

test("a namespace that ends with * is that namespace, and no prefix", async () => {
  await client.memory.put("star*", "k", { of: "star*" });
  await client.memory.put("starling", "k", { of: "starling" });
  assert.deepEqual(await client.memory.get("star*", "k"), { of: "star*" });
  await client.memory.delete("star*", "k");
  assert.equal(await client.memory.get("star*", "k"), undefined);
  assert.equal(await client.memory.delete("star*", "k"), false);
  await assert.rejects(client.memory.query({ tags: ["a,b"] }).list(), TypeError);
});

test("what is shared is deleted only if asked for", async () => {
  await client.memory.put("shared", "k", {}, { memoryType: "semantic" });
  assert.equal(await client.memory.delete("shared", "k"), false);
  assert.equal(await client.memory.delete("shared", "k", { memoryType: "semantic" }), true);
});

/** A client that loses the answer to its first request by this method, once `meanwhile` is done. */
function losing(method, meanwhile = async () => {}) {
  let isFirst = true;
  const send = async (url, request) => {
    const answer = await fetch(url, request);
    if (request.method !== method || !isFirst) return answer;
    isFirst = false;
    await meanwhile();
    throw new TypeError("fetch failed");
  };
  return new Client({ fetch: send });
}

test("a change whose answer is lost is made once", async () => {
  const count = (value) => ({ n: value.n + 1 });
  await client.memory.put("ts", "lost", { n: 0 });
  await losing("PATCH").memory.update("ts", "lost", count);
  assert.deepEqual(await client.memory.get("ts", "lost"), { n: 1 });
  const meanwhile = () => client.memory.update("ts", "lost", (value) => ({ n: value.n + 10 }));
  await assert.rejects(losing("PATCH", meanwhile).memory.update("ts", "lost", count), (error) => {
    assert.ok(error instanceof MemoryConflictError && error.mayHaveHappened);
    return true;
  });
  assert.deepEqual(await client.memory.get("ts", "lost"), { n: 12 });
  assert.equal(await losing("DELETE").memory.delete("ts", "lost"), true);
});

test("no update is lost", async () => {
  const count = (value) => ({ n: value.n + 1 });
  const updates = Array.from({ length: 20 }, () =>
    client.memory.update("ts", "count", count, { initial: { n: 0 } }),
  );
  await Promise.all(updates);
  assert.deepEqual(await client.memory.get("ts", "count"), { n: 20 });
  await assert.rejects(client.memory.update("ts", "count", () => undefined), TypeError);
  await assert.rejects(client.memory.update("ts", "absent", count), MemoryNotFoundError);
});

test("a task is registered, handed over and ended", async () => {
  const task = await client.tasks.create("intent_ts", { name: "Read", assigned_agent: "ada" });
  const moved = await client.tasks.update(task.id, task.version, { assigned_agent: "ben" });
  assert.deepEqual((await client.tasks.listAssigned("ben").list()).map((each) => each.id), [task.id]);
  await client.tasks.update(task.id, moved.version, { status: "completed", output: { ok: true } });
  assert.equal((await client.tasks.get(task.id)).status, "completed");
  assert.equal((await client.tasks.list("intent_ts", { status: "completed" }).list()).length, 1);
  assert.equal(await client.tasks.get("task_absent"), undefined);
});

test("a conversation is stored, appended to and listed", async () => {
  await client.conversations.put("s1", "user_7", [{ role: "user", content: "Hi" }], { tags: ["a"] });
  await client.conversations.append("s1", [{ role: "assistant", content: { text: "Hello" } }]);
  const said = (await client.conversations.listMessages("s1", { pageSize: 1 }).list()).map((each) => each.content);
  assert.deepEqual(said, ["Hi", { text: "Hello" }]);
  assert.equal((await client.conversations.getLast("s1", 1))[0].role, "assistant");
  assert.equal((await client.conversations.getHead("s1")).message_count, 2);
  assert.deepEqual((await client.conversations.list("user_7").list()).map((each) => each.session_id), ["s1"]);
  assert.equal(await client.conversations.delete("s1"), true);
  assert.equal(await client.conversations.getHead("s1"), undefined);
  await assert.rejects(client.conversations.delete(".."), TypeError);
});

test("revision 0 stores a conversation only where there is none", async () => {
  await client.conversations.put("once", "user_7", [{ role: "user", content: "1" }], { revision: 0 });
  await assert.rejects(client.conversations.put("once", "user_7", [], { revision: 0 }), MemoryConflictError);
  const { revision } = await client.conversations.getHead("once");
  assert.equal((await client.conversations.put("once", "user_7", [], { revision })).message_count, 0);
});

test("conversations, states and memories are listed whosever they are", async () => {
  await client.conversations.put("listed-1", "user_8", [], { tags: ["listed"] });
  await client.conversations.put("listed-2", "user_9", [], { tags: ["listed"] });
  const listed = client.conversations.listAll({ tags: ["listed"], pageSize: 1 });
  assert.deepEqual((await listed.list()).map((each) => each.session_id), ["listed-2", "listed-1"]);
  assert.deepEqual(await client.conversations.listAll({ tags: ["listed"], archived: true }).list(), []);

  const { id } = await client.request("GET", "/api/v1/me");
  for (const owner of ["user_8", "user_9"]) {
    await client.request("PUT", `/api/v1/agents/${id}/state/${owner}/tone`, { body: { value: [owner] } });
  }
  const states = await client.states.listAll(id, { pageSize: 1 }).list();
  assert.deepEqual(states.map((each) => each.value).sort(), [["user_8"], ["user_9"]]);

  const named = { agent: "planner", scope: "ts" };
  const { memoryRef } = await client.request("POST", "/v1/memories", { body: named });
  await client.request("POST", "/v1/memories", { body: { agent: "planner", scope: "other" } });
  const memories = await client.openwop.listMemories({ pageSize: 1 }).list();
  assert.equal(memories.find((each) => each.scope === "ts")?.memoryRef, memoryRef);
});

test("search finds what an entry is about", { skip: process.env.WITHOUT_SEARCH }, async () => {
  await client.memory.put("ts", "tea", { text: "a cup of green tea" });
  const end = Date.now() + 30_000;
  let found = [];
  while (found[0]?.entry.key !== "tea" && Date.now() < end) {
    found = await client.memory.search("hot drink", { memoryType: "working", topK: 3 });
  }
  assert.equal(found[0].entry.key, "tea");
});

test("what is kept for a user is the user's alone, and forgotten as a whole", async () => {
  const ada = client.forUser("ada (1)*");
  assert.equal(await client.forUser("..").get("tone"), undefined);
  await assert.rejects(ada.put("tone", {}), MemoryAccessError);
  const { id } = await client.request("GET", "/api/v1/me");
  const permissions = { default: "none", allow: [{ agent: id, access: "write" }] };
  await client.request("PATCH", "/api/v1/memory/namespaces/users%2F*", { body: { permissions } });
  await ada.put("tone", { formal: true }, { tags: ["style"] });
  await ada.update("visits", (value) => ({ n: value.n + 1 }), { initial: { n: 0 }, namespace: "counts" });
  const found = await ada.query().list();
  assert.deepEqual(
    found.map((entry) => entry.namespace),
    ["users/ada%20%281%29%2A/counts", "users/ada%20%281%29%2A/memory"], // as the Python client has them
  );
  assert.deepEqual((await ada.query({ tags: ["style"] }).list())[0].value, { formal: true });
  assert.equal(await client.forUser("ada").get("tone"), undefined);
  await client.conversations.put("ada's", "ada (1)*");
  await ada.say("chat", { user: "The safe opens with tulip", assistant: "Noted" });
  const { items, text } = await ada.recall("How does the safe open?", { sources: ["messages"], top_k: 1 });
  assert.equal(items[0].text, "The safe opens with tulip");
  assert.match(text, /user: The safe opens with tulip/);
  assert.equal((await client.getRecalled(items[0].reference)).session_id, "chat");
  const recalled = await ada.recall("How does the safe open?", { sources: ["messages"], top_k: 1 });
  await ada.say("chat", { assistant: "With tulip", uses: recalled });
  await ada.say("chat", { user: "How?", assistant: "Say tulip", uses: [items[0], items[0].reference] });
  const answers = await client.listAnswers(items[0]).list();
  assert.deepEqual(answers.map((each) => each.text), ["Say tulip", "With tulip"]);
  assert.deepEqual((await client.conversations.getLast("chat", 1))[0].uses, [items[0].reference]);
  await assert.rejects(ada.say("chat", { user: "Hi", uses: items[0].reference }), TypeError);
  assert.equal((await ada.forget(items[0].reference)).items, 1);
  assert.deepEqual(await ada.forget(), { entries: 2, conversations: 2, facts: 0, states: 0, objects: 0, items: 0 });
  assert.equal(await ada.get("tone"), undefined);
  assert.deepEqual(await client.conversations.list("ada (1)*").list(), []);
});

test("what the principal may not do is refused as that", async () => {
  const made = await client.request("POST", "/api/v1/principals", { body: { id: "eve", kind: "agent" } });
  const eve = new Client({ apiKey: made.api_key });
  await assert.rejects(eve.request("GET", "/api/v1/principals"), (error) => {
    assert.ok(error instanceof MemoryAccessError);
    assert.equal(error.code, "ACCESS_DENIED");
    assert.ok(error.requestId);
    return true;
  });
  await assert.rejects(eve.forUser("ada").put("tone", {}), /allow it/);
});

test("a strategy is set, listed and deleted", async () => {
  const set = await client.strategies.put("ts", "facts", { trigger: { messages: 5 } });
  assert.deepEqual(await client.strategies.get("ts"), set);
  assert.deepEqual((await client.strategies.list().list()).map((each) => each.name), ["ts"]);
  assert.equal((await client.strategies.getStatus("ts")).learned, 0);
  assert.equal(await client.strategies.delete("ts"), true);
  assert.equal(await client.strategies.get("ts"), undefined);
});

test("names of other memories are answered with ours", () => {
  assert.throws(() => client.add("x"), /use remember\(text\)/);
  assert.throws(() => client.search("x"), /use recall\(query\)/);
  assert.throws(() => client.memory.getAll(), /use query\(\)/);
  assert.throws(() => client.forUser("ada").deleteAll(), /use forget\(\)/);
});
