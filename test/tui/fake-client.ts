import type { CommandOutput, Envelope, SessionEvent } from '../../src/client/events.js';
import type { AnyAnswer } from '../../src/client/questions.js';
import type {
  AgentView,
  CommandName,
  Commands,
  Completion,
  EventOptions,
  HistoryEntry,
  SessionClient,
  SessionSnapshot,
} from '../../src/client/session-client.js';

/** A session without a model: the test says what happens. */
export class FakeClient implements SessionClient {
  readonly name = 'terminal';
  readonly sessionId = 's1';
  readonly sent: { readonly name: string; readonly params: unknown }[] = [];
  readonly answers: { readonly id: string; readonly answer: AnyAnswer }[] = [];
  completions: readonly Completion[] = [];
  output: CommandOutput = { text: '' };
  image: Commands['image']['result']['image'];
  /** Commands that are rejected, and why. */
  readonly refusals = new Map<string, Error>();
  historyEntries: readonly HistoryEntry[] = [];
  #listeners = new Set<(envelope: Envelope) => void>();
  #seq = 0;

  agents: readonly AgentView[] = [];

  emit(event: SessionEvent): void {
    const envelope = { seq: ++this.#seq, time: '2026-01-01T00:00:00Z', event };
    for (const listener of this.#listeners) listener(envelope);
  }

  /** The text of an answer, piece by piece. */
  text(...pieces: readonly string[]): void {
    for (const text of pieces) {
      this.emit({
        type: 'stream',
        event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      });
    }
  }

  endText(): void {
    this.emit({ type: 'stream', event: { type: 'content_block_stop', index: 0 } });
  }

  async snapshot(): Promise<SessionSnapshot> {
    return {
      seq: this.#seq,
      replayFrom: 1,
      state: 'idle',
      queue: [],
      calls: [],
      tasks: [],
      agents: this.agents,
      questions: [],
      usage: {
        costUsd: 0.0123,
        unknownModels: [],
        modelUsage: {},
        contextTokens: 50_000,
        contextWindow: 200_000,
      },
    };
  }

  subscribe(listener: (envelope: Envelope) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // biome-ignore lint/correctness/useYield: the terminal subscribes instead.
  async *events(_options?: EventOptions): AsyncGenerator<Envelope, void, void> {
    throw new Error('not used');
  }

  async send<K extends CommandName>(
    name: K,
    params: Commands[K]['params'],
  ): Promise<Commands[K]['result']> {
    this.sent.push({ name, params });
    const refusal = this.refusals.get(name);
    if (refusal !== undefined) throw refusal;
    const results: Partial<{ [N in CommandName]: Commands[N]['result'] }> = {
      prompt: { id: 'p' },
      cancelPrompt: { cancelled: true },
      interrupt: { interrupted: true, stillQueued: [] },
      command: this.output,
      complete: this.completions,
      history: this.historyEntries,
      shell: null,
      remember: { path: '/p/CLAUDE.md' },
      image: { image: this.image },
    };
    return results[name] as Commands[K]['result'];
  }

  async answer(id: string, answer: AnyAnswer): Promise<'accepted' | 'closed'> {
    this.answers.push({ id, answer });
    this.emit({ type: 'question_closed', id, outcome: 'answered', by: 'terminal' });
    return 'accepted';
  }

  close(): void {
    this.#listeners.clear();
  }
}
