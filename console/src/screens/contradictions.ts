/** Facts that say different things of the same subject. */

import { api, read, type Schemas } from "../api/client";

type Fact = Schemas["Fact"];

/** Group facts that hold at the same time and differ in their object, although the predicate has one value at a time. */
export async function findContradictions(facts: Fact[]): Promise<Fact[][]> {
  const { predicates } = await read(api.GET("/api/v1/facts/predicates"));
  const single = new Set(predicates.flatMap(({ predicate, single_valued }) => (single_valued ? [predicate.toLowerCase()] : [])));
  const groups = new Map<string, Fact[]>();
  for (const fact of facts.filter(({ predicate }) => single.has(predicate?.toLowerCase() ?? ""))) {
    const name = JSON.stringify([fact.user_id, fact.subject?.toLowerCase(), fact.predicate?.toLowerCase()]);
    groups.set(name, [...(groups.get(name) ?? []), fact]);
  }
  return [...groups.values()].filter((each) => new Set(each.map(({ object }) => object?.toLowerCase())).size > 1);
}
