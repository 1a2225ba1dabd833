/** What the types say to their users; `tsc` checks this file, nothing runs it. */

import { Client, type Entry, type Task } from "../src/index.js";

export async function use(client: Client): Promise<void> {
  const entry: Entry = await client.memory.put("ns", "k", { n: 1 }, { memoryType: "semantic" });
  const task: Task = await client.tasks.create("intent", { assigned_agent: "ada" });
  for await (const each of client.memory.query({ namespace: entry.namespace })) each.version.toFixed();
  await client.conversations.append("s", [{ role: "user", content: task.id }]);
}

/** Mistakes that the compiler must find: an expectation without an error is an error. */
export async function misspell(client: Client): Promise<void> {
  // @ts-expect-error a tier
  await client.memory.put("ns", "k", {}, { memoryType: "epsiodic" });
  // @ts-expect-error a field
  await client.memory.put("ns", "k", {}, { tgas: ["x"] });
  // @ts-expect-error a value that is no object
  await client.memory.put("ns", "k", "text");
  // @ts-expect-error a function that returns nothing
  await client.memory.update("ns", "k", () => {});
  // @ts-expect-error a status
  await client.tasks.list("intent", { status: "complete" }).list();
}
