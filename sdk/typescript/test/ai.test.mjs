// The provider, the middleware and the tools for the Vercel AI SDK, with a simulated model.

import assert from "node:assert/strict";
import test, { after } from "node:test";
import { generateText, simulateReadableStream, stepCountIs, streamText } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Client } from "../dist/index.js";
import { createAgentMemory, memoryTools } from "../dist/ai.js";

const client = new Client();
const { id: me } = await client.principals.me();
await client.namespaces.setPermissions("users/*", { default: "none", allow: { [me]: "write" } });
after(() => client.namespaces.setPermissions("users/*", { default: null }));
const usage = { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 1, text: 1 } };
const finishReason = { unified: "stop", raw: "stop" };
const skip = process.env.WITHOUT_SEARCH ? "no embedding model" : false;

function simulate(options) {
  const model = new MockLanguageModelV4(options);
  return { model, provider: { languageModel: () => model } };
}

test("a model is given what is known, and what is said is stored", { skip }, async () => {
  const userId = "ai-ada";
  await client.forUser(userId).remember("She pays by bank transfer");
  await client.recall("bank transfer", { user_id: userId, wait: "indexed" });
  const content = [{ type: "text", text: "By bank transfer." }];
  const { model, provider } = simulate({ doGenerate: { content, finishReason, usage, warnings: [] } });
  const models = createAgentMemory({ provider, client, userId, sessionId: "ai-1" });
  const { text } = await generateText({ model: models("any"), prompt: "How does she pay?" });
  assert.equal(text, "By bank transfer.");
  const [system] = model.doGenerateCalls[0].prompt;
  assert.equal(system.role, "system");
  assert.match(system.content, /She pays by bank transfer/);
  const { messages } = await client.conversations.get("ai-1");
  assert.deepEqual(messages.map((each) => each.content), ["How does she pay?", "By bank transfer."]);
});

test("a streamed answer is stored, too", { skip }, async () => {
  const chunks = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: "On " },
    { type: "text-delta", id: "1", delta: "Friday." },
    { type: "text-end", id: "1" },
    { type: "finish", finishReason, usage },
  ];
  const doStream = async () => ({ stream: simulateReadableStream({ chunks, chunkDelayInMs: null, initialDelayInMs: null }) });
  const { provider } = simulate({ doStream });
  const models = createAgentMemory({ provider, client, userId: "ai-bob", sessionId: "ai-2" });
  assert.equal(await streamText({ model: models.languageModel("any"), prompt: "When?" }).text, "On Friday.");
  const { messages } = await client.conversations.get("ai-2");
  assert.deepEqual(messages.map((each) => each.content), ["When?", "On Friday."]);
});

test("a model calls the tools", { skip }, async () => {
  const user = client.forUser("ai-eve");
  const call = (toolName, input) => ({
    content: [{ type: "tool-call", toolCallId: toolName, toolName, input: JSON.stringify(input) }],
    finishReason: { unified: "tool-calls", raw: "tool_calls" },
    usage,
    warnings: [],
  });
  const steps = [
    call("remember", { text: "Eve likes tea" }),
    { content: [{ type: "text", text: "Noted." }], finishReason, usage, warnings: [] },
  ];
  const model = new MockLanguageModelV4({ doGenerate: async () => steps.shift() });
  await generateText({ model, tools: memoryTools(user), stopWhen: stepCountIs(3), prompt: "I like tea" });
  const found = await user.recall("tea", { wait: "indexed" });
  assert.match(found.text, /Eve likes tea/);
  const { forget, remember } = memoryTools(user);
  const { reference } = await remember.execute({ text: "Eve likes tea" });
  assert.equal(found.items[0].reference, reference);
  assert.equal((await forget.execute({ reference })).items, 1);
  assert.equal((await user.recall("tea", { wait: "indexed" })).items.length, 0);
});
