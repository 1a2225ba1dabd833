import { useQueryClient } from "@tanstack/react-query";
import { api, read } from "../api/client";
import { List, usePages } from "../ui/data";
import { ChoiceField, readForm, TextField } from "../ui/form";
import { goTo, toHref } from "../ui/location";
import { EntryTable, rememberHeads, TIERS } from "./entries";
import { useAgentIds } from "./principals";

const PAGE = 100;

/** The entries that match the filters in the address, newest first, without their values. */
export function MemoryScreen({ params }: { params: URLSearchParams }) {
  const client = useQueryClient();
  const agents = useAgentIds();
  const get = (name: string) => params.get(name) ?? undefined;
  const pages = usePages(["entries", String(params)], async (after) => {
    const page = await read(api.GET("/api/v1/memory", {
      params: {
        query: {
          memory_type: get("memory_type") as keyof typeof TIERS | undefined,
          agent_id: get("agent_id"),
          namespace: get("namespace"),
          key: get("key"),
          tags: get("tag") as never,
          "scope.task_id": get("task_id"),
          "scope.intent_id": get("intent_id"),
          values: "omit", touch: false, total: "none", limit: PAGE, after,
        },
      },
    }));
    rememberHeads(client, page.entries);
    return page;
  });
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["memory"], readForm(event.currentTarget)));
      }}>
        <TextField label="Agent" name="agent_id" initial={get("agent_id")} options={agents} />
        <ChoiceField label="Tier" name="memory_type" initial={get("memory_type")} options={{ "": "all", ...TIERS }} />
        <TextField label="Namespace" name="namespace" initial={get("namespace")} hint="billing.* for all that begin so" />
        <TextField label="Key" name="key" initial={get("key")} />
        <TextField label="Tag" name="tag" initial={get("tag")} />
        <TextField label="Task" name="task_id" initial={get("task_id")} />
        <TextField label="Intent" name="intent_id" initial={get("intent_id")} />
        <div className="actions">
          <button type="submit" className="primary">Filter</button>
          <a href={toHref(["memory"])}>Clear</a>
        </div>
      </form>
      <p>Newest created first. Working and episodic memory shows with its agent or task.</p>
      <List pages={pages} items={(page) => page.entries} empty={
        <>Nothing matches that you may read. Private memory shows to its agent and its task&rsquo;s coordinator only, not
        even to <code>memory.admin</code>.</>
      }>
        {(entries) => <EntryTable entries={entries} />}
      </List>
    </>
  );
}
