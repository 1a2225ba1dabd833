/** The tenant's principals, for whoever may list them. */

import { useQuery } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { can, usePrincipal } from "../session/session";

export type Principal = Schemas["Principal"];

/** The newest hundred principals; nothing without `memory.admin`. */
export function usePrincipals() {
  const isAdmin = can(usePrincipal(), "memory.admin");
  return useQuery({
    queryKey: ["principals", "newest"],
    queryFn: () => read(api.GET("/api/v1/principals", { params: { query: { limit: 100 } } })),
    enabled: isAdmin,
    staleTime: 60_000,
  });
}

/** The ids of agents to offer in a field; oneself, where one may not list them. */
export function useAgentIds(): string[] {
  const caller = usePrincipal();
  const listed = usePrincipals().data?.principals ?? (caller.kind === "agent" ? [caller] : []);
  return listed.filter((each) => each.kind === "agent").map((each) => each.id);
}
