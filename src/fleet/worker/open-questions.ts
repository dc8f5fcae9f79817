import type { LocalClient } from '../../client/local-client.js';
import type { AnyAnswer, Question, QuestionKind } from '../../client/questions.js';
import { messageOf } from '../../errors.js';
import { sha256 } from '../../platform/hash.js';
import type { Fleet, FleetSession, GivenAnswer } from '../types.js';
import { callHash } from './effects.js';
import type { SessionWriter } from './session-writer.js';

interface OpenQuestionsParts {
  readonly client: Pick<LocalClient, 'answer'>;
  readonly writer: SessionWriter;
  readonly fleet: Pick<Fleet, 'answers'>;
  readonly session: FleetSession;
  readonly workspace: string;
  digest(): string;
  readonly graceMs: number;
}

interface Waiting {
  readonly question: Question;
  readonly since: number;
}

/**
 * The questions of a driven session. Each is stored under an id made of its call and of the policy, so that the answer
 * is found by whichever worker asks the same question again, and by none that asks under other rules.
 */
export class OpenQuestions {
  static readonly kinds: readonly QuestionKind[] = ['permission', 'plan', 'choices', 'form', 'url'];
  readonly #parts: OpenQuestionsParts;
  readonly #waiting = new Map<string, Waiting>();

  constructor(parts: OpenQuestionsParts) {
    this.#parts = parts;
  }

  ask(question: Question): void {
    const { session, workspace, writer } = this.#parts;
    const { id, askHours } = session.order;
    const policyDigest = this.#parts.digest();
    const hash = 'call' in question ? callHash(question.call, workspace) : sha256(question.id);
    const callId = 'call' in question ? question.call.toolUseId : question.id;
    const askId = `q${sha256(JSON.stringify([id, callId, hash, policyDigest])).slice(0, 16)}`;
    const now = Date.now();
    const askedAt = new Date(now).toISOString();
    const expiresAt = new Date(now + askHours * 3_600_000).toISOString();
    const shown = { ...question, id: askId, expiresAt };
    const ask = {
      id: askId,
      session: id,
      callHash: hash,
      policyDigest,
      question: shown,
      askedAt,
      expiresAt,
    };
    this.#waiting.set(askId, { question, since: performance.now() });
    writer.ask(ask);
    void writer.flush();
  }

  closed(id: string): void {
    for (const [askId, { question }] of this.#waiting) {
      if (question.id === id) this.#waiting.delete(askId);
    }
  }

  /** Every question has kept its slot for the grace time. */
  get isPastGrace(): boolean {
    const { graceMs } = this.#parts;
    const waits = [...this.#waiting.values()].map(({ since }) => performance.now() - since);
    return waits.length > 0 && waits.every((ms) => ms >= graceMs);
  }

  /** Gives answers that have arrived to the session, and refuses what has expired. */
  async settle(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const { id } = this.#parts.session.order;
    const answers = await this.#parts.fleet.answers(id, [...this.#waiting.keys()]);
    for (const [askId, { question }] of [...this.#waiting]) {
      const given = answers.get(askId);
      if (given === undefined) continue;
      this.#waiting.delete(askId);
      await this.#answer(question, given);
    }
  }

  async #answer(question: Question, given: GivenAnswer | 'expired'): Promise<void> {
    const { client } = this.#parts;
    const isForm = question.kind === 'form' || question.kind === 'url';
    const refusal = (message: string): AnyAnswer =>
      isForm ? { action: 'cancel' } : { behavior: 'deny', message };
    // fail-closed: a question without an answer in time is refused.
    const answer = given === 'expired' ? refusal('The question expired.') : onlyOnce(given.answer);
    try {
      await client.answer(question.id, answer);
    } catch (thrown) {
      // fail-closed: an answer that does not fit its question is none.
      await client.answer(
        question.id,
        refusal(`The answer could not be used: ${messageOf(thrown)}`),
      );
    }
  }
}

/** fail-closed: an answer from elsewhere changes no settings of the machine that happens to drive the session. */
function onlyOnce(answer: AnyAnswer): AnyAnswer {
  if (!('updatedPermissions' in answer)) return answer;
  const { updatedPermissions: _, ...rest } = answer;
  return rest;
}
