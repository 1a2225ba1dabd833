import { api, read } from "../api/client";
import { ChoiceField, readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { useAgentIds, useIntentIds, useNamespaceNames, useTaskIds } from "./choices";
import { EntryTable, rememberHeads, TIERS } from "./entries";

const PAGE = 100;
const REFRESH_MS = 10_000;

/** The entries that match the filters in the address, newest first, without their values. */
export function MemoryScreen({ params }: { params: URLSearchParams }) {
  return (
    <>
      <EntryFilters path={["memory"]} params={params} />
      <p>Newest created first. Working and episodic memory shows with its agent or task.</p>
      <EntryList params={params} />
    </>
  );
}

/** The filters of entries; `agent`, where given, isn't one of them. */
export function EntryFilters({ path, params, agent }: { path: string[]; params: URLSearchParams; agent?: string }) {
  const agents = useAgentIds();
  const namespaces = useNamespaceNames();
  const intents = useIntentIds();
  const get = (name: string) => params.get(name) ?? undefined;
  const tasks = useTaskIds({ agent: agent ?? get("agent_id"), intent: get("intent_id") });
  return (
    <form className="filters" onSubmit={(event) => {
      event.preventDefault();
      goTo(toHref(path, readForm(event.currentTarget)));
    }}>
      {agent === undefined && <TextField label="Agent" name="agent_id" initial={get("agent_id")} options={agents} />}
      <ChoiceField label="Tier" name="memory_type" initial={get("memory_type")} options={{ "": "all", ...TIERS }} />
      <TextField label="Namespace" name="namespace" initial={get("namespace")} options={namespaces} hint="billing.* for all that begin so" />
      <TextField label="Key" name="key" initial={get("key")} />
      <TextField label="Tags" name="tags" initial={get("tags")} hint="all of them: a,b" />
      <TextField label="Any tag of" name="tags_any" initial={get("tags_any")} />
      <TextField label="Task" name="task_id" initial={get("task_id")} options={tasks} />
      <TextField label="Intent" name="intent_id" initial={get("intent_id")} options={intents} />
      <ChoiceField label="Pinned" name="pinned" initial={get("pinned")} options={{ "": "all", true: "pinned", false: "not pinned" }} />
      <TextField label="Changed after" name="updated_after" initial={get("updated_after")} hint="such as 2030-12-31T08:00Z" />
      <TextField label="Changed before" name="updated_before" initial={get("updated_before")} />
      <div className="actions">
        <button type="submit" className="primary">Filter</button>
        <a href={toHref(path)}>Clear</a>
      </div>
    </form>
  );
}

/** The entries that match, page by page. */
export function EntryList({ params, agent }: { params: URLSearchParams; agent?: string }) {
  const get = (name: string) => params.get(name) ?? undefined;
  const pinned = get("pinned");
  const pages = usePages(["entries", agent, String(params)], async (after) => {
    const page = await read(api.GET("/api/v1/memory", {
      params: {
        query: {
          memory_type: get("memory_type") as keyof typeof TIERS | undefined,
          agent_id: agent ?? get("agent_id"),
          namespace: get("namespace"),
          key: get("key"),
          tags: get("tags") as never,
          tags_any: get("tags_any") as never,
          pinned: pinned === undefined ? undefined : pinned === "true",
          "scope.task_id": get("task_id"),
          "scope.intent_id": get("intent_id"),
          updated_after: get("updated_after"),
          updated_before: get("updated_before"),
          values: "omit", touch: false, total: "none", limit: PAGE, after,
        },
      },
    }));
    rememberHeads(page.entries);
    return page;
  }, { refresh: REFRESH_MS });
  return (
    <List pages={pages} items={(page) => page.entries} empty={
      <>Nothing matches that you may read. Private memory shows to its agent and its task&rsquo;s coordinator only, not
      even to <code>memory.admin</code>.</>
    }>
      {(entries) => <EntryTable entries={entries} />}
    </List>
  );
}
