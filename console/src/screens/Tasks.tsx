import { useQuery } from "@tanstack/react-query";
import { api, read } from "../api/client";
import { Loaded, Table } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { Name, Time } from "../ui/text";
import { useAgentIds, useIntentIds } from "./choices";

const MOST = 100;

/** The tasks of an intent or of an agent; without either, the intents. */
export function TasksScreen({ params }: { params: URLSearchParams }) {
  const agents = useAgentIds();
  const intents = useIntentIds();
  const intent = params.get("intent_id") ?? "";
  const agent = params.get("agent_id") ?? "";
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["tasks"], readForm(event.currentTarget)));
      }}>
        <TextField label="Intent" name="intent_id" initial={intent} options={intents} />
        <TextField label="or agent" name="agent_id" initial={intent ? "" : agent} options={agents} />
        <div className="actions">
          <button type="submit" className="primary">Show tasks</button>
          <a href={toHref(["tasks"])}>All intents</a>
        </div>
      </form>
      {intent || agent ? <TaskList intent={intent || undefined} agent={agent} /> : <Intents />}
    </>
  );
}

function Intents() {
  const pages = usePages(["intents"], (after) =>
    read(api.GET("/api/v1/intents", { params: { query: { after, total: "none", limit: MOST } } })),
  );
  return (
    <List pages={pages} items={(page) => page.intents} empty="There is no intent that you may read.">
      {(intents) => (
        <Table label="Intents" head={["Intent", "Owner", "Since", "See also"]}>
          {intents.map(({ intent_id, owner, created_at }) => (
            <tr key={intent_id}>
              <th scope="row"><a href={toHref(["intent", intent_id])}><Name>{intent_id}</Name></a></th>
              <td>{owner ? <Name>{owner}</Name> : "nobody"}</td>
              <td><Time>{created_at}</Time></td>
              <td><a href={toHref(["tasks"], { intent_id })}>Tasks</a></td>
            </tr>
          ))}
        </Table>
      )}
    </List>
  );
}

/** The newest tasks of an intent, or of an agent. */
export function useTasks({ intent, agent = "" }: { intent?: string; agent?: string }) {
  const query = { limit: MOST };
  return useQuery({
    queryKey: ["tasks", intent, agent],
    queryFn: () => intent !== undefined
      ? read(api.GET("/api/v1/intents/{intent_id}/tasks", { params: { path: { intent_id: intent }, query } }))
      : read(api.GET("/api/v1/agents/{agent_id}/tasks", { params: { path: { agent_id: agent }, query } })),
    refetchInterval: 5_000,
  });
}

export function TaskList(which: { intent?: string; agent?: string }) {
  const query = useTasks(which);
  return (
    <Loaded query={query}>
      {(tasks) => tasks.length === 0 ? <p className="empty">There is no task that you may read.</p> : (
        <Table label="Tasks" head={["Task", "Status", "Assignee", "Coordinator", "Intent", "Changed"]}>
          {tasks.map((task) => (
            <tr key={task.id}>
              <th scope="row"><a href={toHref(["task", task.id])}><Name>{task.name}</Name></a></th>
              <td>{task.status}</td>
              <td>{task.assigned_agent ? <Name>{task.assigned_agent}</Name> : "nobody"}</td>
              <td>{task.coordinator ? <Name>{task.coordinator}</Name> : "nobody"}</td>
              <td>{task.intent_id ? <a href={toHref(["intent", task.intent_id])}><Name>{task.intent_id}</Name></a> : "–"}</td>
              <td><Time>{task.updated_at}</Time></td>
            </tr>
          ))}
        </Table>
      )}
    </Loaded>
  );
}
