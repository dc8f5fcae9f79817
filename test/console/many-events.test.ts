import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { SessionEvent } from '../../src/client/events.js';
import { TurnRunner } from '../../src/client/turn-runner.js';
import { announceSession } from '../../src/console/announce.js';
import type { AskRequest } from '../../src/permissions/gate/types.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { describeWith } from '../support/programs.js';
import { launchBrowser, openPage } from './browser.js';
import { type RunningConsole, startConsole } from './console.js';

let browser: Browser;
let project: TempProject;
let served: RunningConsole;
let runner: TurnRunner;
let id = 0;

const INFO = {
  sessionId: '00000000-0000-4000-8000-000000000000',
  cwd: '/',
  model: 'm',
  mode: 'default',
  mcpServers: [],
  models: [],
} as unknown as Extract<SessionEvent, { type: 'opened' }>['info'];

function said(text: string): SessionEvent {
  id += 1;
  const message = { id: `msg_${id}`, content: [{ type: 'text', text }], usage: {} };
  const answer = { message, blockIds: [message.id], usage: {} };
  return { type: 'answer', answer } as unknown as SessionEvent;
}

function called(name: string, input: object, output: string): readonly SessionEvent[] {
  id += 1;
  const block = { type: 'tool_use', id: `toolu_${id}`, name, input };
  const message = { id: `msg_${id}`, content: [block], usage: {} };
  const result = { type: 'tool_result', tool_use_id: block.id, content: output };
  return [
    { type: 'answer', answer: { message, blockIds: [message.id], usage: {} } },
    { type: 'tool_result', call: block, result: { block: result, uuid: block.id } },
  ] as unknown as readonly SessionEvent[];
}

describeWith(['chromium'], 'a page with much or hostile content', () => {
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    runner.log.append({ type: 'closed', reason: 'other' });
    await served.close();
    project.remove();
  });

  /** A session in this process, whose events the test makes. */
  async function session(): Promise<void> {
    project = makeTempProject();
    const env = { HOME: project.home };
    runner = new TurnRunner({
      env,
      clock: { now: Date.now, uuid: () => crypto.randomUUID() },
      open: () => Promise.reject(new Error('never opened')),
    });
    announceSession(runner, { kind: 'sdk', cwd: project.directory, env });
    runner.emit({ type: 'opened', info: INFO });
    served = await startConsole(project.home);
    await served.until(({ sessions }) => sessions.length === 1);
  }

  async function transcript() {
    const page = await openPage(browser, served.url);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.locator('.session').click();
    return page;
  }

  it('shows 5,000 events after each reload, and 10,000 without having them all in the page', async () => {
    await session();
    for (let i = 0; i < 2_500; i++) runner.log.append(said(`Answer ${i}: ${'word '.repeat(20)}`));
    for (const event of Array.from({ length: 1_200 }, (_, i) =>
      called('Bash', { command: `echo ${i}` }, `${i}\n`),
    ).flat())
      runner.log.append(event);
    const page = await transcript();
    await page.getByText('echo 1199').waitFor();
    for (let i = 0; i < 3; i++) {
      await page.reload({ waitUntil: 'commit' });
      await page.getByText('echo 1199').waitFor();
    }
    for (let i = 0; i < 5_000; i++) runner.log.append(said(`Later ${i}`));
    await page.getByText('Later 4999').waitFor();
    const shown = Number(await page.locator('.transcript').getAttribute('data-count'));
    expect(shown).toBeGreaterThan(8_000);
    expect(await page.locator('[data-item]').count()).toBeLessThan(200);
    await page.evaluate("document.querySelector('.transcript').scrollTop = 0");
    await page.getByText('Answer 0:').waitFor();
    expect(page.problems).toEqual([]);
  });

  it('shows hostile HTML and escape sequences as text, in every field', async () => {
    await session();
    const hostile =
      '<img src=x onerror="document.body.dataset.hacked=1"><script>document.body.dataset.hacked=1</script>"\'`\u001b[2J\u001b]0;t\u0007\u202e';
    runner.emit({
      type: 'prompt',
      id: 'p',
      state: 'queued',
      named: false,
      content: [{ type: 'text', text: hostile }],
    });
    runner.emit(said(hostile));
    for (const event of called(hostile, { command: hostile }, hostile)) runner.emit(event);
    runner.emit({ type: 'notice', level: 'warning', text: hostile });
    const agent = { ...MAIN_AGENT, path: hostile, name: hostile, depth: 1 };
    runner.emit({ type: 'child', agent, event: said(hostile) as never });
    const page = await transcript();
    await page.locator('.item.notice').waitFor();
    const call = {
      agent,
      tool: { name: hostile, aliases: [] },
      toolUseId: 'toolu_q',
      input: { file_path: hostile, old_string: 'a', new_string: hostile, command: hostile },
      subject: { summary: hostile, paths: [] },
      workspace: { cwd: `/${hostile}` },
      signal: new AbortController().signal,
    };
    const rule = { text: hostile, source: hostile };
    const asked = runner.questions.askAboutCall({
      call,
      reason: hostile,
      mode: 'default',
      trace: [],
      heldBy: hostile,
      rule,
    } as unknown as AskRequest);
    await page.goto(`${served.origin}/#/inbox`);
    await page.locator('.question').waitFor();
    const text = (await page.locator('.question').textContent()) ?? '';
    expect(text).toContain('<img src=x onerror=');
    expect(text).not.toMatch(/[\u001b\u0007\u202e]/);
    expect(await page.locator('img:not([src="/icon.svg"])').count()).toBe(0);
    expect(await page.evaluate('document.body.dataset.hacked')).toBeUndefined();
    await page.getByRole('button', { name: 'No', exact: true }).click();
    expect(await asked).toMatchObject({
      behavior: 'deny',
      by: expect.stringContaining('console ('),
    });
    expect(page.problems).toEqual([]);
  });

  it('cuts an event of 10 MB, keeps serving, and offers no yes to a call that it cannot show whole', async () => {
    await session();
    const huge = 'x'.repeat(10_000_000);
    for (const event of called('Bash', { command: 'cat huge' }, huge)) runner.emit(event);
    runner.emit(said('After the huge one.'));
    const page = await transcript();
    await page.getByText('After the huge one.').waitFor();
    const call = {
      agent: MAIN_AGENT,
      tool: { name: 'Bash' },
      toolUseId: 'toolu_big',
      input: { command: huge },
      subject: { summary: 'big', paths: [] },
      workspace: { cwd: '/' },
      signal: new AbortController().signal,
    };
    const asked = runner.questions.askAboutCall({
      call,
      reason: 'big',
      mode: 'default',
      trace: [],
    } as unknown as AskRequest);
    await page.goto(`${served.origin}/#/inbox`);
    await page.getByText('Not all of this can be shown here').waitFor();
    expect(await page.getByRole('button', { name: 'Yes, this once' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'No', exact: true }).click();
    expect(await asked).toMatchObject({ behavior: 'deny' });
    await pause(0);
    expect(page.problems).toEqual([]);
  });
});
