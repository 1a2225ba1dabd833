/** The times at which tasks got another assignee. */

import { useQuery } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { can, usePrincipal } from "../session/session";
import { T } from "../texts";

export type HandOver = { task: string; time: string; from: string | undefined; to: string };

const RECORDS = 1000;
const REFRESH_MS = 5_000;

/** Find in the audit log when tasks got another assignee. */
export function useHandOvers(tasks: string[]): HandOver[] {
  const isAdmin = can(usePrincipal(), "memory.admin");
  const query = useQuery({
    queryKey: ["hand-overs"],
    queryFn: () => read(api.GET("/api/v1/audit", { params: { query: { action: "task.change", order: "desc", limit: RECORDS } } })),
    enabled: isAdmin,
    refetchInterval: REFRESH_MS,
  });
  return (query.data?.records ?? []).toReversed().flatMap(({ time, target, before, after }) => {
    const task = target.replace(/^task:/, "");
    const to = readAssignee(after);
    const from = readAssignee(before);
    return tasks.includes(task) && to !== undefined && to !== from ? [{ task, time, from, to }] : [];
  });
}

function readAssignee(state: Schemas["AuditRecord"]["before"]): string | undefined {
  const found = (state as Record<string, unknown> | undefined)?.assigned_agent;
  return typeof found === "string" ? found : undefined;
}

/** Says why there are no hand-overs for those who may not read the audit log. */
export function HandOverNote() {
  if (can(usePrincipal(), "memory.admin")) return null;
  return <p className="hint">{T.work.handOverNote}</p>;
}
