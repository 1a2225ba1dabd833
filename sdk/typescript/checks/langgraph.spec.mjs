// LangGraph's own validation of checkpointers, and the store beside LangGraph's, in one process: `npx vitest run --globals`.

import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { validate } from "@langchain/langgraph-checkpoint-validation";
import { beforeEach, describe, expect, it } from "vitest";
import { Client } from "../dist/index.js";
import { AgentMemorySaver, AgentMemoryStore } from "../dist/langgraph.js";

const client = new Client();
let made = 0;

validate({
  checkpointerName: "agent-memory/langgraph",
  createCheckpointer: () => new AgentMemorySaver(client, { space: `validation-${Date.now()}-${made++}` }),
});

describe("the store beside LangGraph's own", () => {
  let ours;
  let reference;
  beforeEach(() => {
    ours = new AgentMemoryStore(client, { root: `store-${Date.now()}` });
    reference = new InMemoryStore();
  });

  /** Both give the same, but for times, scores and the order. */
  async function both(call) {
    const [one, other] = await Promise.all([call(ours), call(reference)].map((each) => each.then(simplify)));
    expect(one).toEqual(other);
    return one;
  }

  function simplify(result) {
    if (!Array.isArray(result)) return strip(result);
    return result.map(strip).sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }

  function strip(each) {
    if (each === null || each === undefined || Array.isArray(each)) return each ?? null;
    return { namespace: each.namespace, key: each.key, value: each.value };
  }

  it("puts, gets, replaces and deletes", async () => {
    await both((store) => store.put(["users", "ada/~x", "%"], "a ä/~", { n: 1, deep: { list: [1, null, "x"] } }));
    await both((store) => store.get(["users", "ada/~x", "%"], "a ä/~"));
    await both((store) => store.put(["users", "ada/~x", "%"], "a ä/~", { n: 2 }));
    expect((await both((store) => store.get(["users", "ada/~x", "%"], "a ä/~"))).value).toEqual({ n: 2 });
    await both((store) => store.get(["users"], "none"));
    await both((store) => store.delete(["users"], "none"));
    await both((store) => store.delete(["users", "ada/~x", "%"], "a ä/~"));
    expect(await both((store) => store.get(["users", "ada/~x", "%"], "a ä/~"))).toBeNull();
  });

  it("searches by prefix, filter, limit and offset", async () => {
    for (const [label, n] of [["a", 1], ["b", 2], ["b", 3], ["bb", 4]]) {
      await both((store) => store.put(["docs", label], `k${n}`, { n, kind: n % 2 ? "odd" : "even" }, n === 3 ? false : undefined));
    }
    for (const filter of [{ kind: "odd" }, { n: { $gte: 3 } }, { n: { $in: [1, 4] } }, { n: { $ne: 2 } }, { n: { $nin: [1] } }, { none: 1 }]) {
      await both((store) => store.search(["docs"], { filter }));
    }
    expect(await both((store) => store.search(["docs", "b"]))).toHaveLength(2);
    expect(await both((store) => store.search([]))).toHaveLength(4);
    const pages = await Promise.all([0, 2].map((offset) => ours.search(["docs"], { limit: 2, offset })));
    expect(new Set(pages.flat().map((each) => each.key)).size).toBe(4);
    // Without an index of its own, the reference ranks nothing: a query leaves nothing out.
    for (const query of ["odd numbers", "", " ", "x".repeat(9000)]) await both((store) => store.search(["docs"], { query }));
    await both((store) => store.batch([{ namespace: ["docs", "b"], key: "k2" }, { namespace: ["docs", "a"], key: "k1", value: { n: 9 } }]));
    await both((store) => store.get(["docs", "a"], "k1"));
  });

  it("lists namespaces", async () => {
    for (const namespace of [["docs", "a", "deep", "x"], ["docs", "b"], ["docs", "bb"], ["users"]]) {
      await both((store) => store.put(namespace, "k", {}));
    }
    for (const options of [{}, { prefix: ["docs", "b"] }, { suffix: ["x"] }, { prefix: ["docs", "*"], maxDepth: 2 }, { limit: 1 }, { offset: 2 }]) {
      await both((store) => store.listNamespaces(options));
    }
  });

  it.each([[["a.b"]], [[""]]])("refuses a put into %j as the reference does", async (namespace) => {
    for (const store of [ours, reference]) await expect(store.put(namespace, "k", {})).rejects.toThrow("Namespace");
  });
});
