/** Buttons that copy: a text, or a view as code. */

import { Menu, MenuButton, MenuItem, MenuProvider } from "@ariakit/react";
import { useState } from "react";
import { T } from "../texts";
import type { Code } from "./code";

export function CopyButton({ text, label = T.code.copy }: { text: string | (() => string); label?: string }) {
  const [isCopied, setCopied] = useState(false);
  if (!navigator.clipboard) return null;
  const copy = () => navigator.clipboard.writeText(typeof text === "string" ? text : text()).then(() => setCopied(true));
  return <button type="button" className="plain-button" onClick={() => void copy()}>{isCopied ? T.code.copied : label}</button>;
}

/** Offers a view as Python, curl, CLI and MCP call. */
export function CopyCode({ code }: { code: Code }) {
  const [copied, setCopied] = useState<string>();
  if (!navigator.clipboard) return null;
  const copy = (name: string, text: string) => navigator.clipboard.writeText(text).then(() => setCopied(name));
  return (
    <MenuProvider>
      <MenuButton className="plain-button" data-copies="code">{copied ? `${T.code.copied}: ${copied}` : T.code.title}</MenuButton>
      <Menu gutter={4} className="menu" aria-label={T.code.title}>
        {(Object.keys(code) as (keyof Code)[]).flatMap((name) => {
          const text = code[name];
          return text === undefined ? [] : (
            <MenuItem key={name} className="menu-item" onClick={() => void copy(T.code[name], text)}>{T.code[name]}</MenuItem>
          );
        })}
      </Menu>
    </MenuProvider>
  );
}
