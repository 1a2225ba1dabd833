/** The agent types that the tenant uses, to offer in a field. */

import { useQuery } from "@tanstack/react-query";
import { api, read } from "../api/client";

/** The names of up to a hundred agent types. */
export function useAgentTypes(): string[] {
  const query = useQuery({
    queryKey: ["agent types", "offered"],
    queryFn: () => read(api.GET("/api/v1/agent-types", { params: { query: { limit: 100, total: "none" } } })),
    staleTime: 60_000,
  });
  return query.data?.agent_types.map((each) => each.agent_type) ?? [];
}
