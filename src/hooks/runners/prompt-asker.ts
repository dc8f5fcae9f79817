import { err, ok } from '../../lib/result.js';
import type { ModelClient } from '../../model/client.js';
import { MessageAccumulator } from '../../model/stream/accumulate.js';
import { textOf } from '../../protocol/content.js';
import type { AskModel } from './prompt.js';

/** A verdict is a few words; models that cannot but think need some room before it. */
const VERDICT_TOKENS = 2_000;

/**
 * Asks through the model layer: no tools, no thinking, a short answer. The schema is part of what
 * the model is told; that it is kept to is for the reader of the answer to check.
 *
 * `choose`: the id of the model that a hook names, or of the small one. May throw for a name that
 * means none.
 */
export function modelAsker(client: ModelClient, choose: (name?: string) => string): AskModel {
  return async ({ model, system, prompt, schema }, signal) => {
    const fold = new MessageAccumulator();
    let whole = false;
    const events = client.stream(
      {
        model: choose(model),
        system: [
          { type: 'text', text: `${system}\n\nSchema of the answer: ${JSON.stringify(schema)}` },
        ],
        tools: [],
        messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
        maxTokens: VERDICT_TOKENS,
        thinking: { type: 'disabled' },
      },
      signal,
    );
    for await (const event of events) {
      if (event.type === 'failure')
        return err(`the model cannot be asked: ${event.failure.message}`);
      fold.push(event);
      whole = event.type === 'message_stop';
    }
    // fail-closed: the rest of an answer may have been what mattered.
    return whole ? ok(textOf(fold.answer().content)) : err('the answer of the model broke off');
  };
}
