import { api, read } from "../api/client";
import { renderValue } from "../api/json";
import { T, toWord } from "../texts";
import { Table } from "../ui/data";
import { FilterBar } from "../ui/filters";
import { List, usePages } from "../ui/list";
import { Expandable, LongText, Name, Time } from "../ui/text";
import { parseTime } from "../ui/time";
import { useWho } from "./choices";

const PAGE = 100;
const TIMES = ["today", "yesterday", "7d", "30d"];
const REFRESH_MS = 5_000;

/** The uses of authority and their actors, newest first. */
export function AuditScreen({ params }: { params: URLSearchParams }) {
  const who = useWho();
  const get = (name: string) => params.get(name) ?? undefined;
  const filters = { actor: get("actor"), action: get("action"), from: parseTime(get("from")), to: parseTime(get("to")) };
  const pages = usePages(["audit", filters], (after) =>
    read(api.GET("/api/v1/audit", { params: { query: { ...filters, order: "desc", after, limit: PAGE } } })), { refresh: REFRESH_MS },
  );
  return (
    <>
      <FilterBar path={["audit"]} params={params} filters={{
        by: { param: "actor", options: who }, action: { param: "action", example: "task.change" },
        after: { param: "from", options: TIMES, example: "yesterday" }, before: { param: "to", options: TIMES },
      }} />
      <List pages={pages} items={(page) => page.records} empty={T.audit.none}>
        {(records) => (
          <Table label={T.audit.title} head={[T.audit.when, T.audit.who, T.audit.action, T.audit.target, T.audit.change]}>
            {records.map((record) => (
              <tr key={record.id}>
                <td><Time>{record.time}</Time></td>
                <td><Name>{record.actor.id}</Name> ({toWord(record.actor.kind)})</td>
                <td><Name>{record.action}</Name></td>
                <td><Name>{record.target}</Name></td>
                <td>
                  {(record.before ?? record.after) !== undefined && (
                    <Expandable summary={T.audit.both}>
                      {() => <LongText label={T.audit.change} text={renderValue({ before: record.before, after: record.after })} />}
                    </Expandable>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </List>
    </>
  );
}
