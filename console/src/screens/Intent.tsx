import { useQuery } from "@tanstack/react-query";
import { api, read } from "../api/client";
import { T, toWord } from "../texts";
import { Details, Loaded, Table } from "../ui/data";
import { Parts } from "../ui/parts";
import { toHref } from "../ui/location";
import { Name } from "../ui/text";
import { HandOverNote, useHandOvers } from "./handOvers";
import { EntryList } from "./Memory";
import { TaskBars } from "./TaskBars";
import { TaskList, useTasks } from "./Tasks";
import { Log } from "./Timeline";

const PARTS = T.work.intentTabs;

/** One intent: its tasks over time with their hand-overs, what happened to entries, and who may read it. */
export function IntentScreen({ id, params }: { id: string; params: URLSearchParams }) {
  const shown = params.get("show") ?? "timeline";
  return (
    <>
      <p className="subject"><Name>{id}</Name></p>
      <Parts label={T.work.partsOfIntent} path={["intent", id]} shown={shown} parts={PARTS}>
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
          <Details rows={[[T.terms.owner, owner ? <Name>{owner}</Name> : T.terms.nobody], [T.terms.version, version]]} />
          {entries.length === 0 ? <p className="empty">{T.work.noAccessList}</p> : (
            <Table label={T.work.accessList} head={[T.terms.who, T.terms.access]}>
              {entries.map(({ principal, access }) => (
                <tr key={principal}><th scope="row"><a href={toHref(["agent", principal])}><Name>{principal}</Name></a></th><td>{toWord(access)}</td></tr>
              ))}
            </Table>
          )}
        </>
      )}
    </Loaded>
  );
}
