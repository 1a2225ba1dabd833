/** Types of the client that the compiler must accept or reject. */

import { Client, type Entry, type Task } from "../src/index.js";

interface Progress {
  completed: number;
}

export async function use(client: Client, progress: Progress): Promise<void> {
  const entry: Entry = await client.memory.put("ns", "k", { n: 1 }, { memoryType: "semantic" });
  await client.memory.put("ns", "k", progress);
  await client.memory.update<Progress>("ns", "k", (value) => ({ completed: value.completed + 1 }));
  await client.memory.update("ns", "k", (value) => ({ n: value.n + 1 }), { initial: { n: 0 } });
  (await client.forUser("ada").get<Progress>("k"))?.completed.toFixed();
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
