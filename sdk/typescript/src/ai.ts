/** `agent-memory/ai`: memory for the Vercel AI SDK, as a provider, a middleware, or tools. */

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Middleware,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  ProviderV4,
} from "@ai-sdk/provider";
import { type ToolSet, jsonSchema, tool, wrapLanguageModel } from "ai";

import type { Client } from "./index.js";
import type { UserMemory } from "./user_memory.js";

export interface MemoryOptions {
  client: Client;
  /** The user whom the model talks to. */
  userId: string;
  /** The conversation that the turns are appended to; without it, nothing is stored. */
  sessionId?: string;
  /** The maximum size of the recalled text, in tokens; 1,000 by default. */
  maxTokens?: number;
}

export interface MemoryProviderOptions extends MemoryOptions {
  /** The provider whose models remember, such as `openai` or `anthropic`. */
  provider: ProviderV4;
}

export type MemoryProvider = ProviderV4 & ((modelId: string) => LanguageModelV4);

/**
 * Return a provider whose language models remember.
 *
 *     const models = createAgentMemory({ provider: openai, client: new Client(), userId: "ada", sessionId: "chat-1" });
 *     await generateText({ model: models("gpt-5"), prompt: "What did we promise me?" });
 */
export function createAgentMemory({ provider, ...options }: MemoryProviderOptions): MemoryProvider {
  const languageModel = (modelId: string): LanguageModelV4 =>
    wrapLanguageModel({ model: provider.languageModel(modelId), middleware: memoryMiddleware(options) });
  return Object.assign(languageModel, {
    specificationVersion: "v4" as const,
    languageModel,
    embeddingModel: (modelId: string) => provider.embeddingModel(modelId),
    imageModel: (modelId: string) => provider.imageModel(modelId),
  });
}

/**
 * Return a middleware that puts what is known into the prompt, and appends each turn to the conversation.
 *
 *     const model = wrapLanguageModel({ model: openai("gpt-5"), middleware: memoryMiddleware(options) });
 */
export function memoryMiddleware({
  client,
  userId,
  sessionId,
  maxTokens = 1000,
}: MemoryOptions): LanguageModelV4Middleware {
  const user = client.forUser(userId);
  const store = async (params: LanguageModelV4CallOptions, answer: string) => {
    const asked = findQuestion(params.prompt);
    if (sessionId === undefined || asked === "") return;
    await user.say(sessionId, answer === "" ? { user: asked } : { user: asked, assistant: answer });
  };
  return {
    specificationVersion: "v4",
    async transformParams({ params }) {
      const query = findQuestion(params.prompt);
      if (query === "") return params;
      const exclude = sessionId === undefined ? {} : { exclude: [{ session_id: sessionId }] };
      const { items, text } = await user.recall(query, { max_tokens: maxTokens, ...exclude });
      if (items.length === 0) return params;
      return { ...params, prompt: [{ role: "system", content: text }, ...params.prompt] };
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const texts = result.content.flatMap((each) => (each.type === "text" ? [each.text] : []));
      await store(params, texts.join(""));
      return result;
    },
    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      let answer = "";
      const observer = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform(part, controller) {
          if (part.type === "text-delta") answer += part.delta;
          controller.enqueue(part);
        },
        flush: () => store(params, answer),
      });
      return { stream: stream.pipeThrough(observer), ...rest };
    },
  };
}

/** Return what the user said last; empty if the last message is not the user's, as after a tool's call. */
function findQuestion(prompt: LanguageModelV4Prompt): string {
  const last = prompt.at(-1);
  if (last?.role !== "user") return "";
  return last.content.flatMap((each) => (each.type === "text" ? [each.text] : [])).join("\n");
}

/**
 * Return tools with which the model itself remembers, recalls, and forgets.
 *
 *     await generateText({ model, tools: memoryTools(client.forUser("ada")), prompt });
 */
export function memoryTools(user: UserMemory): ToolSet {
  return {
    remember: tool({
      description: "Store a lasting fact about the user, in one sentence. The same sentence is stored once.",
      inputSchema: jsonSchema<{ text: string }>(toSchema("text", "what to remember")),
      execute: async ({ text }) => ({ reference: toReference((await user.remember(text)).id) }),
    }),
    recall: tool({
      description: "Find what is known about the user: memories, facts, and what was said in earlier conversations.",
      inputSchema: jsonSchema<{ query: string }>(toSchema("query", "what to find, in words")),
      execute: async ({ query }) => (await user.recall(query)).text,
    }),
    forget: tool({
      description: "Delete one memory, by the reference that recall shows before it.",
      inputSchema: jsonSchema<{ reference: string }>(toSchema("reference", "such as m.chat-42.3")),
      execute: async ({ reference }) => user.forget(reference),
    }),
  };
}

/** Return the reference by which recall shows a memory: its tier and its nonce, of its ID. */
function toReference(id: string): string {
  return `e.${id[4]}${id.slice(-16)}`;
}

function toSchema(name: string, description: string) {
  return {
    type: "object" as const,
    properties: { [name]: { type: "string" as const, description } },
    required: [name],
    additionalProperties: false,
  };
}
