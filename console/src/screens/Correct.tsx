/** Corrects the text of a memory in place. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useRef } from "react";
import { api, ifMatch, read } from "../api/client";
import { reload } from "../api/reload";
import { T } from "../texts";
import { Problem } from "../ui/data";
import { TEXT_FIELDS } from "../ui/memory";
import type { Entry } from "./entries";

/** The field of a value that is its text. */
export function findTextField(value: unknown): string | undefined {
  if (value === null || typeof value !== "object") return undefined;
  return TEXT_FIELDS.find((name) => typeof (value as Record<string, unknown>)[name] === "string");
}

export function Correct({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const client = useQueryClient();
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const value = entry.value as Record<string, unknown>;
  const name = findTextField(value) ?? "text";
  const save = useMutation({
    mutationFn: () => read(api.PATCH("/api/v1/memory/{id}", {
      params: { path: { id: entry.id }, header: ifMatch(entry.version) },
      body: { value: { ...value, [name]: field.current?.value ?? "" } },
    })),
    onSuccess: (saved) => {
      client.setQueryData(["entry", entry.id], saved);
      void reload(client, "entries", "events", "history");
      onClose();
    },
    gcTime: 0,
  });
  return (
    <form className="editor" onSubmit={(event) => { event.preventDefault(); save.mutate(); }}>
      {save.isError && <Problem error={save.error} />}
      <label htmlFor={id}>{T.entry.text}</label>
      <textarea id={id} ref={field} rows={4} defaultValue={String(value[name])} autoFocus required dir="auto" />
      <div className="actions">
        <button type="submit" className="primary" disabled={save.isPending}>{T.entry.save}</button>
        <button type="button" onClick={onClose}>{T.entry.cancel}</button>
      </div>
    </form>
  );
}
