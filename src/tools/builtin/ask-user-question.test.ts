import { describe, expect, it } from 'vitest';
import { callTool } from '../../../test/support/permitted-call.js';
import { askUserQuestionTool } from './ask-user-question.js';

const question = (text: string) => ({
  question: text,
  header: 'Head',
  options: [
    { label: 'A', description: 'a' },
    { label: 'B', description: 'b' },
  ],
  multiSelect: false,
});
const questions = [question('Which one?'), question('And why?')];

describe('AskUserQuestion', () => {
  it('needs a person, and does not show the model the fields they fill in', () => {
    const tool = askUserQuestionTool();
    expect(tool.needsPerson).toBe(true);
    expect(Object.keys(tool.definition.input_schema.properties ?? {})).toEqual(['questions']);
  });

  it('gives the answers to the model', async () => {
    const answers = { 'Which one?': 'A, B', 'And why?': 'because' };
    const annotations = { 'And why?': { notes: 'think twice' } };
    const output = await callTool(askUserQuestionTool(), { questions, answers, annotations });
    expect(output).toEqual({
      content: 'Which one?\n→ A, B\nAnd why?\n→ because\n  Note: think twice',
      structured: { questions, answers, annotations },
    });
  });

  it('says what was left open', async () => {
    const output = await callTool(askUserQuestionTool(), {
      questions,
      answers: { 'And why?': 'x', 'Something else?': 'y' },
    });
    expect(output.content).toBe('Which one?\n→ (not answered)\nAnd why?\n→ x');
  });

  it.each([undefined, {}, { 'Which one?': '' }, { other: 'x' }])(
    'is an error when nobody answered (%j)',
    async (answers) => {
      const output = await callTool(askUserQuestionTool(), {
        questions,
        answers: answers === undefined ? undefined : (answers as Record<string, string>),
      });
      expect(output.isError).toBe(true);
      expect(output.content).toContain('No answer was given');
    },
  );

  it('does not find answers on a prototype', async () => {
    const output = await callTool(askUserQuestionTool(), {
      questions: [question('constructor')],
      answers: {},
    });
    expect(output.isError).toBe(true);
  });
});
