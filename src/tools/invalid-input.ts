import { head } from '../lib/text/truncate.js';
import type { ToolUseBlock } from '../protocol/content.js';
import type { MalformedInput } from '../protocol/tool-call.js';
import type { ValidationProblem } from './tool.js';

/** A call whose input never became a valid one. */
export interface InvalidInput {
  readonly call: ToolUseBlock;
  readonly tool: string;
  readonly malformed: MalformedInput | undefined;
  readonly problems: readonly ValidationProblem[];
}

const SHOWN_CHARACTERS = 200;

/** Says what is wrong with an input that is JSON, parameter by parameter. Absent is not empty. */
export function describeProblems(tool: string, problems: readonly ValidationProblem[]): string {
  const lines = problems.map(({ path, message }) =>
    path === '' ? `- ${message}` : `- \`${path.slice(1)}\` ${message}`,
  );
  return `InputValidationError: ${tool} was not run.\n${lines.join('\n')}`;
}

/** Says why an input is not even JSON, and the way out. */
export function describeMalformed(tool: string, malformed: MalformedInput): string {
  const received = `${malformed.raw.length} characters arrived, beginning: ${head(malformed.raw, SHOWN_CHARACTERS)}`;
  return `InputValidationError: ${tool} was not run. ${REASONS[malformed.cause]} ${received}`;
}

const REASONS: Record<MalformedInput['cause'], string> = {
  output_limit:
    'Its input was cut because your output limit was reached. Send less at once: write the first part with Write, then add the rest with Edit.',
  cut_stream: 'Its input was cut because the connection broke. Send the call again.',
  invalid_json: 'Its input is not valid JSON. Send the call again with well-formed JSON.',
  not_an_object: 'Its input is not a JSON object. Send the parameters as one object.',
};

/** Calls in a row that may fail the same way before the run is stopped as stuck. */
const MAX_LIKE_FAILURES = 3;

/** Notices a model that keeps sending the same broken call. */
export class FailureStreak {
  /** Set once the limit is reached. */
  stuck: string | undefined;
  #signature = '';
  #count = 0;

  failed(invalid: InvalidInput): void {
    const next = signatureOf(invalid);
    this.#count = next === this.#signature ? this.#count + 1 : 1;
    this.#signature = next;
    if (this.#count >= MAX_LIKE_FAILURES) {
      this.stuck = `${invalid.tool} was called ${this.#count} times in a row with an input that fails the same way (${next})`;
    }
  }

  succeeded(): void {
    this.#signature = '';
    this.#count = 0;
    this.stuck = undefined;
  }
}

function signatureOf(invalid: InvalidInput): string {
  const what =
    invalid.malformed?.cause ??
    invalid.problems.map((problem) => `${problem.path} ${problem.message}`.trim()).join('; ');
  return `${invalid.tool}: ${what}`;
}
