import { useQuery } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { renderValue } from "../api/json";
import { Details, Loaded, Table } from "../ui/data";
import { List, usePages } from "../ui/list";
import { Parts } from "../ui/parts";
import { toHref } from "../ui/location";
import { Expandable, LongText, Name, Tags, Time } from "../ui/text";
import { EntryTable } from "./entries";
import { HandOverNote, useHandOvers } from "./handOvers";
import { EntryList } from "./Memory";
import { TaskBars } from "./TaskBars";
import { Log } from "./Timeline";

type Task = Schemas["Task"];
const PARTS = { timeline: "Timeline", entries: "Working memory", grants: "Grants", context: "What it would be given" };

/** One task: who works on it, what happened in it, its memory, and who else may read it. */
export function TaskScreen({ id, params }: { id: string; params: URLSearchParams }) {
  const shown = params.get("show") ?? "timeline";
  const query = useQuery({
    queryKey: ["task", id],
    queryFn: () => read(api.GET("/api/v1/tasks/{task_id}", { params: { path: { task_id: id } } })),
    refetchInterval: 5_000,
  });
  return (
    <Loaded query={query}>
      {(task) => (
        <>
          <TaskDetails task={task} />
          <Parts label="Parts of the task" path={["task", id]} shown={shown} parts={PARTS}>
            {shown === "timeline" && <TaskTimeline task={task} />}
            {shown === "entries" && <EntryList params={new URLSearchParams({ task_id: id })} />}
            {shown === "grants" && <Grants id={id} />}
            {shown === "context" && <TaskContext id={id} />}
          </Parts>
        </>
      )}
    </Loaded>
  );
}

function TaskDetails({ task }: { task: Task }) {
  const { memory_policy: policy, parent_task_id: parent, intent_id: intent } = task;
  return (
    <>
      <Details rows={[
        ["Name", <Name>{task.name}</Name>],
        ["Status", task.status],
        ["Assignee", task.assigned_agent ? <a href={toHref(["agent", task.assigned_agent])}><Name>{task.assigned_agent}</Name></a> : "nobody"],
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
      <p className="actions"><a href={toHref(["access"], { kind: "task", id: task.id })}>Who may read it?</a></p>
      <Expandable summary="All that is stored of the task">
        {() => <LongText label="The task" text={renderValue(task)} />}
      </Expandable>
    </>
  );
}

/** A task over time: who worked on it, and what happened to its entries. */
function TaskTimeline({ task }: { task: Task }) {
  const handOvers = useHandOvers([task.id]);
  return (
    <>
      <TaskBars tasks={[task]} handOvers={handOvers} />
      <HandOverNote />
      {task.intent_id && (
        <Log log={{ log: "intent", name: task.intent_id }} filters={{ from: task.created_at }} only={{ task_id: task.id }} />
      )}
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
  const query = useQuery({
    queryKey: ["context", id],
    queryFn: () => read(api.GET("/api/v1/tasks/{task_id}/context", {
      params: { path: { task_id: id }, query: { values: "omit", touch: false } },
    })),
  });
  return (
    <Loaded query={query}>
      {(context) => (
        <>
          <p>{context.size_kb.toLocaleString()} KB{context.truncated && ", cut at the limit"}.</p>
          {Object.entries(SECTIONS).map(([section, title]) => {
            const entries = context[section as keyof typeof SECTIONS];
            return (
              <div key={section}>
                <h2>{title} ({entries.length})</h2>
                {entries.length > 0 && <EntryTable entries={entries} label={title} />}
              </div>
            );
          })}
        </>
      )}
    </Loaded>
  );
}
