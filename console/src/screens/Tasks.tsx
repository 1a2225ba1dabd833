import {
  closestCenter, DndContext, DragOverlay, KeyboardSensor, MouseSensor, pointerWithin, rectIntersection, TouchSensor, useDraggable, useDroppable, useSensor, useSensors,
  type Announcements, type CollisionDetection, type DragEndEvent, type KeyboardCoordinateGetter, type KeyboardSensorProps, type UniqueIdentifier,
} from "@dnd-kit/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { api, ifMatch, read, type Schemas } from "../api/client";
import { reload } from "../api/reload";
import { can, usePrincipal } from "../session/session";
import { T, toWord } from "../texts";
import { Loaded, Table } from "../ui/data";
import { FilterBar } from "../ui/filters";
import { ConfirmDialog, Field } from "../ui/form";
import { toHref } from "../ui/location";
import { cut, Empty } from "../ui/memory";
import { Name, Time } from "../ui/text";
import { unique, useIntentIds, useWorkers } from "./choices";

const MOST = 100;
const INTENTS = 20;
const NEWEST_INTENTS = 10; // as links; the filter offers all
const REFRESH_MS = 5_000;
const NOBODY = "";
const DROP_MS = 50; // dnd-kit lets no click through for as long after a drop
type Task = Schemas["Task"];

/** The columns of the board, by the states that they show. */
const COLUMNS: [keyof typeof T.work.columns, Task["status"][]][] = [
  ["todo", ["pending", "ready", "claimed"]],
  ["running", ["running"]],
  ["blocked", ["blocked"]],
  ["done", ["completed", "failed", "cancelled", "skipped"]],
];

/** The tasks of all intents, of one, or of an agent, as a board: a lane for each agent, a column for each state. */
export function TasksScreen({ params }: { params: URLSearchParams }) {
  const agents = useWorkers();
  const intents = useIntentIds();
  const intent = params.get("intent_id") ?? undefined;
  const agent = params.get("agent_id") ?? undefined;
  const query = useQuery({
    queryKey: ["tasks", "board", intent, agent],
    queryFn: () => (intent === undefined && agent === undefined ? readAll() : readTasks({ intent, agent })),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <FilterBar path={["tasks"]} params={params} filters={{ intent: { param: "intent_id", options: intents }, agent: { param: "agent_id", options: agents } }} />
      <Intents shown={intent} all={intents} />
      <Loaded query={query}>
        {(tasks) => tasks.length === 0
          ? <Empty title={T.work.none} hint={T.work.noneHint} command={T.work.command} />
          : <Board tasks={agent === undefined ? tasks : tasks.filter((task) => intent === undefined || task.intent_id === intent)} agents={agents} />}
      </Loaded>
    </>
  );
}

function Intents({ all, shown }: { all: string[]; shown: string | undefined }) {
  if (all.length === 0) return null;
  return (
    <p className="quiet">
      <span>{T.work.intents}</span>
      {all.slice(0, NEWEST_INTENTS).map((each) => <a key={each} href={toHref(["intent", each])} aria-current={each === shown ? "true" : undefined}><Name>{each}</Name></a>)}
    </p>
  );
}

function readTasks({ intent, agent = "" }: { intent?: string; agent?: string }): Promise<Task[]> {
  const query = { limit: MOST };
  return intent !== undefined
    ? read(api.GET("/api/v1/intents/{intent_id}/tasks", { params: { path: { intent_id: intent }, query } }))
    : read(api.GET("/api/v1/agents/{agent_id}/tasks", { params: { path: { agent_id: agent }, query } }));
}

/** Read the tasks of the newest intents; an intent that fails leaves the others. */
async function readAll(): Promise<Task[]> {
  const { intents } = await read(api.GET("/api/v1/intents", { params: { query: { limit: INTENTS, total: "none" } } }));
  const found = await Promise.allSettled(intents.map(({ intent_id }) => readTasks({ intent: intent_id })));
  return found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
}

/** The newest tasks of an intent, or of an agent. */
export function useTasks(which: { intent?: string; agent?: string }) {
  return useQuery({ queryKey: ["tasks", which.intent, which.agent], queryFn: () => readTasks(which), refetchInterval: REFRESH_MS });
}

type Offer = { task: Task; to: string };

function Board({ tasks, agents }: { tasks: Task[]; agents: string[] }) {
  const [dragged, setDragged] = useState<UniqueIdentifier>();
  const [offer, setOffer] = useState<Offer>();
  const caller = usePrincipal();
  const mayMove = (task: Task) => can(caller, "memory.write") && [task.coordinator, task.assigned_agent].includes(caller.id);
  const lanes = unique([...agents, ...tasks.flatMap(({ assigned_agent }) => assigned_agent ?? [])]).sort();
  if (tasks.some(({ assigned_agent }) => !assigned_agent)) lanes.push(NOBODY);
  const sensors = useSensors(
    useSensor(MouseSensor, { activationConstraint: { distance: 6 } }),
    useSensor(TouchSensor, { activationConstraint: { delay: 200, tolerance: 8 } }),
    useSensor(PromptKeyboardSensor, { coordinateGetter: moveToLane, scrollBehavior: "auto" }),
  );
  const find = (id: UniqueIdentifier | undefined) => tasks.find((task) => task.id === id);
  const end = ({ active, over }: DragEndEvent) => {
    setDragged(undefined);
    const task = find(active.id);
    const to = over === null ? undefined : String(over.id).replace(LANE, "");
    if (task && to && to !== (task.assigned_agent ?? NOBODY)) setTimeout(() => setOffer({ task, to }), DROP_MS); // so that the dialog's first click counts
  };
  const lifted = find(dragged);
  return (
    <DndContext sensors={sensors} collisionDetection={findLane} accessibility={{ announcements: announce(find), screenReaderInstructions: { draggable: T.work.instructions } }}
      onDragStart={({ active }) => setDragged(active.id)} onDragEnd={end} onDragCancel={() => setDragged(undefined)}>
      <div className="board">
        {lanes.map((lane) => (
          <Lane key={lane} agent={lane}>
            {COLUMNS.map(([name, states]) => {
              const shown = tasks.filter((task) => (task.assigned_agent ?? NOBODY) === lane && states.includes(task.status));
              return (
                <div key={name} className="column" role="group" aria-label={T.work.columns[name]}>
                  <h3>{T.work.columns[name]} {shown.length > 0 && <span className="count">{shown.length}</span>}</h3>
                  {shown.map((task) => <Card key={task.id} task={task} isFixed={!mayMove(task) || name === "done"} onHandOver={() => setOffer({ task, to: "" })} />)}
                </div>
              );
            })}
          </Lane>
        ))}
      </div>
      <DragOverlay dropAnimation={null}>{lifted && <div className="task-card lifted"><Name>{lifted.name}</Name></div>}</DragOverlay>
      {offer && <HandOverDialog offer={offer} agents={lanes.filter((each) => each !== NOBODY)} onClose={() => setOffer(undefined)} />}
    </DndContext>
  );
}

const LANE = "lane:";

/** The lane below the pointer; for the keyboard the one that the card is in, or else the nearest. */
const findLane: CollisionDetection = (given) =>
  [pointerWithin, rectIntersection].map((find) => find(given)).find((found) => found.length > 0) ?? closestCenter(given);

/** Obeys keys from the start: dnd-kit listens a moment after a card is picked up, so keys pressed before that are repeated. */
class PromptKeyboardSensor extends KeyboardSensor {
  constructor(props: KeyboardSensorProps) {
    super(props);
    const early: KeyboardEvent[] = [];
    const keep = (event: KeyboardEvent) => {
      if (event === props.event) return;
      event.preventDefault();
      early.push(event);
    };
    document.addEventListener("keydown", keep);
    setTimeout(() => {
      document.removeEventListener("keydown", keep);
      for (const each of early) document.dispatchEvent(new KeyboardEvent("keydown", each));
    });
  }
}

/** Arrow keys move a task lane by lane, from the one that it is in: `over` is older while the board scrolls. */
const moveToLane: KeyboardCoordinateGetter = (event, { currentCoordinates, context }) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.code];
  if (step === undefined) return undefined;
  event.preventDefault();
  const lanes = [...context.droppableRects].map(([id, rect]) => ({ id, rect })).sort((a, b) => a.rect.top - b.rect.top);
  const lifted = context.collisionRect;
  const middle = lifted ? lifted.top + lifted.height / 2 : NaN;
  const found = lanes.findIndex(({ rect }) => rect.top <= middle && middle <= rect.bottom);
  const at = found === -1 ? lanes.findIndex(({ id }) => id === context.over?.id) : found;
  const next = lanes[Math.max(0, Math.min(lanes.length - 1, at + step))];
  return next && lifted ? { x: currentCoordinates.x, y: next.rect.top + (next.rect.height - lifted.height) / 2 } : undefined;
};

function announce(find: (id: UniqueIdentifier) => Task | undefined): Announcements {
  const name = (id: UniqueIdentifier) => cut(find(id)?.name ?? String(id));
  const lane = (id: UniqueIdentifier | undefined) => (id === undefined ? undefined : String(id).replace(LANE, "") || T.work.nobody);
  return {
    onDragStart: ({ active }) => T.work.lifted(name(active.id)),
    onDragOver: ({ active, over }) => T.work.over(name(active.id), lane(over?.id) ?? ""),
    onDragEnd: ({ active, over }) => T.work.dropped(name(active.id), lane(over?.id) ?? ""),
    onDragCancel: ({ active }) => T.work.kept(name(active.id)),
  };
}

function Lane({ agent, children }: { agent: string; children: React.ReactNode }) {
  const id = useId();
  const { setNodeRef, isOver } = useDroppable({ id: LANE + agent, disabled: agent === NOBODY });
  return (
    <section ref={setNodeRef} className="lane" aria-labelledby={id} data-over={isOver || undefined} data-agent={agent}>
      <h2 id={id}>{agent === NOBODY ? T.work.nobody : <a href={toHref(["agent", agent])}><Name>{agent}</Name></a>}</h2>
      <div className="columns-of-lane">{children}</div>
    </section>
  );
}

function Card({ task, isFixed, onHandOver }: { task: Task; isFixed: boolean; onHandOver: () => void }) {
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, isDragging } = useDraggable({ id: task.id, disabled: isFixed });
  const progress = (task.metadata as { progress?: unknown } | null | undefined)?.progress;
  return (
    <article ref={setNodeRef} className="task-card" data-status={task.status} data-lifted={isDragging || undefined} {...(isFixed ? {} : listeners)}>
      <p className="said"><a href={toHref(["task", task.id])} draggable={false}><Name>{task.name}</Name></a></p>
      {typeof progress === "number" && <progress max={1} value={progress} aria-label={T.work.progress} />}
      {task.blocked_reason && <p className="last" dir="auto">{cut(task.blocked_reason)}</p>}
      {task.hand_over_note && <p className="last" dir="auto">{T.work.note}: {cut(task.hand_over_note)}</p>}
      <p className="quiet">
        <span className={task.status === "failed" ? "badge warn" : "badge"}>{toWord(task.status)}</span>
        <Time>{task.updated_at}</Time>
      </p>
      {!isFixed && (
        <p className="actions">
          <button type="button" className="plain-button" ref={setActivatorNodeRef} {...attributes} aria-label={T.work.move(task.name)}>{T.work.drag}</button>
          <button type="button" className="plain-button" aria-label={T.work.handOverOf(task.name)} onClick={onHandOver}>{T.work.handOver}</button>
        </p>
      )}
    </article>
  );
}

function HandOverDialog({ offer: { task, to }, agents, onClose }: { offer: Offer; agents: string[]; onClose: () => void }) {
  const client = useQueryClient();
  const others = agents.filter((each) => each !== task.assigned_agent);
  const [chosen, setChosen] = useState(to);
  const note = useRef<HTMLTextAreaElement>(null);
  return (
    <ConfirmDialog title={T.work.handOverTitle(task.name)} action={T.work.handOverNow} isReady={chosen !== ""} onClose={onClose} onConfirm={async () => {
      await api.PATCH("/api/v1/tasks/{task_id}", {
        params: { path: { task_id: task.id }, header: ifMatch(task.version) },
        body: { assigned_agent: chosen, note: note.current?.value.trim() || undefined },
      });
      await reload(client, "tasks", "task", "hand-overs");
    }}>
      <Field label={T.work.to}>
        {(id) => (
          <select id={id} value={chosen} onChange={(event) => setChosen(event.target.value)}>
            {to === "" && <option value="">{T.work.choose}</option>}
            {others.map((each) => <option key={each}>{each}</option>)}
          </select>
        )}
      </Field>
      <Field label={T.work.noteFor} hint={T.work.noteHint}>
        {(id, hint) => <textarea id={id} ref={note} rows={3} maxLength={4096} aria-describedby={hint} />}
      </Field>
    </ConfirmDialog>
  );
}

export function TaskList(which: { intent?: string; agent?: string }) {
  const query = useTasks(which);
  return (
    <Loaded query={query}>
      {(tasks) => tasks.length === 0 ? <p className="empty">{T.work.none}</p> : (
        <Table label={T.work.tasks} head={[T.work.task, T.work.status, T.work.assignee, T.work.coordinator, T.work.intent, T.work.changed]}>
          {tasks.map((task) => (
            <tr key={task.id}>
              <th scope="row"><a href={toHref(["task", task.id])}><Name>{task.name}</Name></a></th>
              <td>{toWord(task.status)}</td>
              <td>{task.assigned_agent ? <Name>{task.assigned_agent}</Name> : T.work.nobody}</td>
              <td>{task.coordinator ? <Name>{task.coordinator}</Name> : T.work.nobody}</td>
              <td>{task.intent_id ? <a href={toHref(["intent", task.intent_id])}><Name>{task.intent_id}</Name></a> : "–"}</td>
              <td><Time>{task.updated_at}</Time></td>
            </tr>
          ))}
        </Table>
      )}
    </Loaded>
  );
}
