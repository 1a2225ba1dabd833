import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { renderValue } from "../api/json";
import { Details, List, Loaded, Table, usePages } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { goTo, toHref } from "../ui/location";
import { LongText, Name, Tags, Time } from "../ui/text";
import { EntryTable } from "./entries";
import { useAgentIds } from "./principals";

type Task = Schemas["Task"];
const MOST = 100;

/** The tasks of an intent or of an agent; without either, the intents. */
export function TasksScreen({ params }: { params: URLSearchParams }) {
  const agents = useAgentIds();
  const intent = params.get("intent_id") ?? "";
  const agent = params.get("agent_id") ?? "";
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["tasks"], readForm(event.currentTarget)));
      }}>
        <TextField label="Intent" name="intent_id" initial={intent} />
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

/** One task: who works on it, who else may read it, and where its memory is. */
export function TaskScreen({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ["task", id],
    queryFn: () => read(api.GET("/api/v1/tasks/{task_id}", { params: { path: { task_id: id } } })),
    refetchInterval: 5_000,
  });
  return <Loaded query={query}>{(task) => <TaskDetails task={task} />}</Loaded>;
}

function TaskDetails({ task }: { task: Task }) {
  const { memory_policy: policy, parent_task_id: parent, intent_id: intent } = task;
  return (
    <>
      <Details rows={[
        ["Name", <Name>{task.name}</Name>],
        ["Status", task.status],
        ["Assignee", task.assigned_agent ? <Name>{task.assigned_agent}</Name> : "nobody"],
        ["Coordinator", task.coordinator ? <Name>{task.coordinator}</Name> : "nobody"],
        ["Delegates", <Tags tags={task.delegates} />],
        ["Intent", intent ? <a href={toHref(["intent", intent])}><Name>{intent}</Name></a> : "–"],
        ["Part of", parent ? <a href={toHref(["task", parent])}><Name>{parent}</Name></a> : "–"],
        ["Created", <Time>{task.created_at}</Time>],
        ["Changed", <><Time>{task.updated_at}</Time>, version {task.version}</>],
        ["Ended", <Time>{task.completed_at}</Time>],
        ["Memory", `at most ${policy.max_entries} entries, ${policy.max_total_size_kb} KB; ${policy.archive_on_completion ? "archived" : "not archived"} at the end`],
        ["Inherits", policy.inherit_from_parent ? "reads its parent's memory" : "no"],
        ["Id", <Name>{task.id}</Name>],
      ]} />
      <p className="actions">
        <a href={toHref(["memory"], { task_id: task.id })}>Its working memory</a>
        <a href={toHref(["access"], { kind: "task", id: task.id })}>Who may read it?</a>
      </p>
      <h2>Grants</h2>
      <Grants id={task.id} />
      <h2>What it would be given</h2>
      <TaskContext id={task.id} />
      <details>
        <summary>All that is stored of the task</summary>
        <LongText label="The task" text={renderValue(task)} />
      </details>
    </>
  );
}

function Grants({ id }: { id: string }) {
  const pages = usePages(["grants", id], (after) =>
    read(api.GET("/api/v1/tasks/{task_id}/grants", { params: { path: { task_id: id }, query: { after, total: "none" } } })),
  );
  return (
    <List pages={pages} items={(page) => page.grants} empty="Nobody else was given access.">
      {(grants) => (
        <Table label="Grants" head={["To", "Access", "Until", "By", "Since"]}>
          {grants.map((grant) => (
            <tr key={grant.principal}>
              <th scope="row"><Name>{grant.principal}</Name></th>
              <td>{grant.access}</td>
              <td><Time>{grant.expires_at}</Time></td>
              <td><Name>{grant.granted_by}</Name></td>
              <td><Time>{grant.created_at}</Time></td>
            </tr>
          ))}
        </Table>
      )}
    </List>
  );
}

const SECTIONS = { working: "Working memory", inherited: "Inherited", episodic: "Episodes", semantic: "Shared memory" };

/** What the task's assignee is given when it starts, section by section, without values. */
function TaskContext({ id }: { id: string }) {
  const [isAsked, setAsked] = useState(false);
  const query = useQuery({
    queryKey: ["context", id],
    queryFn: () => read(api.GET("/api/v1/tasks/{task_id}/context", {
      params: { path: { task_id: id }, query: { values: "omit", touch: false } },
    })),
    enabled: isAsked,
  });
  if (!isAsked) return <button type="button" onClick={() => setAsked(true)}>Show what its context holds</button>;
  return (
    <Loaded query={query}>
      {(context) => (
        <>
          <p>{context.size_kb.toLocaleString()} KB{context.truncated && ", cut at the limit"}.</p>
          {Object.entries(SECTIONS).map(([section, title]) => {
            const entries = context[section as keyof typeof SECTIONS];
            return (
              <section key={section} aria-label={title}>
                <h3>{title} ({entries.length})</h3>
                {entries.length > 0 && <EntryTable entries={entries} />}
              </section>
            );
          })}
        </>
      )}
    </Loaded>
  );
}
