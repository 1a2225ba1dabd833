/** The parts of `client.admin`, and those that show what happened. */

import { orUndefined } from "./memory.js";
import type { Paging, Pages } from "./pages.js";
import { Resource, type Fields, type Schemas, splitPaging, toPath, toRules } from "./resource.js";

export type Namespace = Schemas["Namespace"];
export type NamespaceAccess = Schemas["PrincipalAccess"]["access"];
export type Principal = Schemas["Principal"];
export type NewPrincipal = Schemas["NewPrincipal"];
export type Permission = Principal["permissions"][number];
export type Strategy = Schemas["Strategy"];
export type StrategyFields = Omit<Fields<"NewStrategyBody">, "kind"> & { version?: number };
export type Deletion = Schemas["Deletion"];
export type LogEvent = Schemas["Event"];
export type AuditRecord = Schemas["AuditRecord"];

/** Namespaces of semantic memory and their permissions. */
export class Namespaces extends Resource {
  /** List the namespaces that the caller has access to. */
  list(paging: Paging = {}): Pages<Namespace> {
    return this.pages("/api/v1/memory/namespaces", "namespaces", paging);
  }

  /** Return one namespace. */
  async get(namespace: string): Promise<Namespace> {
    return this.send("GET", toPath("/api/v1/memory/namespaces", namespace));
  }

  /** Create a namespace, or change its permissions; omitted ones stay. A final `*` makes a prefix rule. */
  async setPermissions(
    namespace: string,
    { allow, version, ...given }: {
      default?: NamespaceAccess | null;
      allow?: Record<string, NamespaceAccess>;
      version?: number;
    },
  ): Promise<Namespace> {
    return this.#set(namespace, { permissions: { allow: toRules(allow ?? {}), ...given } }, version);
  }

  /** Declare the fields of values that searches may compare; they replace the former ones. */
  async setSearchFields(namespace: string, fields: readonly string[], version?: number): Promise<Namespace> {
    return this.#set(namespace, { search_fields: fields }, version);
  }

  /** Set for how many days earlier values are kept; 0 keeps none, null is the default. */
  async setHistory(namespace: string, days: number | null, version?: number): Promise<Namespace> {
    return this.#set(namespace, { history: days === null ? null : { days } }, version);
  }

  #set(namespace: string, body: object, version: number | undefined): Promise<Namespace> {
    return this.change("PATCH", toPath("/api/v1/memory/namespaces", namespace), body, version);
  }
}

export interface AccessQuestion {
  principal?: string;
  entry?: string;
  namespace?: string;
  task?: string;
  conversation?: string;
}

/** Principals and their permissions. */
export class Principals extends Resource {
  /** Return the caller. */
  async me(): Promise<Principal> {
    return this.send("GET", "/api/v1/me");
  }

  /** Return the caller, as it was when this client first asked. */
  async cachedMe(): Promise<Principal> {
    return this.http.getMe();
  }

  /** List the tenant's principals. */
  list(paging: Paging = {}): Pages<Principal> {
    return this.pages("/api/v1/principals", "principals", paging);
  }

  /** Create a principal; its key is returned only once. */
  async create(
    id: string,
    kind: Principal["kind"] = "agent",
    fields: Omit<Fields<"NewPrincipalBody">, "id" | "kind"> = {},
  ): Promise<NewPrincipal> {
    return this.send("POST", "/api/v1/principals", { id, kind, ...fields });
  }

  /** Change fields of a principal. */
  async update(id: string, changes: Fields<"PrincipalChangeBody">): Promise<Principal> {
    return this.send("PATCH", toPath("/api/v1/principals", id), changes);
  }

  /** Tell whether a principal may read and write something, and by which rule. */
  async explainAccess(question: AccessQuestion): Promise<Schemas["AccessExplanation"]> {
    return this.http.send("GET", "/api/v1/access", { query: { ...question } });
  }

  /** Give a principal a new key, and revoke the old one. */
  async rotate(id: string): Promise<NewPrincipal> {
    return this.send("POST", `${toPath("/api/v1/principals", id)}/rotate`);
  }

  /** Revoke a principal and its key. */
  async revoke(id: string): Promise<void> {
    await this.send("DELETE", toPath("/api/v1/principals", id));
  }
}

/** Agents, their settings, and their guardrails. */
export class Agents extends Resource {
  /** List the visible agents, with the use and the room of their memory. */
  list(paging: Paging = {}): Pages<Schemas["Agent"]> {
    return this.pages("/api/v1/agents", "agents", paging);
  }

  /** Return the limits of an agent's memory. */
  async getSettings(agentId: string): Promise<Schemas["AgentSettings"]> {
    return this.send("GET", `${toPath("/api/v1/agents", agentId)}/memory/config`);
  }

  /** Set limits of an agent's memory; omitted ones stay. Needs `memory.admin`. */
  async configure(agentId: string, settings: Fields<"AgentConfigBody">): Promise<Schemas["AgentSettings"]> {
    return this.send("PATCH", `${toPath("/api/v1/agents", agentId)}/memory/config`, settings);
  }

  /** Return an agent's memory in figures. */
  async getSummary(agentId: string): Promise<Schemas["MemorySummary"]> {
    return this.send("GET", `${toPath("/api/v1/agents", agentId)}/memory/summary`);
  }

  /** List an agent's episodic entries in the order in which they are evicted. */
  listEvictionOrder(agentId: string, paging: Paging = {}): Pages<Schemas["EvictionCandidate"]> {
    return this.pages(`${toPath("/api/v1/agents", agentId)}/memory/eviction`, "entries", paging);
  }

  /** Return a coordinator's guardrails. */
  async getGuardrails(coordinatorId: string): Promise<Schemas["CoordinatorGuardrails"]> {
    return this.send("GET", `${toPath("/api/v1/coordinators", coordinatorId)}/guardrails`);
  }

  /** Change guardrails; null removes one. Needs `memory.admin`. */
  async setGuardrails(
    coordinatorId: string,
    guardrails: Fields<"GuardrailsBody">,
  ): Promise<Schemas["CoordinatorGuardrails"]> {
    return this.send("PATCH", `${toPath("/api/v1/coordinators", coordinatorId)}/guardrails`, { guardrails });
  }
}

export interface DryRun {
  /** Report what would be deleted. */
  dryRun?: boolean;
}

/** Tenants; every call needs the root key. */
export class Tenants extends Resource {
  /** Create a tenant; the answer has its administrator's key. */
  async create(id: string): Promise<Schemas["NewTenant"]> {
    return this.send("POST", "/api/v1/tenants", { id });
  }

  /** Create another administrator of a tenant. */
  async createAdmin(tenant: string, id: string): Promise<NewPrincipal> {
    return this.send("POST", `${toPath("/api/v1/tenants", tenant)}/admins`, { id });
  }

  /** Set the permissions of a principal, `memory.inspect` included. */
  async setPermissions(tenant: string, principal: string, permissions: readonly Permission[]): Promise<Principal> {
    return this.send("PATCH", toPath(`${toPath("/api/v1/tenants", tenant)}/principals`, principal), { permissions });
  }

  /** Change limits of a tenant; null removes one. */
  async setLimits(id: string, limits: Fields<"LimitsBody">): Promise<Schemas["Tenant"]> {
    return this.send("PATCH", toPath("/api/v1/tenants", id), { limits });
  }

  /** Return the daily usage of the tenant; with the root key, of all tenants. */
  async getUsage(period: { since?: string; until?: string } = {}): Promise<Schemas["Usage"]> {
    return this.http.send("GET", "/api/v1/usage", { query: { from: period.since, to: period.until } });
  }

  /** Delete a tenant with all of its data. */
  async delete(id: string, { dryRun }: DryRun = {}): Promise<Deletion> {
    return this.http.send("DELETE", toPath("/api/v1/tenants", id), { query: { dry_run: dryRun } });
  }

  /** Return the progress of a tenant's deletion. */
  async getDeletion(id: string, { dryRun }: DryRun = {}): Promise<Deletion> {
    return this.http.send("GET", `${toPath("/api/v1/tenants", id)}/deletion`, { query: { dry_run: dryRun } });
  }
}

/** Deletions of agents and persons. */
export class Deletions extends Resource {
  /** Start the deletion of all data of an agent or a person. */
  async start(kind: "agent" | "person", id: string, { dryRun }: DryRun = {}): Promise<Deletion> {
    return this.send("POST", "/api/v1/deletions", { kind, id, ...(dryRun === undefined ? {} : { dry_run: dryRun }) });
  }

  /** Return the progress of a deletion. */
  async get(kind: "agent" | "person", id: string, { dryRun }: DryRun = {}): Promise<Deletion> {
    return this.http.send("GET", toPath("/api/v1/deletions", kind, id), { query: { dry_run: dryRun } });
  }
}

/** Strategies that learn from conversations. */
export class Strategies extends Resource {
  /** Create or replace a strategy. */
  async put(name: string, kind: Strategy["kind"], { version, ...fields }: StrategyFields = {}): Promise<Strategy> {
    return this.change("PUT", toPath("/api/v1/strategies", name), { kind, ...fields }, version);
  }

  /** Return a strategy; undefined if there is none. */
  async get(name: string): Promise<Strategy | undefined> {
    return this.find(toPath("/api/v1/strategies", name));
  }

  /** Return the progress of a strategy. */
  async getStatus(name: string): Promise<Schemas["StrategyStatus"]> {
    return this.send("GET", `${toPath("/api/v1/strategies", name)}/status`);
  }

  /** Delete a strategy; return true if it existed. What it learned stays. */
  async delete(name: string, version?: number): Promise<boolean> {
    return this.remove(toPath("/api/v1/strategies", name), version);
  }

  /** List all strategies, by their names. */
  list(paging: Paging = {}): Pages<Strategy> {
    return this.pages("/api/v1/strategies", "strategies", paging);
  }
}

export interface ConsolidationSettingsFields {
  /** The interval, as an ISO 8601 duration; null: only on request. */
  every?: string | null;
  /** The time after which a fact that was neither learned nor recalled loses confidence; null: never. */
  decay_after?: string | null;
  end_below?: number;
}

/** Merging, ending and weakening of facts. Needs `memory.admin`. */
export class Consolidation extends Resource {
  /** Return the facts that a consolidation would merge, end and weaken; it changes nothing. */
  async preview(): Promise<Schemas["ConsolidationPreview"]> {
    return this.send("POST", "/api/v1/consolidation", { dry_run: true });
  }

  /** Start a consolidation, or return the one that is running. */
  async start(): Promise<Schemas["StartedConsolidation"]> {
    return this.send("POST", "/api/v1/consolidation", { dry_run: false });
  }

  /** Return the status of a consolidation and a page of its steps; undefined if there is none. */
  async get(id: string, after?: string): Promise<Schemas["ConsolidationRun"] | undefined> {
    const query = { after };
    return orUndefined(this.http.send("GET", toPath("/api/v1/consolidation", id), { query }));
  }

  /** Undo the steps of a consolidation on facts that have not changed since. */
  async undo(id: string): Promise<Schemas["StartedConsolidation"]> {
    return this.send("POST", `${toPath("/api/v1/consolidation", id)}/undo`);
  }

  /** Return the settings of consolidation. */
  async getSettings(): Promise<Schemas["ConsolidationSettings"]> {
    return this.send("GET", "/api/v1/consolidation/settings");
  }

  /** Set the interval and the rules of consolidation. */
  async putSettings(fields: ConsolidationSettingsFields = {}): Promise<Schemas["ConsolidationSettings"]> {
    const body = { every: "P7D", decay_after: "P90D", end_below: 0.2, ...fields };
    return this.send("PUT", "/api/v1/consolidation/settings", body);
  }
}

export interface LogFilters extends Paging {
  actor?: string;
  /** RFC 3339 times: from this one on, and up to that one. */
  since?: string;
  until?: string;
  newestFirst?: boolean;
}

export interface EventFilters extends LogFilters {
  type?: LogEvent["type"];
  entry_id?: string;
}

function toQuery(filters: LogFilters): [Paging, Record<string, string | undefined>] {
  const [paging, { since, until, newestFirst, ...rest }] = splitPaging(filters);
  const order = newestFirst ? "desc" : undefined;
  return [paging, { ...(rest as Record<string, string>), from: since, to: until, order }];
}

abstract class Logs extends Resource {
  /** The last page of a log names itself as the next one, because events may follow. The list ends there. */
  protected log<T>(path: string, member: string, filters: LogFilters): Pages<T> {
    const [paging, query] = toQuery(filters);
    const fetch = async (limit: number, after: string | undefined) => {
      const page = await this.http.getPage<T>(path, { ...query, limit, after }, member);
      return page.next === after || page.items.length === 0 ? { ...page, next: undefined } : page;
    };
    return this.makePages(fetch, paging);
  }
}

/** Logs of changes of memory. */
export class Events extends Logs {
  /** List the events of an intent, oldest first. */
  listForIntent(intentId: string, filters: EventFilters = {}): Pages<LogEvent> {
    return this.log(`${toPath("/api/v1/intents", intentId)}/events`, "events", filters);
  }

  /** List the events of an agent, oldest first. */
  listForAgent(agentId: string, filters: EventFilters = {}): Pages<LogEvent> {
    return this.log(`${toPath("/api/v1/agents", agentId)}/events`, "events", filters);
  }

  /** List the events of a namespace, oldest first. */
  listForNamespace(namespace: string, filters: EventFilters = {}): Pages<LogEvent> {
    return this.log(`${toPath("/api/v1/memory/namespaces", namespace)}/events`, "events", filters);
  }
}

/** Uses of authority. */
export class Audit extends Logs {
  /** List the audit log, oldest first. Needs `memory.admin`. */
  list(filters: LogFilters & { action?: string } = {}): Pages<AuditRecord> {
    return this.log("/api/v1/audit", "records", filters);
  }
}

/** Intents and their access lists. */
export class Intents extends Resource {
  /** List the intents that the caller may read. */
  list(paging: Paging = {}): Pages<Schemas["Intent"]> {
    return this.pages("/api/v1/intents", "intents", paging);
  }

  /** Make another principal the owner of an intent. */
  async setOwner(intentId: string, principal: string): Promise<Schemas["Acl"]> {
    return this.send("PUT", `${toPath("/api/v1/intents", intentId)}/owner`, { principal });
  }

  /** Return the access list of an intent. */
  async getAcl(intentId: string): Promise<Schemas["Acl"]> {
    return this.send("GET", `${toPath("/api/v1/intents", intentId)}/acl`);
  }

  /** Replace the access list of an intent. */
  async setAcl(intentId: string, access: Record<string, "read" | "write">): Promise<Schemas["Acl"]> {
    const entries = Object.entries(access).map(([principal, each]) => ({ principal, access: each }));
    return this.send("PUT", `${toPath("/api/v1/intents", intentId)}/acl`, { entries });
  }
}

/** Namespaces, agents and tasks from one file. */
export class Workflows extends Resource {
  /** Apply a workflow: the text of a YAML or JSON file, or its content. */
  async apply(workflow: string | object): Promise<Schemas["AppliedWorkflow"]> {
    if (typeof workflow !== "string") return this.send("POST", "/api/v1/workflows", workflow);
    const headers = { "Content-Type": "application/yaml" };
    return this.http.send("POST", "/api/v1/workflows", { content: workflow, headers });
  }
}

/** Working values of an agent's instance. */
export class WorkingValues extends Resource {
  /** Store a value of an instance. */
  async put(instanceId: string, key: string, value: unknown): Promise<void> {
    await this.send("PUT", toPath(`${toPath("/api/v1/instances", instanceId)}/working`, key), { value });
  }

  /** Return a value; undefined if there is none. */
  async get(instanceId: string, key: string): Promise<unknown> {
    const path = toPath(`${toPath("/api/v1/instances", instanceId)}/working`, key);
    return (await this.find<Schemas["WorkingValue"]>(path))?.value;
  }

  /** Return all values of an instance. */
  async getAll(instanceId: string): Promise<Record<string, unknown>> {
    const path = `${toPath("/api/v1/instances", instanceId)}/working`;
    return (await this.send<Schemas["WorkingValues"]>("GET", path)).values ?? {};
  }

  /** Delete a value; return true if it existed. */
  async delete(instanceId: string, key: string): Promise<boolean> {
    return this.remove(toPath(`${toPath("/api/v1/instances", instanceId)}/working`, key));
  }
}
