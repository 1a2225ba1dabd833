/** Earlier versions of an entry: what changed in each, and one click to restore it. */

import { diffWords } from "diff";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, ifMatch, read, type Schemas } from "../api/client";
import { showInvisible } from "../api/json";
import { reload } from "../api/reload";
import { can, usePrincipal } from "../session/session";
import { T } from "../texts";
import { Problem } from "../ui/data";
import { List, usePages } from "../ui/list";
import { describe } from "../ui/memory";
import { Name, Time } from "../ui/text";
import { isSensitive, type Entry } from "./entries";

type Version = Schemas["EntryVersion"];
const PAGE = 20;
const LONG = 20_000; // characters that are compared
const DIFF_MS = 200; // then the text is shown without its changes

export function EntryHistory({ entry }: { entry: Entry }) {
  const client = useQueryClient();
  const mayWrite = can(usePrincipal(), "memory.write");
  const params = { path: { id: entry.id } };
  const pages = usePages(["history", entry.id, entry.version], (after) =>
    read(api.GET("/api/v1/memory/{id}/history", { params: { ...params, query: { after, limit: PAGE, values: isSensitive(entry) ? undefined : "ordinary" } } })));
  const restore = useMutation({
    mutationFn: (version: number) => read(api.POST("/api/v1/memory/{id}/restore", { params: { ...params, header: ifMatch(entry.version) }, body: { version } })),
    onSuccess: async () => reload(client, "entry", "entries", "events", "history"),
    gcTime: 0,
  });
  return (
    <section aria-labelledby="history">
      <h2 id="history">{T.history.title}</h2>
      {restore.isError && <Problem error={restore.error} />}
      <List pages={pages} items={(page) => page.versions} empty={T.history.none} isByButton>
        {(versions) => (
          <ol className="memories versions">
            {versions.map((version, at) => (
              <li key={version.version}>
                <Change version={version} before={versions[at + 1]} />
                <div className="quiet">
                  <span>{T.history.version(version.version)}</span>
                  <span>{T.memory.by} <Name>{version.actor}</Name></span>
                  <Time>{version.time}</Time>
                  {version.version === entry.version ? <span className="badge">{T.history.current}</span> : mayWrite && version.value !== undefined && (
                    <button type="button" className="plain-button" disabled={restore.isPending} aria-label={T.history.restoreOf(version.version)}
                      onClick={() => restore.mutate(version.version)}>{T.history.restore}</button>
                  )}
                </div>
              </li>
            ))}
          </ol>
        )}
      </List>
    </section>
  );
}

/** A version's text, with what was removed and added since the one before. */
function Change({ version, before }: { version: Version; before: Version | undefined }) {
  if (version.value === undefined) return <p className="said">{T.memory.noValue}</p>;
  const text = describe(version.value).slice(0, LONG);
  const plain = [{ value: text, added: false, removed: false }];
  const changes = before?.value === undefined ? plain : (diffWords(describe(before.value).slice(0, LONG), text, { timeout: DIFF_MS }) ?? plain);
  return (
    <p className="said" dir="auto">
      {changes.map(({ value, added, removed }, at) =>
        added ? <ins key={at}>{showInvisible(value)}</ins> : removed ? <del key={at}>{showInvisible(value)}</del> : <span key={at}>{showInvisible(value)}</span>)}
    </p>
  );
}
