import type { ModelClient, ModelEvent, ModelRequest } from '../model/client.js';
import { type ScriptedClient, scriptedClient } from '../model/scripted/client.js';
import { type Reply, type ReplyFunction, type Script, scriptOf } from '../model/scripted/format.js';

/** A scripted model that remembers what it was asked. */
export class FakeModel implements ModelClient {
  readonly provider = 'scripted';
  /** Every request, in the order they came, with the messages as they were then. */
  readonly requests: ModelRequest[] = [];
  readonly #client: ScriptedClient;

  private constructor(script: Script) {
    this.#client = scriptedClient(script);
  }

  static script(replies: readonly (Reply | ReplyFunction)[]): FakeModel {
    return new FakeModel(scriptOf(replies));
  }

  static actors(actors: Script['actors']): FakeModel {
    return new FakeModel({ actors });
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    this.requests.push({ ...request, messages: [...request.messages] });
    return this.#client.stream(request, signal);
  }

  /** Throws when a request got no reply or a reply was never asked for. */
  assertDone(): void {
    const problems = this.#client.problems();
    if (problems.length > 0)
      throw new Error(`the script was not played out:\n${problems.join('\n')}`);
  }
}
