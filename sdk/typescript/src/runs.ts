/** `client.runs`: runs of agents and their episodes. */

import type { Paging, Pages } from "./pages.js";
import { Resource, type Fields, type Schemas, splitPaging, toPath } from "./resource.js";

export type Run = Omit<Schemas["Run"], "omitted">;
export type Episode = Schemas["Episode"];
export type RunFields = Omit<Fields<"NewRunBody">, "agent_type">;
export type EpisodeFields = Omit<Fields<"NewEpisodeBody">, "content">;

export interface RunFilters {
  agent_type?: string;
  instance_id?: string;
  status?: Run["status"];
}

export interface RunQuery extends RunFilters, Paging {
  /** `omit`: without input, output and error. */
  values?: "omit";
}

const PATH = "/api/v1/runs";
const EPISODES = "/api/v1/episodes";

export class Runs extends Resource {
  /** Begin a run of an agent type. */
  async start(agentType: string, fields: RunFields = {}): Promise<Run> {
    return this.send("POST", PATH, { agent_type: agentType, ...fields });
  }

  /** Add an episode to a run: what happened in one turn. */
  async append(runId: string, content: unknown, fields: EpisodeFields = {}): Promise<Episode> {
    return this.send("POST", `${toPath(PATH, runId)}/episodes`, { content, ...fields });
  }

  /** End a run that succeeded. */
  async complete(runId: string, output: unknown = null): Promise<Run> {
    return this.send("POST", `${toPath(PATH, runId)}/complete`, { output });
  }

  /** End a run that failed. */
  async fail(runId: string, error: unknown = null): Promise<Run> {
    return this.send("POST", `${toPath(PATH, runId)}/fail`, { error });
  }

  /** Return a run with all its values, in several requests if they are large. */
  async get(runId: string): Promise<Run> {
    const { omitted = [], ...run } = await this.send<Schemas["Run"]>("GET", toPath(PATH, runId));
    const values: Record<string, unknown> = {};
    for (const name of omitted) {
      const query = { value: name };
      const found = await this.http.send<Record<string, unknown>>("GET", toPath(PATH, runId), { query });
      values[name] = found[name];
    }
    return { ...run, ...values };
  }

  /** List the runs that match, newest first. */
  query(options: RunQuery = {}): Pages<Run> {
    const [paging, query] = splitPaging(options);
    return this.pages(PATH, "runs", paging, { ...query });
  }

  /** Delete a run with its episodes; return true if it existed. */
  async delete(runId: string): Promise<boolean> {
    return this.remove(toPath(PATH, runId));
  }

  /** Delete one episode; return true if it existed. */
  async deleteEpisode(runId: string, episodeId: string): Promise<boolean> {
    return this.remove(toPath(`${toPath(PATH, runId)}/episodes`, episodeId));
  }

  /** Delete the runs that match, with their episodes; return how many runs there were. */
  async deleteAll(filters: RunFilters): Promise<number> {
    let deleted = 0;
    for (;;) {
      const answer = await this.http.send<Schemas["DeletedRuns"]>("DELETE", PATH, { query: { ...filters } });
      deleted += answer.deleted;
      if (answer.complete) return deleted;
    }
  }

  /** List the agent types of recent runs and facts, and those with workflows. */
  listAgentTypes(paging: Paging = {}): Pages<{ agent_type: string }> {
    return this.pages("/api/v1/agent-types", "agent_types", paging);
  }

  /** Return the newest episodes of an agent type, across its runs, newest first. */
  async recall(agentType: string, last = 10): Promise<Episode[]> {
    return this.pages<Episode>(EPISODES, "episodes", { limit: last }, { agent_type: agentType }).list();
  }

  /** List the episodes of a run, newest first. */
  listEpisodes(runId: string, paging: Paging = {}): Pages<Episode> {
    return this.pages(EPISODES, "episodes", paging, { run_id: runId });
  }
}
