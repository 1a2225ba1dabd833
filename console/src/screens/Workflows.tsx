import { api, read } from "../api/client";
import { renderValue } from "../api/json";
import { T } from "../texts";
import { Table } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { Expandable, LongText, Name, Time } from "../ui/text";
import { BetaCurves, computeSpread } from "./BetaCurves";
import { useAgentTypes } from "./choices";

const PAGE = 100;

/** The workflows of a kind of task, with what their outcomes say of them. */
export function WorkflowsScreen({ params }: { params: URLSearchParams }) {
  const agentType = params.get("agent_type") ?? "";
  const taskType = params.get("task_type") ?? "";
  const types = useAgentTypes();
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["workflows"], readForm(event.currentTarget)));
      }}>
        <TextField label={T.terms.agentType} name="agent_type" initial={agentType} required options={types} />
        <TextField label={T.procedures.taskType} name="task_type" initial={taskType} />
        <div className="actions"><button type="submit" className="primary">{T.procedures.show}</button></div>
      </form>
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
              <th scope="row"><a href={toHref(["workflows"], { agent_type })}><Name>{agent_type}</Name></a></th>
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
              <th scope="row"><a href={toHref(["workflows"], { agent_type: agentType, task_type })}><Name>{task_type}</Name></a></th>
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
                <td>{each.spec !== undefined && <Expandable summary={T.procedures.showSteps}>{() => <LongText label={T.procedures.stepsOf(each.workflow_id)} text={renderValue(each.spec)} />}</Expandable>}</td>
              </tr>
            ))}
          </Table>
        </>
      )}
    </List>
  );
}
