/** `client.facts`: facts that agents learned. */

import type { Paging, Pages } from "./pages.js";
import { Resource, type Fields, type Schemas, splitPaging, toPath } from "./resource.js";

export type Fact = Schemas["Fact"];
export type RecalledFact = Schemas["RecalledFact"];
export type FactPeriod = Schemas["FactPeriod"];
export type FactFields = Omit<Fields<"NewFactBody">, "subject" | "predicate" | "object">;

export interface FactFilters {
  subject?: string;
  predicate?: string;
  learned_from_run_id?: string;
  agent_type?: string;
  user_id?: string;
}

export interface FactQuery extends FactFilters, Paging {
  /** RFC 3339: only facts that held at this time. */
  as_of?: string;
  /** True: only facts that no longer hold. */
  ended?: boolean;
}

export interface FactRecallOptions extends FactFilters {
  /** The maximum number of results; 5 by default. */
  topK?: number;
  minScore?: number;
  min_confidence?: number;
  as_of?: string;
}

const PATH = "/api/v1/facts";

export class Facts extends Resource {
  /**
   * Store a fact until it is deleted; learning the same statement again updates the fact.
   *
   *     await client.facts.learn("Acme GmbH", "pays within", "14 days", { confidence: 0.9 });
   */
  async learn(subject: string, predicate: string, object: string, fields: FactFields = {}): Promise<Fact> {
    return this.send("POST", PATH, { subject, predicate, object, ...fields });
  }

  /** Learn several facts, all or none. */
  async learnAll(facts: readonly Schemas["NewFactBody"][]): Promise<Fact[]> {
    return (await this.send<{ facts: Fact[] }>("POST", `${PATH}/batch`, { facts })).facts;
  }

  /** Return the facts that match a query best, each with its score. */
  async recall(query: string, options: FactRecallOptions = {}): Promise<RecalledFact[]> {
    const { topK = 5, minScore, as_of, ...filters } = options;
    const body = { query, top_k: topK, min_score: minScore, as_of, filters };
    return (await this.send<{ facts: RecalledFact[] }>("POST", `${PATH}/recall`, body)).facts;
  }

  /** Return a fact; undefined if there is none. */
  async get(id: string): Promise<Fact | undefined> {
    return this.find(toPath(PATH, id));
  }

  /** Return all facts with a fact's subject, predicate and user, the latest first. */
  async history(id: string): Promise<FactPeriod[]> {
    return (await this.send<Schemas["FactHistory"]>("GET", `${toPath(PATH, id)}/history`)).facts;
  }

  /** Return the predicates that have one value at a time. */
  async singleValued(): Promise<string[]> {
    const { predicates } = await this.send<Schemas["Predicates"]>("GET", `${PATH}/predicates`);
    return predicates.map((each) => each.predicate);
  }

  /** Declare that a predicate has one value at a time, or many. Needs `memory.admin`. */
  async declare(predicate: string, singleValued = true): Promise<void> {
    await this.send("PUT", toPath(`${PATH}/predicates`, predicate), { single_valued: singleValued });
  }

  /** List the facts that match, newest first. */
  query(options: FactQuery = {}): Pages<Fact> {
    const [paging, query] = splitPaging(options);
    return this.pages(PATH, "facts", paging, { ...query });
  }

  /** Delete the facts that match; return their number. */
  async forgetAll(filters: FactFilters): Promise<number> {
    return (await this.http.send<{ deleted: number }>("DELETE", PATH, { query: { ...filters } })).deleted;
  }

  /** Delete a fact; return true if it existed. */
  async forget(id: string, version?: number): Promise<boolean> {
    return this.remove(toPath(PATH, id), version);
  }
}
