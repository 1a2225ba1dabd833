/** Tasks over time, one row each: how long each was at work, and when it was handed over. */

import { useId, useState } from "react";
import type { Schemas } from "../api/client";
import { T } from "../texts";
import { TaskChart } from "../ui/charts";
import { Table } from "../ui/data";
import { toHref } from "../ui/location";
import { cut } from "../ui/memory";
import { Name, Time } from "../ui/text";
import type { HandOver } from "./handOvers";

const STEPS = 100;
const LABEL = 60; // characters
const CLOCK = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

type Task = Schemas["Task"];
type Props = { tasks: Task[]; handOvers: HandOver[] };

/** The tasks as they are, or replayed up to a time by a slider. */
export function TaskBars({ tasks, handOvers }: Props) {
  const [step, setStep] = useState(STEPS);
  if (tasks.length === 0) return <p className="empty">{T.work.none}</p>;
  const from = Math.min(...tasks.map((task) => Date.parse(task.created_at)));
  const last = Math.max(...tasks.map(findEnd), ...handOvers.map(({ time }) => Date.parse(time)), from + 1000);
  const at = step === STEPS ? last : from + ((last - from) * step) / STEPS;
  const shown = handOvers.filter(({ time }) => Date.parse(time) <= at);
  const begun = tasks.filter((task) => Date.parse(task.created_at) <= at);
  const bars = begun.map((task) => ({
    id: task.id, name: cut(task.name, LABEL), status: findStatus(task, at), start: Date.parse(task.created_at), end: Math.max(Math.min(findEnd(task), at), Date.parse(task.created_at) + (last - from) / 100),
  }));
  const names = new Map(tasks.map((task) => [task.id, cut(task.name, LABEL)]));
  return (
    <>
      <Replay step={step} shown={CLOCK.format(at)} onChange={setStep} />
      <TaskChart label={T.work.chart(begun.length, shown.length)} bars={bars} from={from} to={last}
        marks={shown.map(({ task, time }) => ({ name: names.get(task) ?? task, time: Date.parse(time) }))} />
      <Table label={T.work.overTime} head={[T.work.task, T.work.status, T.work.assignee, T.work.started]}>
        {begun.map((task) => (
          <tr key={task.id}>
            <th scope="row"><a href={toHref(["task", task.id])}><Name>{task.name}</Name></a></th>
            <td>{findStatus(task, at)}</td>
            <td><Assignees task={task} all={handOvers.filter((each) => each.task === task.id)} shown={shown.filter((each) => each.task === task.id)} /></td>
            <td><Time>{task.created_at}</Time></td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function Replay({ step, shown, onChange }: { step: number; shown: string; onChange: (step: number) => void }) {
  const id = useId();
  return (
    <p className="quiet slider">
      <label htmlFor={id}>{T.work.replay}</label>
      <input id={id} type="range" min={0} max={STEPS} value={step} aria-valuetext={shown} onChange={(event) => onChange(Number(event.target.value))} />
      <output htmlFor={id}>{shown}</output>
    </p>
  );
}

function findEnd(task: Task): number {
  return Date.parse(task.completed_at ?? task.updated_at);
}

/** The status at a time: a task that has ended later was running then. */
function findStatus(task: Task, at: number): string {
  return findEnd(task) <= at ? task.status : T.work.atWork;
}

function Assignees({ task, all, shown }: { task: Task; all: HandOver[]; shown: HandOver[] }) {
  const first = all[0]?.from ?? (all.length === 0 ? task.assigned_agent : undefined);
  if (!first && shown.length === 0) return <>{T.work.nobody}</>;
  if (shown.length === 0) return <Name>{first ?? ""}</Name>;
  return (
    <ol className="plain">
      {first && <li><Name>{first}</Name></li>}
      {shown.map(({ time, to }) => <li key={time}>→ <Name>{to}</Name>, <Time>{time}</Time></li>)}
    </ol>
  );
}
