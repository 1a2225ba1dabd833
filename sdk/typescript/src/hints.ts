/** Hints for names that other memories have, such as mem0's `add`. */

const SAY = "say(sessionId, { user, assistant }) for messages";

export const CLIENT_HINTS = {
  add: `remember(text), or ${SAY}`,
  search: "recall(query), or client.memory.search(query) for entries alone",
  get: "client.memory.get(namespace, key)",
  getAll: "client.memory.query()",
  update: "client.memory.update(namespace, key, change)",
  delete: "forget(reference), with a reference of a recall",
  deleteAll: "client.forUser(userId).forget()",
  history: "client.memory.history(id)",
  users: "forUser(userId)",
};

export const MEMORY_HINTS = {
  add: "remember(text), or client.say(sessionId, { user, assistant }) for messages",
  getAll: "query()",
  recall: "client.recall(query)",
  forget: "client.forget(reference)",
};

export const USER_HINTS = {
  add: `remember(text), or ${SAY}`,
  getAll: "query()",
  deleteAll: "forget()",
};

/** Let calls of unknown names raise a hint; the types don't have these names. */
export function refuseNames(of: { name: string; prototype: object }, hints: Record<string, string>): void {
  for (const [name, instead] of Object.entries(hints)) {
    const value = (): never => {
      throw new TypeError(`${of.name} has no ${name}; use ${instead}`);
    };
    Object.defineProperty(of.prototype, name, { value });
  }
}
