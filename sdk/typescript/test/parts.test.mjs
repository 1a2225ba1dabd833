// Every part against a running service, with the key of a tenant's administrator.

import assert from "node:assert/strict";
import test from "node:test";
import { Client, ConversationNotOwned, MemoryConflictError, MemoryNotFoundError } from "../dist/index.js";

const client = new Client();
const me = (await client.principals.me()).id;

test("parts have the same object in their group", () => {
  for (const group of [client.admin, client.protocols]) {
    for (const [name, part] of Object.entries(group)) assert.equal(client[name], part);
  }
});

test("facts are learned, recalled, listed and forgotten", async () => {
  const fact = await client.facts.learn("Acme", "pays within", "14 days", { confidence: 0.9 });
  const [other] = await client.facts.learnAll([{ subject: "Acme", predicate: "is in", object: "Hamburg" }]);
  assert.equal((await client.facts.get(fact.fact_id)).object, "14 days");
  assert.equal(await client.facts.get("fact_none"), undefined);
  assert.deepEqual((await client.facts.query({ subject: "Acme" }).list()).map((each) => each.fact_id), [other.fact_id, fact.fact_id]);
  assert.equal((await client.facts.history(fact.fact_id)).length, 1);
  await client.facts.declare("pays within");
  assert.deepEqual(await client.facts.singleValued(), ["pays within"]);
  if (!process.env.WITHOUT_SEARCH) {
    assert.equal((await client.facts.recall("When does Acme pay?", { topK: 1 }))[0].fact_id, fact.fact_id);
  }
  assert.equal(await client.facts.forget(fact.fact_id), true);
  assert.equal(await client.facts.forgetAll({ subject: "Acme" }), 1);
});

test("a run has episodes, and large values are read in several requests", async () => {
  const input = { text: "x".repeat(250_000) };
  const run = await client.runs.start("sdr", { instance_id: "sdr-1", input });
  await client.runs.append(run.id, "called Acme", { kind: "tool_call", turn: 1 });
  const second = await client.runs.append(run.id, { reply: "no" });
  assert.deepEqual((await client.runs.listEpisodes(run.id).list()).map((each) => each.id)[0], second.id);
  assert.equal((await client.runs.recall("sdr", 1))[0].id, second.id);
  assert.equal((await client.runs.complete(run.id, { done: true })).status, "completed");
  const whole = await client.runs.get(run.id);
  assert.deepEqual([whole.input, whole.output], [input, { done: true }]);
  assert.equal((await client.runs.query({ status: "completed", values: "omit" }).list()).length, 1);
  assert.deepEqual((await client.runs.listAgentTypes().list()).map((each) => each.agent_type), ["sdr"]);
  assert.equal(await client.runs.deleteEpisode(run.id, second.id), true);
  assert.equal((await client.runs.fail((await client.runs.start("sdr")).id, "no answer")).status, "failed");
  assert.equal(await client.runs.delete(run.id), true);
  assert.equal(await client.runs.deleteAll({ agent_type: "sdr" }), 1);
});

test("procedures are selected by their outcomes", async () => {
  await client.procedures.put("sdr", "outreach", "short-mail", { steps: ["mail"] });
  await client.procedures.recordOutcome("sdr", "outreach", "short-mail", 0.8);
  assert.equal((await client.procedures.select("sdr", "outreach", 7)).workflow_id, "short-mail");
  assert.equal((await client.procedures.list("sdr", "outreach").list()).length, 1);
  assert.equal((await client.procedures.listTaskTypes("sdr").list())[0].task_type, "outreach");
  assert.deepEqual((await client.procedures.get("sdr", "outreach", "short-mail")).spec, { steps: ["mail"] });
  assert.equal(await client.procedures.get("sdr", "outreach", "none"), undefined);
  assert.equal(await client.procedures.delete("sdr", "outreach", "short-mail"), true);
});

test("objects keep bytes of any size", async () => {
  const space = `agents/${encodeURIComponent(me)}/reports`;
  const large = new Uint8Array(5_000_000).fill(7);
  const options = { contentType: "text/csv", metadata: { q: "ä" } };
  const version = await client.objects.put(space, "2026/ü.csv", "a,b", options);
  await client.objects.put(space, "2026/large", large);
  const small = await client.objects.get(space, "2026/ü.csv");
  assert.deepEqual([new TextDecoder().decode(small.data), small.contentType, small.version, small.metadata], [
    "a,b",
    "text/csv",
    version,
    { q: "ä" },
  ]);
  assert.deepEqual((await client.objects.get(space, "2026/large")).data, large);
  assert.equal(await client.objects.get(space, "none"), undefined);
  const many = await client.objects.getMany(space, ["2026/ü.csv", "2026/large", "none"]);
  assert.deepEqual([...many.keys()].sort(), ["2026/large", "2026/ü.csv"]);
  await assert.rejects(client.objects.put(space, "2026/ü.csv", "x", { onlyNew: true }), MemoryConflictError);
  await client.objects.rename(space, "2026/ü.csv", "2026/u.csv");
  assert.deepEqual((await client.objects.list(space, "2026/").list()).map((each) => each.key), ["2026/large", "2026/u.csv"]);
  assert.equal((await client.objects.share(space, { planner: "read" }, "none")).default, "none");
  assert.ok((await client.objects.listSpaces().list()).length >= 1);
  assert.equal(await client.objects.delete(space, "2026/u.csv"), true);
  assert.equal(await client.objects.deleteAll(space, "2026/"), 1);
  await assert.rejects(client.objects.get("a/b", "k"), TypeError);
});

test("principals, namespaces and agents are administered", async () => {
  const agent = await client.principals.create("planner", "agent");
  assert.match(agent.api_key, /^am_/);
  assert.notEqual((await client.principals.rotate("planner")).api_key, agent.api_key);
  await client.principals.update("planner", { permissions: ["memory.read"] });
  assert.ok((await client.principals.list().list()).some((each) => each.id === "planner"));
  assert.equal((await client.principals.cachedMe()).id, me);
  const rule = await client.namespaces.setPermissions("policies", { default: "read", allow: { planner: "write" } });
  assert.equal(rule.permissions.default, "read");
  assert.deepEqual((await client.namespaces.setSearchFields("policies", ["kind"])).search_fields, ["kind"]);
  assert.equal((await client.namespaces.setHistory("policies", 90)).history.days, 90);
  assert.equal((await client.namespaces.get("policies")).namespace, "policies");
  assert.ok((await client.namespaces.list().list()).length >= 1);
  const { decision, read } = await client.principals.explainAccess({ principal: "planner", namespace: "policies" });
  assert.ok(decision ?? read);
  assert.equal((await client.agents.configure("planner", { episodic: { capacity: 500 } })).episodic.capacity, 500);
  assert.equal((await client.agents.getSettings("planner")).episodic.capacity, 500);
  assert.equal((await client.agents.getSummary("planner")).agent_id, "planner");
  assert.ok((await client.agents.list().list()).length >= 1);
  assert.deepEqual(await client.agents.listEvictionOrder(me).list(), []);
  await client.agents.setGuardrails("boss", { max_working_memory_per_task: 5 });
  assert.equal((await client.agents.getGuardrails("boss")).guardrails.max_working_memory_per_task, 5);
  await client.principals.revoke("planner");
  assert.ok((await client.audit.list({ action: "principal.create" }).list()).length >= 1);
});

test("usage, deletions and strategies", async () => {
  assert.ok(await client.tenants.getUsage());
  const { status } = await client.deletions.start("person", "nobody@example.com");
  assert.ok(status);
  assert.ok((await client.deletions.get("person", "nobody@example.com")).status);
  assert.equal((await client.strategies.put("tastes", "preferences", { enabled: false })).name, "tastes");
  assert.equal((await client.strategies.list().list()).length, 1);
  assert.ok(await client.strategies.getStatus("tastes"));
  assert.equal((await client.strategies.get("tastes")).kind, "preferences");
  assert.equal(await client.strategies.delete("tastes"), true);
  assert.equal(await client.strategies.get("tastes"), undefined);
  assert.deepEqual((await client.consolidation.preview()).merged, []);
  assert.equal((await client.consolidation.putSettings({ every: null })).every, null);
  assert.equal((await client.consolidation.getSettings()).every, null);
  const { id } = await client.consolidation.start();
  assert.ok((await client.consolidation.get(id)).status);
  assert.equal(await client.consolidation.get("cons_none"), undefined);
  await client.consolidation.undo(id).catch((error) => assert.equal(error.status, 409));
  await assert.rejects(client.tenants.create("another"), { status: 403 });
});

test("tasks end, share their memory, and are handed over with a note", async () => {
  const task = await client.tasks.create("orders", { assigned_agent: me, delegates: ["reviewer"] });
  await client.tasks.grant(task.id, "reviewer", "read");
  assert.equal((await client.tasks.listGrants(task.id).list())[0].principal, "reviewer");
  await client.tasks.revoke(task.id, "reviewer");
  assert.ok(await client.tasks.getContext(task.id, { max_kb: 4 }));
  assert.deepEqual((await client.tasks.listAssigned().list()).map((each) => each.id), [task.id]);
  assert.equal((await client.handOver(task.id, { to: "reviewer", note: "rows 1 to 40" })).hand_over_note, "rows 1 to 40");
  assert.equal((await client.tasks.complete((await client.tasks.create("orders")).id, { ok: 1 })).status, "completed");
  assert.equal((await client.tasks.fail((await client.tasks.create("orders")).id, "no")).status, "failed");
  assert.equal((await client.intents.setAcl("orders", { auditor: "read" })).entries.length, 1);
  assert.equal((await client.intents.getAcl("orders")).entries[0].principal, "auditor");
  assert.ok(await client.intents.setOwner("orders", me));
  assert.ok((await client.intents.list().list()).length >= 1);
  assert.ok(await client.events.listForIntent("orders").list());
  assert.ok(await client.events.listForAgent(me, { newestFirst: true }).list());
  assert.ok(await client.events.listForNamespace("policies").list());
});

test("conversations are changed, searched and popped", async () => {
  await client.conversations.extend("ts-parts", [{ role: "tool", content: "42" }], { userId: "ada" });
  await client.conversations.say("ts-parts", { user: "Hello", assistant: "Hi" });
  await assert.rejects(client.forUser("ben").say("ts-parts", { user: "I am Ben" }), ConversationNotOwned);
  const { api_key: apiKey } = await client.principals.create("ts-outsider");
  await assert.rejects(new Client({ apiKey }).say("ts-parts", { user: "Hello" }), ConversationNotOwned);
  await assert.rejects(client.say("ts-parts", [{ role: "user", content: "Hi" }]), /extend\(sessionId, messages\)/);
  await assert.rejects(client.remember("  "), /must not be blank/);
  assert.deepEqual((await client.conversations.update("ts-parts", { tags: ["solved"] })).tags, ["solved"]);
  assert.equal((await client.conversations.updateMessage("ts-parts", 0, { content: "(removed)" })).content, "(removed)");
  assert.deepEqual((await client.conversations.get("ts-parts")).messages.map((each) => each.content), ["(removed)", "Hello", "Hi"]);
  assert.equal((await client.conversations.pop("ts-parts")).content, "Hi");
  assert.equal(await client.conversations.removeMessages("ts-parts", 0, 1), 1);
  assert.ok((await client.conversations.list().list()).length >= 1);
  if (!process.env.WITHOUT_SEARCH) assert.ok((await client.conversations.search("greeting")).items);
  await assert.rejects(client.conversations.getArchived("ts-parts"), MemoryNotFoundError);
  assert.equal(await client.conversations.deleteArchived("ts-parts"), false);
});

test("an entry has a history", async () => {
  const { id } = await client.memory.set("rates", "eur", { n: 1 }, { memoryType: "semantic" });
  await client.memory.set("rates", "eur", { n: 2 }, { memoryType: "semantic" });
  let versions = [];
  for (let attempt = 0; versions.length < 2 && attempt < 100; attempt += 1) versions = await client.memory.history(id).list();
  assert.deepEqual(versions.map((each) => each.version), [2, 1]);
  assert.deepEqual((await client.memory.getPast(id, { version: 1 })).value, { n: 1 });
  assert.deepEqual((await client.memory.restore(id, 1)).value, { n: 1 });
  await client.memory.removeHistory(id);
  assert.equal((await client.memory.summary()).agent_id, me);
  const entry = { namespace: "many", key: "a", value: {}, memory_type: "working" };
  assert.equal((await client.memory.batch([entry, { ...entry, key: "b" }])).length, 2);
  assert.equal(await client.memory.deleteBatch({ namespace: "many", memoryType: "working" }), 2);
});

test("states, working values and workflow files", async () => {
  assert.equal(await client.states.put(me, "ada", "language", "fr"), 1);
  assert.equal(await client.states.get(me, "ada", "language"), "fr");
  assert.deepEqual(await client.states.getAll(me, "ada"), { language: "fr" });
  assert.equal((await client.states.list(me, "ada").list())[0].key, "language");
  assert.equal(await client.states.delete(me, "ada", "language"), true);
  await client.workingValues.put("sdr-1", "mood", { good: true });
  assert.deepEqual(await client.workingValues.get("sdr-1", "mood"), { good: true });
  assert.deepEqual(await client.workingValues.getAll("sdr-1"), { mood: { good: true } });
  assert.equal(await client.workingValues.delete("sdr-1", "mood"), true);
  assert.equal(await client.workingValues.get("sdr-1", "mood"), undefined);
});

test("a run of OpenWOP sees its snapshot and stores no secret", async () => {
  const reference = await client.openwop.getReference("planner", "customer-7");
  const before = await client.openwop.put(reference, "likes tea", { tags: ["taste"] });
  const run = await client.openwop.start({ memoryRef: reference, secrets: { stripe: "sk_live_1234567890" } });
  await run.addSecrets({ portal: "hunter2-hunter2" });
  const stored = await run.put(run.memoryRef, "paid with sk_live_1234567890");
  assert.doesNotMatch(stored.content, /sk_live/);
  assert.deepEqual((await run.list(run.memoryRef, { tag: "taste" }).list()).map((each) => each.id), [before.id]);
  assert.equal((await run.get(run.memoryRef, before.id)).content, "likes tea");
  await run.end();
  assert.ok((await client.openwop.getState(run.runId)).runId);
  const replayed = await client.openwop.replay(run.runId);
  assert.ok((await client.openwop.listSeen(replayed.runId).list()).length >= 1);
  assert.ok((await client.openwop.listRuns().list()).length >= 2);
  assert.ok((await client.openwop.listMemories().list()).length >= 0);
  assert.equal(await client.openwop.delete(reference, before.id), true);
  assert.equal(await client.openwop.get(reference, before.id), undefined);
  await assert.rejects(client.openwop.getState("run_none"), MemoryNotFoundError);
  await client.openwop.deleteRun(replayed.runId);
});

test("a deadline ends a call that is tried again and again", async () => {
  const refused = new Client({ serverUrl: "http://127.0.0.1:1", apiKey: "am_x", maxRetries: 50, deadlineMs: 300 });
  const began = Date.now();
  await assert.rejects(refused.getCapabilities());
  assert.ok(Date.now() - began < 5_000);
  assert.ok((await client.withOptions({ deadlineMs: 60_000 }).getCapabilities()).memory);
});
