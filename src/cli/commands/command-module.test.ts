import { describe, expect, it } from 'vitest';
import type { Output } from '../output.js';
import { runModule } from './command-module.js';
import { COMMANDS } from './index.js';

async function told(command: string, argv: readonly string[]) {
  const shown: string[] = [];
  const out = (text: string): void => void shown.push(text);
  const none = (): undefined => undefined;
  const output: Output = {
    out,
    answer: out,
    warn: out,
    debug: none,
    debugs: false,
    behind: none,
    drained: async () => undefined,
    open: none,
    lost: none,
  };
  const module = await COMMANDS.get(command)?.load();
  if (module === undefined) throw new Error(`there is no ${command}`);
  return { code: await runModule(module, argv, output), text: shown.join('') };
}

describe('help', () => {
  it.each([...COMMANDS.keys()])(
    '%s says how it is called, and so do its subcommands',
    async (name) => {
      const { code, text } = await told(name, ['--help']);
      expect(code).toBe(0);
      expect(text).toMatch(/^usage:/);
      expect(text).toContain(`portcullis ${name}`);
      expect(await told(name, ['-h'])).toEqual({ code, text });
      const [first = ''] = text.split('\n');
      if (first !== 'usage:') return;
      const subs = [...text.matchAll(new RegExp(`^ {2}portcullis ${name} (\\S+)`, 'gm'))];
      for (const [, sub = ''] of subs) {
        const answer = await told(name, [sub, '--help']);
        expect(answer.code).toBe(0);
        // Some have two names.
        expect(answer.text).toMatch(new RegExp(`^usage: portcullis ${name} \\w`));
      }
    },
  );
});
