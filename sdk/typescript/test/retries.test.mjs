// How calls are sent again, on a fetch that fails as it is told.

import assert from "node:assert/strict";
import test from "node:test";
import {
  AuthenticationError,
  Client,
  ConnectionFailedError,
  InvalidAnswerError,
  MemoryAccessError,
  MemoryConflictError,
  MemoryNotFoundError,
  RunClosedError,
  ServiceUnavailableError,
} from "../dist/index.js";

function answer(status, document, headers = {}) {
  return () => new Response(JSON.stringify(document), { status, headers });
}

function fail() {
  throw new TypeError("fetch failed");
}

function clientOf(answers, options = {}) {
  const sent = [];
  const fetch = async (url, request) => {
    sent.push({ url, ...request });
    return answers.shift()();
  };
  return [new Client({ apiKey: "am_x", fetch, ...options }), sent];
}

const entry = { id: "mem_1", version: 1 };
const unavailable = answer(503, { code: "UNAVAILABLE", message: "later" });

test("a call that failed in passing is sent again under one Idempotency-Key", async () => {
  const [client, sent] = clientOf([fail, unavailable, answer(201, entry)]);
  assert.deepEqual(await client.memory.put("ns", "k", {}), entry);
  const keys = new Set(sent.map((each) => each.headers["Idempotency-Key"]));
  assert.deepEqual([sent.length, keys.size], [3, 1]);
});

test("two calls have two keys", async () => {
  const [client, sent] = clientOf([answer(201, entry), answer(201, entry)]);
  await client.memory.put("ns", "k", {});
  await client.memory.put("ns", "k", {});
  assert.notEqual(sent[0].headers["Idempotency-Key"], sent[1].headers["Idempotency-Key"]);
});

test("Retry-After is waited for", async () => {
  const throttled = answer(429, { code: "THROTTLED", message: "slow down" }, { "retry-after": "1" });
  const [client] = clientOf([throttled, answer(200, entry)]);
  const begun = Date.now();
  await client.memory.getById("mem_1");
  assert.ok(Date.now() - begun >= 990);
});

test("a date in Retry-After is waited for", async () => {
  const tomorrow = new Date(Date.now() + 86_400_000).toUTCString();
  const throttled = answer(429, { code: "THROTTLED", message: "slow down" }, { "retry-after": tomorrow });
  const [client, sent] = clientOf([throttled, answer(200, entry)]);
  await assert.rejects(client.withOptions({ deadlineMs: 5_000 }).memory.getById("mem_1"));
  assert.equal(sent.length, 1);
});

test("a conflict, a bad key and a foreign answer are not sent again", async () => {
  const cases = [
    [answer(409, { code: "VERSION_MISMATCH", message: "m" }), MemoryConflictError],
    [answer(401, { code: "UNAUTHENTICATED", message: "m" }), AuthenticationError],
    [answer(403, { message: "Forbidden" }), MemoryAccessError],
    [answer(404, { error: "not_found", message: "m" }), MemoryNotFoundError],
    [answer(409, { code: "RUN_CLOSED", message: "m" }), RunClosedError],
    [answer(500, { code: "INTERNAL_ERROR", message: "m" }), ServiceUnavailableError],
    [() => new Response("<html>", { status: 404 }), InvalidAnswerError],
    [() => new Response(null, { status: 307, headers: { location: "http://other.test" } }), InvalidAnswerError],
    [() => new Response("<html>", { status: 200 }), InvalidAnswerError],
  ];
  for (const [given, kind] of cases) {
    const [client, sent] = clientOf([given]);
    await assert.rejects(client.memory.put("ns", "k", {}), (error) => {
      assert.equal(error.constructor, kind);
      assert.equal(error.mayHaveHappened, error.status === 500 || error.status === 200);
      return true;
    });
    assert.deepEqual([sent.length, sent[0].redirect], [1, "manual"]);
  }
});

test("after the last retry the failure is told, and whether it may have happened", async () => {
  const [client] = clientOf([unavailable, unavailable], { maxRetries: 1 });
  await assert.rejects(client.memory.put("ns", "k", {}), ServiceUnavailableError);
  const [lost] = clientOf([fail], { maxRetries: 0 });
  await assert.rejects(lost.memory.put("ns", "k", {}), (error) => {
    assert.ok(error instanceof ConnectionFailedError);
    return error.mayHaveHappened;
  });
});

test("a signal ends a call between two attempts", async () => {
  const controller = new AbortController();
  const [client] = clientOf([unavailable, unavailable]);
  const call = client.request("GET", "/health", { signal: controller.signal });
  controller.abort(new Error("enough"));
  await assert.rejects(call, /enough/);
});

test("what can't be right is refused at once", () => {
  assert.throws(() => new Client({ apiKey: "" }), TypeError);
  delete process.env.AGENT_MEMORY_API_KEY;
  assert.throws(() => new Client({ apiKey: process.env.AGENT_MEMORY_API_KEY }), /set AGENT_MEMORY_API_KEY/);
  assert.throws(() => new Client({ apiKey: "am_x", serverUrl: "ftp://x" }), TypeError);
});
