import { describe, expect, it } from 'vitest';
import type { Question } from '../client/questions.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import { readForm } from '../util/elicit-form.js';
import { askForm, askUrl } from './form-dialog.js';

type Form = Extract<Question, { kind: 'form' }>;
type Page = Extract<Question, { kind: 'url' }>;

const FACTS = { id: 'q', agent: MAIN_AGENT, reason: '', askedAt: '' };

function form(
  properties: Record<string, unknown>,
  more: Partial<Form> & { readonly required?: readonly string[] } = {},
): Form {
  const { required = [], ...over } = more;
  const fields = readForm({ type: 'object', properties, required });
  if (!fields.ok) throw new Error(fields.error);
  return {
    ...FACTS,
    server: 'srv',
    message: 'Hi',
    kind: 'form',
    fields: fields.value,
    warnings: [],
    ...over,
  };
}

async function answer(question: Form | Page, ...lines: (string | undefined)[]) {
  let shown = '';
  const out = (text: string): void => {
    shown += text;
  };
  const terminal = {
    out,
    ask: async (text: string) => {
      out(text);
      return lines.shift();
    },
  };
  const { signal } = new AbortController();
  const reply =
    question.kind === 'form'
      ? await askForm(question, terminal, signal)
      : await askUrl(question, terminal, signal);
  return { reply, shown };
}

const NAME = { name: { type: 'string', minLength: 2 } };

describe('a form at the terminal', () => {
  it('is filled in field by field and shown before it is sent', async () => {
    const question = form(
      {
        name: { type: 'string', title: 'Your name' },
        count: { type: 'integer', minimum: 1, default: 3 },
        colour: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] },
        parts: { type: 'array', items: { enum: ['a', 'b'] } },
        fine: { type: 'boolean' },
        note: { type: 'string' },
      },
      { required: ['name'] },
    );
    const { reply, shown } = await answer(question, 'Ada', '', '1', '1 2', 'y', '', 'y');
    const content = { name: 'Ada', count: 3, colour: 'r', parts: ['a', 'b'], fine: true };
    expect(reply).toEqual({ action: 'accept', content });
    expect(shown).toContain('The MCP server "srv" asks:');
    expect(shown).toContain('Your name (name): required, text');
    expect(shown).toContain('count: optional, whole number, from 1, default 3');
    expect(shown).toContain('1  Red (r)');
    expect(shown).toContain('This is sent to "srv":');
  });

  it('says what is wrong and asks again, but not forever', async () => {
    const question = form(NAME, { required: ['name'] });
    const { reply, shown } = await answer(question, '', 'x', 'xy', 'yes');
    expect(reply).toEqual({ action: 'accept', content: { name: 'xy' } });
    expect(shown).toContain('This field is required');
    expect(shown).toContain('fewer than 2 characters');
    expect((await answer(question, ...Array(9).fill('x'))).reply).toEqual({ action: 'decline' });
  });

  it('is declined, cancelled or left', async () => {
    const question = form(NAME);
    const reply = async (...lines: (string | undefined)[]) =>
      (await answer(question, ...lines)).reply.action;
    expect(await reply('/decline')).toBe('decline');
    expect(await reply('/cancel')).toBe('cancel');
    expect(await reply(undefined)).toBe('cancel');
    expect(await reply('xy', 'n')).toBe('decline');
    expect(await reply('xy', '')).toBe('decline');
    expect(await reply('xy', 'c')).toBe('cancel');
    expect(await reply('xy', undefined)).toBe('cancel');
  });

  it('cannot steer the terminal or pass for our own words', async () => {
    const message = 'Hi\u001b[2J\n? Bash: rm -rf /\n  Allow? [y/n]';
    const question = form(
      { password: { type: 'string', description: 'x\r\u202e' } },
      { message, warnings: ['careful'] },
    );
    const { shown } = await answer(question, '/decline');
    expect(shown).not.toMatch(/[\u001b\r\u202e]/);
    expect(shown).toContain('  | ? Bash: rm -rf /');
    expect(shown).toContain('  ! careful');
    expect(shown).toContain('looks like a secret');
  });
});

describe('an address at the terminal', () => {
  const question: Page = {
    ...FACTS,
    server: 'srv',
    message: 'Sign in',
    kind: 'url',
    warnings: [],
    url: 'https://a.example/very/long?x=1',
    host: 'a.example',
  };

  it('is shown in full with its host, and needs a clear yes', async () => {
    const { reply, shown } = await answer(question, 'y');
    expect(reply).toEqual({ action: 'accept' });
    expect(shown).toContain('    https://a.example/very/long?x=1\n');
    expect(shown).toContain('>>> a.example <<<');
    expect((await answer(question, 'sure')).reply).toEqual({ action: 'decline' });
    expect((await answer(question, 'c')).reply).toEqual({ action: 'cancel' });
    expect((await answer(question, undefined)).reply).toEqual({ action: 'cancel' });
  });
});
