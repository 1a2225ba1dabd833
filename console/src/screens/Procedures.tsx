import { api, read } from "../api/client";
import { T } from "../texts";
import { Table } from "../ui/data";
import { FilterBar } from "../ui/filters";
import { List, usePages } from "../ui/list";
import { toHref } from "../ui/location";
import { Readable } from "../ui/memory";
import { Expandable, Name, Time } from "../ui/text";
import { BetaCurves, computeSpread } from "./BetaCurves";
import { useAgentTypes, useTaskTypes } from "./choices";

const PAGE = 100;

/** The workflows of a kind of task, with what their outcomes say of them. */
export function ProceduresScreen({ params }: { params: URLSearchParams }) {
  const agentType = params.get("agent_type") ?? "";
  const taskType = params.get("task_type") ?? "";
  const types = useAgentTypes();
  const taskTypes = useTaskTypes(agentType);
  return (
    <>
      <FilterBar path={["procedures"]} params={params} filters={{ "agent-type": { param: "agent_type", options: types }, "task-type": { param: "task_type", options: taskTypes } }} />
      {agentType === "" ? <AgentTypes /> : taskType === "" ? <TaskTypes agentType={agentType} />
        : <WorkflowList agentType={agentType} taskType={taskType} />}
    </>
  );
}

function AgentTypes() {
  const pages = usePages(["agent types"], (after) =>
    read(api.GET("/api/v1/agent-types", { params: { query: { after, total: "none", limit: PAGE } } })),
  );
  return (
    <List pages={pages} items={(page) => page.agent_types} empty={T.procedures.noTypes}>
      {(types) => (
        <Table label={T.terms.agentTypes} head={[T.terms.agentType, T.procedures.lastUsed, T.procedures.seeAlso]}>
          {types.map(({ agent_type, last_used_at }) => (
            <tr key={agent_type}>
              <th scope="row"><a href={toHref(["procedures"], { agent_type })}><Name>{agent_type}</Name></a></th>
              <td><Time>{last_used_at}</Time></td>
              <td><a href={toHref(["runs"], { agent_type })}>{T.terms.runs}</a> <a href={toHref(["facts"], { agent_type })}>{T.terms.facts}</a></td>
            </tr>
          ))}
        </Table>
      )}
    </List>
  );
}

function TaskTypes({ agentType }: { agentType: string }) {
  const pages = usePages(["task types", agentType], (after) =>
    read(api.GET("/api/v1/procedures/{agent_type}", { params: { path: { agent_type: agentType }, query: { after, limit: PAGE } } })),
  );
  return (
    <List pages={pages} items={(page) => page.task_types} empty={T.procedures.noTaskTypes}>
      {(types) => (
        <Table label={T.procedures.taskTypes} head={[T.procedures.taskType, T.terms.workflows]}>
          {types.map(({ task_type, workflows }) => (
            <tr key={task_type}>
              <th scope="row"><a href={toHref(["procedures"], { agent_type: agentType, task_type })}><Name>{task_type}</Name></a></th>
              <td className="number">{workflows.toLocaleString()}</td>
            </tr>
          ))}
        </Table>
      )}
    </List>
  );
}

function WorkflowList({ agentType, taskType }: { agentType: string; taskType: string }) {
  const pages = usePages(["workflows", agentType, taskType], (after) =>
    read(api.GET("/api/v1/procedures/{agent_type}/{task_type}", {
      params: { path: { agent_type: agentType, task_type: taskType }, query: { after, total: "none", limit: 50 } },
    })),
  );
  return (
    <List pages={pages} items={(page) => page.procedures} empty={T.procedures.none}>
      {(workflows) => (
        <>
          <BetaCurves workflows={workflows.map(({ workflow_id, alpha, beta }) => ({ name: workflow_id, alpha, beta }))} />
          <Table label={T.terms.workflows} head={[T.procedures.workflow, T.procedures.mean, T.procedures.alpha, T.procedures.beta, T.procedures.outcomes, T.procedures.halfLife, T.terms.changed, T.procedures.steps]}>
            {workflows.map((each, at) => (
              <tr key={each.workflow_id}>
                <th scope="row"><span className="event" data-curve={at % 6}><Name>{each.workflow_id}</Name></span></th>
                <td className="number">{each.mean.toFixed(3)} ± {computeSpread({ name: "", ...each }).toFixed(3)}</td>
                <td className="number">{each.alpha.toFixed(2)}</td>
                <td className="number">{each.beta.toFixed(2)}</td>
                <td className="number">{each.outcomes.toLocaleString()}</td>
                <td>{each.half_life ?? "–"}</td>
                <td><Time>{each.updated_at}</Time></td>
                <td>{each.spec !== undefined && <Expandable summary={T.procedures.showSteps}>{() => <Readable label={T.procedures.stepsOf(each.workflow_id)} value={each.spec} />}</Expandable>}</td>
              </tr>
            ))}
          </Table>
        </>
      )}
    </List>
  );
}
