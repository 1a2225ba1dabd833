/** Fails if a text that somebody reads stands outside src/texts.ts: a word in JSX, or a string that reads like prose. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const EXEMPT = new Set(["src/texts.ts", "src/api/schema.d.ts", "src/ui/code.ts"]); // code.ts writes calls
const WORD = /\p{L}{2}/u;
const PROSE = /^\p{Lu}\p{Ll}|\p{L} \p{L}/u; // a capitalized word, or several words
const READ_ATTRIBUTES = /^(title|alt|placeholder|label|hint|action|empty|summary|aria-label)$/;
const UNREAD_NAMES = /^(className|style|key|pattern|margin|contentStyle|itemStyle|labelStyle|aria-keyshortcuts|queryKey|COMMAND|ROWS)$/;
const UNREAD_CALLS = /^(usePages|useChoices|reload|new Intl)/; // keys of queries, formats
const COMMAND = /^agent-memory /;
const INTERNAL_ERROR = /new Error\("\p{Ll}/u; // a mistake of the programmer
const KEY = /^(Arrow(Up|Down|Left|Right)|Enter|Escape|Backspace)$/;

/** Tell whether a string is code: part of an import, a type, a style, a key. */
function isCode(node) {
  if (COMMAND.test(node.text) || KEY.test(node.text)) return true;
  for (let at = node.parent; at; at = at.parent) {
    if (ts.isImportDeclaration(at) || ts.isTypeNode(at)) return true;
    if (ts.isThrowStatement(at) && INTERNAL_ERROR.test(at.getText())) return true;
    if (at.name && (ts.isJsxAttribute(at) || ts.isPropertyAssignment(at) || ts.isVariableDeclaration(at)) && (at.name === node || UNREAD_NAMES.test(at.name.getText()))) return true;
    if (ts.isArrayLiteralExpression(at) && ts.isCallExpression(at.parent) && UNREAD_CALLS.test(at.parent.getText())) return true;
    if (ts.isCallExpression(at) && UNREAD_CALLS.test(at.getText()) && at.arguments.includes(node.parent.head === node ? node.parent : node)) return true;
  }
  return false;
}

function isRead(node) {
  if (ts.isJsxText(node)) return WORD.test(node.text.replace(/&\w+;/g, ""));
  if (ts.isJsxAttribute(node)) return node.initializer !== undefined && ts.isStringLiteral(node.initializer) && READ_ATTRIBUTES.test(node.name.getText());
  return (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)) && PROSE.test(node.text) && !isCode(node);
}

function* walk(node) {
  yield node;
  for (const child of node.getChildren()) yield* walk(child);
}

const files = readdirSync("src", { recursive: true }).map((each) => join("src", each)).filter((each) => /\.tsx?$/.test(each) && !EXEMPT.has(each));
const found = files.flatMap((file) => {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  return [...walk(source)].filter(isRead).map((node) => `${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${node.getText().trim()}`);
});
if (found.length > 0) {
  console.error(`Move these texts to src/texts.ts:\n${found.join("\n")}`);
  process.exitCode = 1;
}
