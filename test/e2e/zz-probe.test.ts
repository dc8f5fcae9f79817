import { it } from 'vitest';
import { run, transcripts } from './worlds.js';
const show = (name: string, d: any) => console.log(name, d.exitCode, JSON.stringify(d.result ?? d.stdout.slice(0,300)), '\nSTDERR', d.stderr, '\nREQ', d.requests.length, 'TR', transcripts(d).map((t:any)=>t.lines.map((l:any)=>l.type).join()));
it('probe', async () => {
  const m = (misbehave: any) => ({ text: 'hello there', serve: { misbehave } });
  for (const k of ['html','unstreamed','wrong_content_type','empty','malformed_sse','reset'] as const)
    show(k, await run({ script: [m(k), m(k)] }));
  show('hang', await run({ env: { PORTCULLIS_STREAM_IDLE_TIMEOUT_MS: '300' }, script: [m('hang'), m('hang')] }));
  show('midway', await run({ env: { PORTCULLIS_STREAM_IDLE_TIMEOUT_MS: '300' }, script: [m('hang_midway'), m('hang_midway')] }));
  show('cut', await run({ script: [{ text: 'hello there', cutStream: true }, 'fine'] }));
  show('cutcut', await run({ script: [{ text: 'hello there', cutStream: true }, { text: 'hello there', cutStream: true }] }));
  show('closed', await run({ env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }, script: [] }));
  show('closed text', await run({ format:'text', env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }, script: [] }));
  show('nokey', await run({ env: { ANTHROPIC_BASE_URL: undefined, ANTHROPIC_API_KEY: undefined }, script: [] }));
  for (const status of [400,401,403,404,413,429,500,529])
    show(String(status), await run({ script: [{ error: { status, retryAfterMs: 50 } }, { error: { status, retryAfterMs: 50 } }, 'x'] }));
}, 120000);
