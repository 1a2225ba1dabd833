/** `client.conversations`: conversations and their messages. */

import { ConversationNotOwned, MemoryAccessError, MemoryConflictError, MemoryNotFoundError } from "./errors.js";
import { type Http, quoteSegment } from "./http.js";
import { orUndefined, wasThere } from "./memory.js";
import { Pages, type Paging } from "./pages.js";
import type { components } from "./schema.js";

type Schemas = components["schemas"];
export type ConversationHead = Schemas["ConversationHead"];
export type ConversationMessage = Schemas["ConversationMessage"];
export type NewMessage = Schemas["NewMessageBody"];
export type ConversationFields = Partial<
  Omit<Schemas["NewConversationBody"], "user_id" | "messages" | "session_id" | "upload_id">
>;

export interface ConversationListOptions extends Paging {
  /** Only conversations with all of these. */
  tags?: readonly string[];
}

export interface AllConversationsOptions extends ConversationListOptions {
  /** List archived conversations, the last expired first. */
  archived?: boolean;
}

/** The text of each, in this order. */
export interface Said {
  user?: string;
  assistant?: string;
  /** A recall, items or references that `assistant` was made from. */
  uses?: Uses;
}

type Referred = string | { reference: string };
export type Uses = Referred | { items: readonly Referred[] } | readonly Referred[];

export interface SayOptions {
  /** The user of the conversation; by default, a new one belongs to the caller. */
  userId?: string;
  /** Continue a conversation of another principal or user. */
  join?: boolean;
}

/** The expected user; nothing is appended to a conversation of another user. */
export interface AppendOptions {
  /** The expected creators; nothing is appended to a conversation of another one. */
  expect_created_by?: readonly string[];
  expect_user_id?: string;
  /** If true, its creator must be you, an agent of your `agent_type`, a coordinator, a user, or an administrator. */
  expect_trusted?: boolean;
}

/** The filters and limits of a search of conversations. */
export type ConversationSearchOptions = Partial<Omit<Schemas["ConversationQuestionBody"], "query">>;
export type Conversation = ConversationHead & { messages: ConversationMessage[] };

export interface AtRevision {
  /** Change only this revision. */
  revision?: number | undefined;
}

const PATH = "/api/v1/conversations";
const READS = 5;
const NOTHING_SAID =
  'say needs user, assistant, or both: say(sessionId, { user: "Hello", assistant: "Hi" }); for a list of messages, ' +
  "use client.conversations.extend(sessionId, messages)";

export class Conversations {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Create or replace a conversation; messages beyond one request are appended.
   *
   * @param fields.revision replace only this revision; 0: only if there is none.
   * @throws MemoryConflictError if `revision` is given, and another one is there.
   */
  async put(
    sessionId: string,
    userId: string,
    messages: readonly NewMessage[] = [],
    fields: ConversationFields & { revision?: number } = {},
  ): Promise<ConversationHead> {
    const { revision, ...given } = fields;
    const body = { user_id: userId, messages, ...given };
    const headers = revision === undefined ? {} : { "If-Match": String(revision) };
    return this.#http.send("PUT", toPath(sessionId), { body, headers });
  }

  /** Append messages, all or none, exactly once. */
  async append(
    sessionId: string,
    messages: readonly NewMessage[],
    options: AppendOptions = {},
  ): Promise<void> {
    try {
      await this.#http.send("POST", `${toPath(sessionId)}/messages`, { body: { messages, ...options } });
    } catch (error) {
      const isExpected = Object.keys(options).some((name) => name.startsWith("expect_"));
      if (isExpected && error instanceof MemoryAccessError) {
        const { permissions } = await this.#http.getMe();
        if (permissions.includes("memory.write")) throw new ConversationNotOwned(error.message, error);
      }
      throw error;
    }
  }

  /**
   * Append messages of a user and an assistant; create the conversation if there is none.
   *
   *     await client.conversations.say("chat-42", { user: "Hello", assistant: "Hi" });
   *
   * @throws ConversationNotOwned if it is another principal's or user's, unless `join` is given.
   */
  async say(sessionId: string, said: Said, { userId, join = false }: SayOptions = {}): Promise<void> {
    const messages = (["user", "assistant"] as const).flatMap((role) =>
      said[role] === undefined ? [] : [{ role, content: said[role] }],
    );
    if (messages.length === 0) throw new TypeError(NOTHING_SAID);
    if (said.uses !== undefined) {
      if (said.assistant === undefined) throw new TypeError("uses needs assistant, the answer that was made from these memories");
      Object.assign(messages[messages.length - 1]!, { uses: toReferences(said.uses) });
    }
    return this.extend(sessionId, messages, { ...(userId === undefined ? {} : { userId }), join });
  }

  /** Append messages to a conversation of the caller, and create it if there is none. */
  async extend(
    sessionId: string,
    messages: readonly NewMessage[],
    { userId, join = false }: SayOptions = {},
  ): Promise<void> {
    const user = userId === undefined ? {} : { expect_user_id: userId };
    const expected = join ? {} : { expect_trusted: true, ...user };
    try {
      return await this.append(sessionId, messages, expected);
    } catch (error) {
      if (!(error instanceof MemoryNotFoundError)) throw error;
    }
    const owner = userId ?? (await this.#http.getMe()).id;
    await this.put(sessionId, owner, [], { revision: 0 }).catch((error: unknown) => {
      if (!(error instanceof MemoryConflictError)) throw error;
    });
    await this.append(sessionId, messages, expected);
  }

  /** Find messages, as `client.recall` does, in conversations only. */
  async search(query: string, options: ConversationSearchOptions = {}): Promise<Schemas["Recall"]> {
    return this.#http.send("POST", `${PATH}/search`, { body: { query, ...options } });
  }

  /** Return a conversation with all its messages. */
  async get(sessionId: string): Promise<Conversation> {
    return this.#getWhole(sessionId, toPath(sessionId), {});
  }

  /** Return an archived conversation with all its messages. */
  async getArchived(sessionId: string, expiresAt?: string): Promise<Conversation> {
    return this.#getWhole(sessionId, `${toPath(sessionId)}/archive`, { expires_at: expiresAt });
  }

  async #getWhole(
    sessionId: string,
    path: string,
    query: Record<string, string | undefined>,
  ): Promise<Conversation> {
    for (let attempt = 0; attempt < READS; attempt += 1) {
      const head = await this.#http.send<ConversationHead>("GET", path, { query: { ...query, limit: 0 } });
      const fetch = (limit: number, after: string | undefined) =>
        this.#http.getPage<ConversationMessage>(path, { ...query, total: "none", limit, after }, "messages");
      const messages = await new Pages(fetch).list();
      const { revision } = await this.#http.send<ConversationHead>("GET", path, { query: { ...query, limit: 0 } });
      if (revision === head.revision) return { ...head, messages };
    }
    throw new MemoryConflictError(`the conversation ${sessionId} is written faster than it can be read`);
  }

  /** Change fields of a conversation; its messages stay unchanged. */
  async update(
    sessionId: string,
    { revision, ...changes }: Partial<Schemas["ConversationChangeBody"]> & AtRevision,
  ): Promise<ConversationHead> {
    return this.#http.send("PATCH", toPath(sessionId), { body: changes, headers: ifMatch(revision) });
  }

  /** Change fields of one message, for example to redact it. */
  async updateMessage(
    sessionId: string,
    index: number,
    { revision, ...changes }: Partial<Schemas["MessageChangeBody"]> & AtRevision,
  ): Promise<Schemas["ChangedMessage"]> {
    const path = `${toPath(sessionId)}/messages/${index}`;
    return this.#http.send("PATCH", path, { body: changes, headers: ifMatch(revision) });
  }

  /** Remove the messages from one index to before another one; return their number. */
  async removeMessages(
    sessionId: string,
    first: number,
    end?: number,
    { revision }: AtRevision = {},
  ): Promise<number> {
    const query = { from: first, to: end };
    const path = `${toPath(sessionId)}/messages`;
    return (await this.#http.send<Schemas["Removed"]>("DELETE", path, { query, headers: ifMatch(revision) })).removed;
  }

  /** Remove the last message and return it; undefined if there is none. */
  async pop(sessionId: string, { revision }: AtRevision = {}): Promise<ConversationMessage | undefined> {
    const path = `${toPath(sessionId)}/messages/pop`;
    const { message } = await this.#http.send<Schemas["Popped"]>("POST", path, { headers: ifMatch(revision) });
    return message ?? undefined;
  }

  /** Delete an archived conversation; return true if it existed. */
  async deleteArchived(sessionId: string): Promise<boolean> {
    return wasThere(this.#http.send("DELETE", `${toPath(sessionId)}/archive`));
  }

  /** Return a conversation without its messages; undefined if there is none. */
  async getHead(sessionId: string): Promise<ConversationHead | undefined> {
    return orUndefined(this.#http.send<ConversationHead>("GET", toPath(sessionId), { query: { limit: 0 } }));
  }

  /** List the messages, oldest first. */
  listMessages(sessionId: string, paging: Paging = {}): Pages<ConversationMessage> {
    const fetch = (limit: number, after: string | undefined) =>
      this.#http.getPage<ConversationMessage>(toPath(sessionId), { total: "none", limit, after }, "messages");
    return new Pages(fetch, paging);
  }

  /** Return the newest messages, at most 1,000, oldest first. */
  async getLast(sessionId: string, count: number): Promise<ConversationMessage[]> {
    const newest = await this.#http.getPage<ConversationMessage>(toPath(sessionId), { last: count }, "messages");
    if (newest.next === undefined) return newest.items;
    return [...newest.items, ...(await this.listMessages(sessionId, { after: newest.next }).list())];
  }

  /** List a user's conversations without their messages, the last updated first; without a user, as `listAll`. */
  list(userId?: string, options: ConversationListOptions = {}): Pages<ConversationHead> {
    if (userId === undefined) return this.listAll(options);
    return this.#list(`/api/v1/users/${quoteSegment(userId)}/conversations`, options);
  }

  /** List the conversations of all users that you may read, without their messages, the last created first. */
  listAll(options: AllConversationsOptions = {}): Pages<ConversationHead> {
    return this.#list(PATH, options);
  }

  #list(path: string, options: AllConversationsOptions): Pages<ConversationHead> {
    const { tags, archived, ...paging } = options;
    const query = { tags, archived: archived || undefined, total: "none" };
    const fetch = (limit: number, after: string | undefined) =>
      this.#http.getPage<ConversationHead>(path, { ...query, limit, after }, "conversations");
    return new Pages(fetch, paging);
  }

  /** Delete a conversation; return true if it existed. */
  async delete(sessionId: string): Promise<boolean> {
    return wasThere(this.#http.send("DELETE", toPath(sessionId)));
  }
}

/** Return the references of a recall, of items, or as they are given, each once. */
export function toReferences(uses: Uses): string[] {
  const given = typeof uses === "string" || "reference" in uses ? [uses] : "items" in uses ? uses.items : uses;
  return [...new Set(given.map((each) => (typeof each === "string" ? each : each.reference)))];
}

function toPath(sessionId: string): string {
  return `${PATH}/${quoteSegment(sessionId)}`;
}

function ifMatch(revision: number | undefined): Record<string, string> {
  return revision === undefined ? {} : { "If-Match": String(revision) };
}
