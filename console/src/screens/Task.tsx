import { useQuery } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { renderValue } from "../api/json";
import { T, toWord } from "../texts";
import { Details, Loaded, Table } from "../ui/data";
import { List, usePages } from "../ui/list";
import { Parts } from "../ui/parts";
import { toHref } from "../ui/location";
import { cut } from "../ui/memory";
import { Expandable, LongText, Name, Sentence, Tags, Time } from "../ui/text";
import { EntryTable } from "./entries";
import { HandOverNote, useHandOvers } from "./handOvers";
import { EntryList } from "./Memory";
import { TaskBars } from "./TaskBars";
import { Log } from "./Timeline";

type Task = Schemas["Task"];
const PARTS = T.work.tabs;

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
          <Parts label={T.work.parts} path={["task", id]} shown={shown} parts={PARTS}>
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
  const { intent_id: intent } = task;
  return (
    <>
      <p className="said large" dir="auto"><Name>{task.name}</Name></p>
      {task.blocked_reason && <p className="last" dir="auto">{cut(task.blocked_reason)}</p>}
      {task.hand_over_note && <p className="last" dir="auto">{T.work.note}: {cut(task.hand_over_note)}</p>}
      <p className="quiet">
        <span className={task.status === "failed" ? "badge warn" : "badge"}>{toWord(task.status)}</span>
        {task.assigned_agent ? <a href={toHref(["agent", task.assigned_agent])}><Name>{task.assigned_agent}</Name></a> : <span>{T.work.nobody}</span>}
        {intent && <a href={toHref(["intent", intent])}><Name>{intent}</Name></a>}
        <Time>{task.updated_at}</Time>
        <a href={toHref(["access"], { kind: "task", id: task.id })}>{T.entry.whoMayRead}</a>
      </p>
      <Expandable summary={T.talks.details}>{() => <TaskFields task={task} />}</Expandable>
    </>
  );
}

function TaskFields({ task }: { task: Task }) {
  const { memory_policy: policy, parent_task_id: parent } = task;
  return (
    <>
      <Details rows={[
        [T.terms.coordinator, task.coordinator ? <Name>{task.coordinator}</Name> : T.terms.nobody],
        [T.work.delegates, <Tags tags={task.delegates} />],
        [T.work.partOf, parent ? <a href={toHref(["task", parent])}><Name>{parent}</Name></a> : "–"],
        [T.terms.created, <Time>{task.created_at}</Time>],
        [T.terms.changed, <Sentence text={T.terms.versionAt} of={{ time: <Time>{task.updated_at}</Time>, version: task.version }} />],
        [T.terms.ended, <Time>{task.completed_at}</Time>],
        [T.work.memory, T.work.policy(policy.max_entries, policy.max_total_size_kb, policy.archive_on_completion)],
        [T.work.inherits, policy.inherit_from_parent ? T.work.inheritsYes : T.work.inheritsNo],
        [T.terms.id, <Name>{task.id}</Name>],
      ]} />
      <LongText label={T.work.everything} text={renderValue(task)} />
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
    <List pages={pages} items={(page) => page.grants} empty={T.work.noGrants}>
      {(grants) => (
        <Table label={T.work.grants} head={[T.terms.to, T.terms.access, T.terms.until, T.terms.by, T.terms.since]}>
          {grants.map((grant) => (
            <tr key={grant.principal}>
              <th scope="row"><Name>{grant.principal}</Name></th>
              <td>{toWord(grant.access)}</td>
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

const SECTIONS = T.work.sections;

/** The context that the task's assignee gets at its start, section by section, without values. */
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
          <p className="quiet"><span>{T.work.contextSize(context.size_kb)}</span>{context.truncated && <span>{T.work.contextCut}</span>}</p>
          {Object.entries(SECTIONS).map(([section, title]) => {
            const entries = context[section as keyof typeof SECTIONS];
            return (
              <div key={section}>
                <h2>{T.work.sectionOf(title, entries.length)}</h2>
                {entries.length > 0 && <EntryTable entries={entries} label={title} />}
              </div>
            );
          })}
        </>
      )}
    </Loaded>
  );
}
