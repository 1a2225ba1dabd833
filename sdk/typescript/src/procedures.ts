/** `client.procedures`: workflows, selected by their results. */

import type { Paging, Pages } from "./pages.js";
import { Resource, type Fields, type Schemas, toPath } from "./resource.js";

export type Workflow = Schemas["Workflow"];
export type SelectedWorkflow = Schemas["SelectedWorkflow"];
export interface WorkflowFields extends Omit<Fields<"NewWorkflowBody">, "spec"> {
  /** Replace only this version; 0: only if there is none. */
  version?: number;
}

const PATH = "/api/v1/procedures";

export class Procedures extends Resource {
  /** Create or replace a workflow; its results stay, unless `reset` is set. */
  async put(
    agentType: string,
    taskType: string,
    workflowId: string,
    spec: unknown,
    { version, ...fields }: WorkflowFields = {},
  ): Promise<Workflow> {
    return this.change("PUT", toPath(PATH, agentType, taskType, workflowId), { spec, ...fields }, version);
  }

  /** Return a workflow; undefined if there is none. */
  async get(agentType: string, taskType: string, workflowId: string): Promise<Workflow | undefined> {
    return this.find(toPath(PATH, agentType, taskType, workflowId));
  }

  /** List the types of task for which an agent type has workflows. */
  listTaskTypes(agentType: string, paging: Paging = {}): Pages<{ task_type: string }> {
    return this.pages(toPath(PATH, agentType), "task_types", paging);
  }

  /** List the workflows for a type of task, newest first. */
  list(agentType: string, taskType: string, paging: Paging = {}): Pages<Workflow> {
    return this.pages(toPath(PATH, agentType, taskType), "procedures", paging);
  }

  /** Return the workflow to try next, by Thompson sampling; `seed` makes the draw repeatable. */
  async select(agentType: string, taskType: string, seed?: number): Promise<SelectedWorkflow> {
    const body = seed === undefined ? {} : { seed };
    return this.send("POST", `${toPath(PATH, agentType, taskType)}/select`, body);
  }

  /** Record a result of a workflow, from 0 to 1. */
  async recordOutcome(agentType: string, taskType: string, workflowId: string, score: number): Promise<Workflow> {
    return this.send("POST", `${toPath(PATH, agentType, taskType, workflowId)}/outcome`, { score });
  }

  /** Delete a workflow with its results; return true if it existed. */
  async delete(agentType: string, taskType: string, workflowId: string, version?: number): Promise<boolean> {
    return this.remove(toPath(PATH, agentType, taskType, workflowId), version);
  }
}
