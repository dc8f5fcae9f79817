import { it } from 'vitest';
import { drive, isQuestion } from './host.js';
it('probe', async () => {
    const done = await drive({ args: ['--permission-prompt-tool','stdio'], script: [{ tool: 'Bash', input: { command: 'touch made' } }, 'ok'] }, async (host) => {
      host.prompt('FIRST');
      await host.next(isQuestion);
      host.end();
    });
  console.log(done.exitCode, done.frames.map(f=>JSON.stringify(f).slice(0,300)), done.stderr, done.requests.length);
}, 120000);
