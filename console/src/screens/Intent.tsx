import { useQuery } from "@tanstack/react-query";
import { api, read } from "../api/client";
import { Details, Loaded, Table } from "../ui/data";
import { Parts } from "../ui/parts";
import { toHref } from "../ui/location";
import { Name } from "../ui/text";
import { HandOverNote, useHandOvers } from "./handOvers";
import { EntryList } from "./Memory";
import { TaskBars } from "./TaskBars";
import { TaskList, useTasks } from "./Tasks";
import { Log } from "./Timeline";

const PARTS = { timeline: "Timeline", tasks: "Tasks", entries: "Entries", access: "Access list" };

/** One intent: its tasks over time with their hand-overs, what happened to entries, and who may read it. */
export function IntentScreen({ id, params }: { id: string; params: URLSearchParams }) {
  const shown = params.get("show") ?? "timeline";
  return (
    <>
      <p className="subject"><Name>{id}</Name></p>
      <Parts label="Parts of the intent" path={["intent", id]} shown={shown} parts={PARTS}>
        {shown === "timeline" && <><IntentTasks id={id} /><Log log={{ log: "intent", name: id }} filters={{}} /></>}
        {shown === "tasks" && <TaskList intent={id} />}
        {shown === "entries" && <EntryList params={new URLSearchParams({ intent_id: id })} />}
        {shown === "access" && <AccessList id={id} />}
      </Parts>
    </>
  );
}

function IntentTasks({ id }: { id: string }) {
  const tasks = useTasks({ intent: id });
  const handOvers = useHandOvers(tasks.data?.map((task) => task.id) ?? []);
  return (
    <>
      <Loaded query={tasks}>{(found) => <TaskBars tasks={found} handOvers={handOvers} />}</Loaded>
      <HandOverNote />
    </>
  );
}

function AccessList({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ["acl", id],
    queryFn: () => read(api.GET("/api/v1/intents/{intent_id}/acl", { params: { path: { intent_id: id } } })),
  });
  return (
    <Loaded query={query}>
      {({ owner, entries, version }) => (
        <>
          <Details rows={[["Owner", owner ? <Name>{owner}</Name> : "nobody"], ["Version", version]]} />
          {entries.length === 0 ? <p className="empty">Nobody is on its access list. Who takes part in its tasks reads its log, too.</p> : (
            <Table label="Access list" head={["Who", "Access"]}>
              {entries.map(({ principal, access }) => (
                <tr key={principal}><th scope="row"><a href={toHref(["agent", principal])}><Name>{principal}</Name></a></th><td>{access}</td></tr>
              ))}
            </Table>
          )}
        </>
      )}
    </Loaded>
  );
}
