import { useQuery } from "@tanstack/react-query";
import { api, read } from "../api/client";
import { renderValue } from "../api/json";
import { List, Table, usePages } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { goTo, toHref } from "../ui/location";
import { LongText, Name, Time } from "../ui/text";
import { BetaCurves, computeSpread } from "./BetaCurves";

/** The workflows of a kind of task, with what their outcomes say of them. */
export function WorkflowsScreen({ params }: { params: URLSearchParams }) {
  const agentType = params.get("agent_type") ?? "";
  const taskType = params.get("task_type") ?? "";
  const types = useQuery({
    queryKey: ["agent-types"],
    queryFn: () => read(api.GET("/api/v1/agent-types", { params: { query: { limit: 100, total: "none" } } })),
  });
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["workflows"], readForm(event.currentTarget)));
      }}>
        <TextField label="Agent type" name="agent_type" initial={agentType} required options={types.data?.agent_types.map((each) => each.agent_type) ?? []} />
        <TextField label="Task type" name="task_type" initial={taskType} required />
        <div className="actions"><button type="submit" className="primary">Show workflows</button></div>
      </form>
      {agentType && taskType && <WorkflowList agentType={agentType} taskType={taskType} />}
    </>
  );
}

function WorkflowList({ agentType, taskType }: { agentType: string; taskType: string }) {
  const pages = usePages(["workflows", agentType, taskType], (after) =>
    read(api.GET("/api/v1/procedures/{agent_type}/{task_type}", {
      params: { path: { agent_type: agentType, task_type: taskType }, query: { after, total: "none", limit: 50 } },
    })),
  );
  return (
    <List pages={pages} items={(page) => page.procedures} empty="There is no workflow for this kind of task.">
      {(workflows) => (
        <>
          <BetaCurves workflows={workflows.map(({ workflow_id, alpha, beta }) => ({ name: workflow_id, alpha, beta }))} />
          <Table label="Workflows" head={["Workflow", "Mean ± spread", "Alpha", "Beta", "Outcomes", "Half-life", "Changed", "Its steps"]}>
            {workflows.map((each, at) => (
              <tr key={each.workflow_id}>
                <th scope="row"><span className="event" data-curve={at % 6}><Name>{each.workflow_id}</Name></span></th>
                <td className="number">{each.mean.toFixed(3)} ± {computeSpread({ name: "", ...each }).toFixed(3)}</td>
                <td className="number">{each.alpha.toFixed(2)}</td>
                <td className="number">{each.beta.toFixed(2)}</td>
                <td className="number">{each.outcomes.toLocaleString()}</td>
                <td>{each.half_life ?? "–"}</td>
                <td><Time>{each.updated_at}</Time></td>
                <td>{each.spec !== undefined && <details><summary>show</summary><LongText label={`Steps of ${each.workflow_id}`} text={renderValue(each.spec)} /></details>}</td>
              </tr>
            ))}
          </Table>
        </>
      )}
    </List>
  );
}
