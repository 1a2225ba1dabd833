/** `client.conversations`: what was said in a session. */

import { MemoryNotFoundError } from "./errors.js";
import { Http } from "./http.js";
import { orUndefined } from "./memory.js";
import { Pages } from "./pages.js";
import type { components } from "./schema.js";

type Schemas = components["schemas"];
export type Conversation = Schemas["ConversationHead"];
export type Message = Schemas["Message"];
export type NewMessage = Schemas["NewMessageBody"];
export type ConversationFields = Partial<
  Omit<Schemas["NewConversationBody"], "user_id" | "messages" | "session_id" | "upload_id">
>;

interface MessagePage {
  messages: Message[];
  next_offset?: number;
}

export class Conversations {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Store a conversation in place of the one before it; further messages are appended. */
  async put(
    sessionId: string,
    userId: string,
    messages: readonly NewMessage[] = [],
    fields: ConversationFields & { revision?: number } = {},
  ): Promise<Conversation> {
    const { revision, ...given } = fields;
    const body = { user_id: userId, messages, ...given };
    const headers = renderPrecondition(revision);
    return this.#http.send("PUT", toPath(sessionId), { body, headers });
  }

  /** Append messages, all or none, exactly once. */
  async append(sessionId: string, messages: readonly NewMessage[]): Promise<void> {
    await this.#http.send("POST", `${toPath(sessionId)}/messages`, { body: { messages } });
  }

  /** Return a conversation without its messages; undefined if there is none. */
  async get(sessionId: string): Promise<Conversation | undefined> {
    return orUndefined(this.#http.send<Conversation>("GET", toPath(sessionId), { query: { limit: 0 } }));
  }

  /** List the messages, oldest first, a page at a time. */
  messages(sessionId: string): Pages<Message> {
    return new Pages(async (_limit, after) => {
      const query = { offset: after ?? 0 };
      const page = await this.#http.send<MessagePage>("GET", toPath(sessionId), { query });
      return { items: page.messages, next: page.next_offset?.toString() };
    });
  }

  /** Return the newest messages, oldest first. */
  async last(sessionId: string, count: number): Promise<Message[]> {
    const query = { last: count };
    return (await this.#http.send<MessagePage>("GET", toPath(sessionId), { query })).messages;
  }

  /** List a user's conversations without their messages, the last updated first. */
  list(userId: string): Pages<Conversation> {
    const path = `/api/v1/users/${encodeURIComponent(userId)}/conversations`;
    return new Pages(async (limit, after) => {
      const page = await this.#http.send<{ conversations: Conversation[]; next?: string }>("GET", path, {
        query: { limit, after },
      });
      return { items: page.conversations, next: page.next };
    });
  }

  /** Delete a conversation; whether there was one. */
  async delete(sessionId: string): Promise<boolean> {
    try {
      await this.#http.send("DELETE", toPath(sessionId));
    } catch (error) {
      if (error instanceof MemoryNotFoundError) return false;
      throw error;
    }
    return true;
  }
}

function toPath(sessionId: string): string {
  return `/api/v1/conversations/${encodeURIComponent(sessionId)}`;
}

function renderPrecondition(revision: number | undefined): Record<string, string> {
  if (revision === undefined) return {};
  return revision === 0 ? { "If-None-Match": "*" } : { "If-Match": String(revision) };
}
