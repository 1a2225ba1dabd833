/** In which answers a memory was used, and when last. */

import { useQuery } from "@tanstack/react-query";
import { api, read } from "../api/client";
import { T } from "../texts";
import { Loaded } from "./data";
import { toHref } from "./location";
import { cut } from "./memory";
import { Sentence, Time } from "./text";

const MOST_ANSWERS = 5;
const MOST_CHARACTERS = 80;
const CALL = "client.say(session, assistant=answer, uses=recalled)";

/** The newest answers that were made from an item, by its reference: `e.` or `f.` and its id. */
export function Uses({ reference }: { reference: string }) {
  const query = useQuery({
    queryKey: ["answers", reference],
    queryFn: () => read(api.GET("/api/v1/recall/{reference}/answers", { params: { path: { reference }, query: { limit: MOST_ANSWERS } } })),
  });
  return (
    <div className="uses">
      <Loaded query={query}>
        {({ answers, total = answers.length }) => (answers.length === 0 ? <p>{T.memory.notUsed} <code>{CALL}</code></p> : (
          <>
            <p><Sentence text={T.memory.usedIn(total)} of={{ time: <Time>{answers[0]?.time}</Time> }} /></p>
            <ul>
              {answers.map(({ reference: answer, session_id = "", index, text }) => (
                <li key={answer}><a href={toHref(["conversation", session_id], { message: String(index) })} dir="auto">{cut(text, MOST_CHARACTERS)}</a></li>
              ))}
            </ul>
          </>
        ))}
      </Loaded>
    </div>
  );
}
