import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { LocalFleet } from '../../src/fleet/local/local-fleet.js';
import { mailOf, openRig, type Rig, snapshotFiles, until } from '../fleet/rig.js';
import { describeWith } from '../support/programs.js';
import { expectAccessible, launchBrowser, openPage, picture } from './browser.js';
import { type RunningConsole, startConsole } from './console.js';

// Only for what hangs: a busy machine starts workers slowly.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

describeWith(['git', 'chromium'], 'sessions of the fleet in the console', () => {
  let browser: Browser;
  let rig: Rig;
  let fleet: LocalFleet;
  let served: RunningConsole;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
  });
  beforeEach(async () => {
    rig = await openRig((root) => path.join(root, 'fleet'));
    fleet = new LocalFleet(path.join(rig.root, 'fleet'));
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await served.close();
    await rig.close();
    await fleet.close();
  });
  const serve = async (...args: readonly string[]): Promise<void> => {
    served = await startConsole(path.join(rig.root, 'home'), args, {
      PORTCULLIS_FLEET: rig.env.PORTCULLIS_FLEET ?? '',
    });
  };
  const parked = async (title: string) => {
    const order = rig.order({ title });
    await fleet.submit(order, [mailOf('task:ask:it'), mailOf('task:talk:end')]);
    rig.startWorker(['--grace', '0']);
    await until(async () => (await fleet.show(order.id))?.phase === 'parked');
    return order;
  };

  it('a parked question is answered in the page, and the session goes on', async () => {
    const order = await parked('Tidy up the reports');
    await serve();
    const page = await openPage(browser, served.url);
    await page.getByRole('heading', { name: 'Bash wants to run' }).waitFor();
    const question = (await page.locator('.question').textContent()) ?? '';
    expect(question).toContain('touch it.asked');
    expect(question).toContain('Tidy up the reports');
    // The rules of this machine say nothing about a call on another one.
    expect(await page.getByText('How the gate sees it').count()).toBe(0);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.locator('.session .badge', { hasText: 'needs you' }).waitFor();
    await expectAccessible(page);
    await picture(page, 'fleet');
    await page.locator('.session').click();
    await page.getByText('task:ask:it').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Inbox' }).click();
    await page.getByRole('button', { name: 'Yes, this once' }).click();
    await page.getByText('Answered.').waitFor();
    await page.getByText('Nothing waits for you').waitFor();
    await page.goto(`${served.origin}/#/session/fleet-${order.id}`);
    await page.getByText('done end').first().waitFor();
    await until(async () => (await fleet.show(order.id))?.phase === 'idle');
    const session = await fleet.show(order.id);
    expect(session && snapshotFiles(rig.root, session)).toEqual(['it.asked']);
    const receipts = (await fleet.receipts(order.id)).join('\n');
    expect(receipts).toContain('"decision":"allow"');
    // A message from the page is a turn of its own, and the page shows its answer.
    await page.getByLabel('Prompt').fill('task:talk:more');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('done more').first().waitFor();
    const text = (await page.locator('.transcript').textContent()) ?? '';
    const stored = (await fleet.entries(order.id)).map(({ line }) => line);
    for (const said of ['task:ask:it', 'done end', 'task:talk:more', 'done more']) {
      const times = stored.filter(
        (line) => line.includes(`"text":"${said}"`) || line.includes(`"content":"${said}"`),
      );
      expect(text.split(said).length - 1, `${said} in ${text}: ${times.join('  ')}`).toBe(
        times.length,
      );
    }
    await page.getByRole('tab', { name: 'Receipts' }).click();
    await page.getByRole('button', { name: 'Verify chain' }).click();
    await page.getByText('chain is whole').waitFor();
    await page.getByRole('tab', { name: 'Agents and money' }).click();
    await page.getByRole('img', { name: /Tokens over time/ }).waitFor();
    expect(await page.getByRole('tab', { name: 'Changes' }).count()).toBe(0);
    expect(page.problems).toEqual([]);
  });

  it('an answer counts only for the call that was shown, and only the first one', async () => {
    const order = await parked('One answer');
    await serve('--session', order.id.slice(0, 8));
    const { inbox } = await served.until((overview) => overview.inbox.length === 1);
    const { key, id, hash } = inbox[0] as { key: string; id: string; hash: string };
    const given = { key, question: id, answer: { behavior: 'deny', message: 'no' } };
    const changed = await served.post('/api/answer', { ...given, hash: 'f'.repeat(64) });
    expect(changed.status).toBe(400);
    expect(await changed.text()).toContain('has changed since it was shown');
    expect(await (await served.post('/api/answer', { ...given, hash })).json()).toEqual({
      outcome: 'accepted',
    });
    expect(await (await served.post('/api/answer', { ...given, hash })).json()).toEqual({
      outcome: 'closed',
    });
    await until(async () => (await fleet.show(order.id))?.phase === 'idle');
    const session = await fleet.show(order.id);
    expect(session && snapshotFiles(rig.root, session)).toEqual([]);
  });

  it('a fleet that cannot be read is named in the page', async () => {
    served = await startConsole(path.join(rig.root, 'home'), [], {
      PORTCULLIS_FLEET: 'mysql://localhost/fleet',
    });
    const page = await openPage(browser, served.url);
    await page.getByText('The fleet cannot be read: PORTCULLIS_FLEET names neither').waitFor();
    expect(page.problems).toEqual([]);
  });
});
