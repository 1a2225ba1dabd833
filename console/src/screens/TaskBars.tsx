/** Tasks over time, one row each: how long it was at work, and when it was handed over. */

import type { Schemas } from "../api/client";
import { Table } from "../ui/data";
import { toHref } from "../ui/location";
import { Name, Time } from "../ui/text";
import type { HandOver } from "./handOvers";

const WIDTH = 400;
const HEIGHT = 20;

type Props = { tasks: Schemas["Task"][]; handOvers: HandOver[] };

export function TaskBars({ tasks, handOvers }: Props) {
  if (tasks.length === 0) return <p className="empty">There is no task that you may read.</p>;
  const ends = tasks.map((task) => Date.parse(task.completed_at ?? task.updated_at));
  const first = Math.min(...tasks.map((task) => Date.parse(task.created_at)));
  const last = Math.max(...ends, ...handOvers.map(({ time }) => Date.parse(time)), first + 1);
  const toX = (time: string | number) => (((typeof time === "string" ? Date.parse(time) : time) - first) / (last - first)) * WIDTH;
  return (
    <Table label="Tasks over time" head={["Task", "Status", "Assignee", "From first to last change"]}>
      {tasks.map((task, at) => {
        const own = handOvers.filter((each) => each.task === task.id);
        const start = toX(task.created_at);
        return (
          <tr key={task.id}>
            <th scope="row"><a href={toHref(["task", task.id])}><Name>{task.name}</Name></a></th>
            <td>{task.status}</td>
            <td><Assignees now={task.assigned_agent} handOvers={own} /></td>
            <td className="lane">
              <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" preserveAspectRatio="none"
                aria-label={`${own.length} hand-overs, ${task.status}`}>
                <rect x={start} y={5} width={Math.max(3, toX(ends[at]!) - start)} height={10} data-status={task.status}>
                  <title>{`${task.status}, from ${task.created_at} to ${task.completed_at ?? "now"}`}</title>
                </rect>
                {own.map(({ time, to }) => (
                  <rect key={time} className="hand-over" x={toX(time) - 1} y={0} width={3} height={HEIGHT}>
                    <title>{`handed over to ${to} at ${time}`}</title>
                  </rect>
                ))}
              </svg>
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

function Assignees({ now, handOvers }: { now?: string | null; handOvers: HandOver[] }) {
  if (!now && handOvers.length === 0) return <>nobody</>;
  if (handOvers.length === 0) return <Name>{now ?? ""}</Name>;
  return (
    <ol className="plain">
      {handOvers[0]?.from && <li><Name>{handOvers[0].from}</Name></li>}
      {handOvers.map(({ time, to }) => <li key={time}>→ <Name>{to}</Name>, <Time>{time}</Time></li>)}
    </ol>
  );
}
