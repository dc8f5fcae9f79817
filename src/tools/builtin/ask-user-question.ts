import { isRecord, own } from '../../lib/own.js';
import { head } from '../../lib/text/truncate.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import type { Tool } from '../tool.js';
import description from './ask-user-question.md';

type Input = ToolInputs['AskUserQuestion'];

const MAX_ANSWER_CHARS = 10_000;

/**
 * The gate asks the question: the person's answer allows the call with `answers` filled in, so the tool itself
 * never waits.
 */
export function askUserQuestionTool(): Tool<Input> {
  const tool = defineTool<Input>({
    name: 'AskUserQuestion',
    kind: 'control',
    needsPerson: true,
    description,
    // fail-closed: a model must not be able to answer for the person.
    fromModel: ({ answers: _answers, annotations: _annotations, ...rest }) => rest,
    subject: (input) => ({
      paths: [],
      summary: `Ask: ${head(input.questions.map((each) => each.question).join(' / '), 200)}`,
    }),
    async run(input) {
      const { questions, answers = {}, annotations } = input;
      const given = questions.filter(({ question }) => (own(answers, question) ?? '') !== '');
      if (given.length === 0) {
        const content =
          'No answer was given. Continue with the most sensible assumption and say which, or end and say what you need to know.';
        return { content, isError: true };
      }
      const lines = questions.map(({ question }) => {
        const answer = own(answers, question) ?? '';
        const note = noteOf(annotations, question);
        return `${question}\n→ ${answer === '' ? '(not answered)' : head(answer, MAX_ANSWER_CHARS)}${note}`;
      });
      return {
        content: lines.join('\n'),
        structured: { questions, answers, annotations },
      };
    },
  });
  const { definition } = tool;
  const input_schema = withoutAnswers(definition.input_schema);
  return { ...tool, definition: { ...definition, input_schema } };
}

function noteOf(annotations: Input['annotations'], question: string): string {
  const annotation = annotations === undefined ? undefined : own(annotations, question);
  if (!isRecord(annotation) || typeof annotation.notes !== 'string') return '';
  return `\n  Note: ${head(annotation.notes, MAX_ANSWER_CHARS)}`;
}

/** The model is not shown the fields that the person fills in. */
function withoutAnswers(
  schema: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (!isRecord(schema.properties)) return schema;
  return { ...schema, properties: { questions: schema.properties.questions } };
}
